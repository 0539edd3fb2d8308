/**
 * The browser client: which page is shown, and what all pages share. It uses the public API only.
 *
 * @module
 */

import { cookie } from "./client/api.js";
import { Live } from "./client/live.js";
import { h } from "./dom.js";
import { GamePage } from "./pages/game.js";
import { HomePage } from "./pages/home.js";
import { LANGUAGES, language, preferred, speak, t } from "./words.js";

/** @typedef {{ element: HTMLElement, start: () => void, stop: () => void }} Page */

/** @type {[RegExp, (place: Place, ...parts: string[]) => Page][]} */
const PAGES = [
  [/^\/$/, (place) => new HomePage(place)],
  [/^\/game\/(\w+)$/, (place, id) => new GamePage(place, id)],
];
const THEMES = /** @type {const} */ (["auto", "light", "dark", "contrast"]);

/** What a page may use of the whole. */
export class Place {
  live = new Live();
  /** @type {Page | null} */ #page = null;
  #main = h("main", { tabindex: -1 });
  #notice = h("p", { class: "notice", role: "alert", hidden: true });
  #announcer = h("p", { class: "unseen", "aria-live": "polite" });
  #who = h("a", { href: "/account" });

  start() {
    document.body.replaceChildren(this.#header(), this.#notice, this.#main, this.#announcer);
    addEventListener("popstate", () => this.#show());
    addEventListener("online", () => this.live.retry());
    document.addEventListener("click", (event) => this.#followLink(event));
    this.live.addEventListener("change", () => this.#connection());
    this.live.addEventListener("outdated", () => this.notice(t("app.outdated")));
    this.live.connect();
    this.#show();
  }

  #header() {
    const select = (
      /** @type {string} */ words,
      /** @type {[string, string][]} */ options,
      /** @type {string} */ now,
      /** @type {(value: string) => void} */ act,
    ) => {
      const element = h(
        "select",
        { "aria-label": words, onChange: () => act(element.value) },
        options.map(([value, text]) => h("option", { value, selected: value === now }, text)),
      );
      return element;
    };
    return h(
      "header",
      {},
      h("a", { href: "/", class: "logo" }, "Kado"),
      h("nav", {}, h("a", { href: "/" }, t("app.play")), this.#who, h("a", { href: "/api/v1/docs" }, t("app.api"))),
      select(
        t("app.theme"),
        THEMES.map((theme) => [theme, t(`app.theme.${theme}`)]),
        localStorage.getItem("theme") ?? "auto",
        wear,
      ),
      select(t("app.language"), Object.entries(LANGUAGES), language, (value) => {
        localStorage.setItem("language", value);
        location.reload();
      }),
    );
  }

  /** @param {string} path */
  go(path) {
    history.pushState(null, "", path);
    this.#show();
    this.#main.focus();
  }

  /** @param {MouseEvent} event */
  #followLink(event) {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!link || !plain || link.origin !== location.origin || !pageFor(link.pathname)) return;
    event.preventDefault();
    this.go(link.pathname);
  }

  #show() {
    this.#page?.stop();
    this.#page = pageFor(location.pathname)?.(this) ?? new HomePage(this);
    this.#notice.hidden = true;
    this.#main.replaceChildren(this.#page.element);
    this.#page.start();
  }

  /** Be a guest, unless somebody is signed in. */
  async somebody() {
    await this.live.greeted();
    if (this.live.player) return;
    const answer = await fetch("/sign-in/guest", { method: "POST", headers: { "X-CSRFToken": cookie("csrftoken") } });
    if (!answer.ok) throw new Error(answer.statusText);
    this.live.renew();
    await this.live.greeted();
  }

  #connection() {
    const { state } = this.live;
    this.#who.textContent = this.live.player ?? t("app.signIn");
    this.#who.href = this.live.player ? "/account" : "/sign-in";
    if (state === "live") this.#notice.hidden = true;
    if (state === "lost") this.notice(t("app.lost"));
    if (state === "ended") this.notice(t("app.ended"));
  }

  /** @param {string} words */
  notice(words) {
    this.#notice.textContent = words;
    this.#notice.hidden = false;
  }

  /** @param {unknown} error */
  fail(error) {
    this.notice(t("app.failed", { why: error instanceof Error ? error.message : String(error) }));
  }

  /**
   * Tell those who listen.
   *
   * @param {string} words
   */
  announce(words) {
    this.#announcer.textContent = words;
  }
}

/** @param {string} path */
function pageFor(path) {
  for (const [address, make] of PAGES) {
    const found = address.exec(path);
    if (found) return (/** @type {Place} */ place) => make(place, ...found.slice(1));
  }
  return null;
}

/** @param {string} theme */
function wear(theme) {
  localStorage.setItem("theme", theme);
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

await speak(preferred());
wear(localStorage.getItem("theme") ?? "auto");
new Place().start();
