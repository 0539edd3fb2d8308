/**
 * What the page says, in the reader's language.
 *
 * @module
 */

import en from "./words/en.js";

/** @typedef {keyof typeof en} Key */
/** @typedef {string | Partial<Record<Intl.LDMLPluralRule, string>>} Words  several forms where a count decides */

export const LANGUAGES = { en: "English", ja: "日本語", ru: "Русский" };

/** @type {Record<string, Words>} */
let words = en;
export let language = "en";
let plural = new Intl.PluralRules("en");

/** The language that was chosen on this device, else the first of the browser's that there is. */
export function preferred() {
  const chosen = localStorage.getItem("language");
  const wanted = [chosen, ...navigator.languages].map((each) => each?.slice(0, 2) ?? "");
  return wanted.find((each) => each in LANGUAGES) ?? "en";
}

/** @param {string} key  of LANGUAGES */
export async function speak(key) {
  words = key === "en" ? en : (await import(`./words/${key}.js`)).default;
  language = key;
  plural = new Intl.PluralRules(key);
  document.documentElement.lang = key;
}

/**
 * The words of a key, filled in. A `count` chooses among several forms.
 *
 * @param {Key} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const found = words[key] ?? en[key];
  const text = typeof found === "string" ? found : (found[plural.select(Number(values.count))] ?? found.other ?? "");
  return text.replaceAll(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

/**
 * The words of a key that is put together while the page runs; `otherwise` when there are none.
 *
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 * @param {string} [otherwise]
 */
export const maybe = (key, values = {}, otherwise = "") =>
  key in en ? t(/** @type {Key} */ (key), values) : otherwise;
