/**
 * The first page: a game within one click.
 *
 * @module
 */

import { create } from "../client/api.js";
import { h } from "../dom.js";
import { VARIANTS } from "../rules/territory.js";
import { t } from "../words.js";

/** @typedef {import("../app.js").Place} Place */
/** @typedef {import("../words.js").Key} Key */

const LEVELS = ["starter", "beginner", "intermediate", "advanced", "expert"];

/**
 * @param {string} name
 * @param {string} words
 * @param {[value: string, words: string][]} options
 */
function choice(name, words, options) {
  const kept = localStorage.getItem(name) ?? options[0][0];
  const select = h(
    "select",
    { name, onChange: () => localStorage.setItem(name, select.value) },
    options.map(([value, text]) => h("option", { value, selected: value === kept }, text)),
  );
  return { select, field: h("label", {}, h("span", {}, words), select) };
}

export class HomePage {
  /** @param {Place} place */
  constructor(place) {
    this.place = place;
    const variant = choice(
      "variant",
      t("home.variant"),
      Object.keys(VARIANTS).map((key) => [key, t(/** @type {Key} */ (`variant.${key}`))]),
    );
    const level = choice(
      "level",
      t("home.level"),
      LEVELS.map((key) => [key, t(/** @type {Key} */ (`level.${key}`))]),
    );
    const about = h("p", { class: "about" });
    const tell = () => {
      about.textContent = t(/** @type {Key} */ (`level.${level.select.value}.about`));
    };
    level.select.addEventListener("change", tell);
    tell();
    const seats = (/** @type {object} */ others) =>
      Array.from({ length: VARIANTS[variant.select.value].seats }, (_, seat) => (seat ? others : {}));
    this.element = h(
      "section",
      { class: "home" },
      h("h1", {}, t("home.title")),
      h("p", { class: "lead" }, t("home.lead")),
      h(
        "form",
        {
          onSubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            this.#start(variant.select.value, seats({ level: level.select.value }));
          },
        },
        variant.field,
        level.field,
        about,
        h("button", { class: "main" }, t("home.start")),
        h("button", { type: "button", onClick: () => this.#start(variant.select.value, seats({})) }, t("home.two")),
      ),
    );
  }

  start() {}
  stop() {}

  /**
   * @param {string} variant
   * @param {object[]} seats
   */
  async #start(variant, seats) {
    try {
      await this.place.somebody();
      const { game } = await create("games", { variant, seats });
      this.place.go(`/game/${game}`);
    } catch (error) {
      this.place.fail(error);
    }
  }
}
