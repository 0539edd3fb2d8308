/**
 * The pieces that one colour has left, to choose from or to look at.
 *
 * @module
 */

import { h, s } from "../dom.js";
import { PIECES } from "../rules/shapes.js";
import { t } from "../words.js";
import { fill } from "./paint.js";

/** @typedef {import("../rules/shapes.js").Shape} Shape */

/**
 * A shape as a small picture.
 *
 * @param {Shape} shape
 * @param {string} colour
 */
export function drawing(shape, colour) {
  const height = 1 + Math.max(...shape.map(([row]) => row));
  const width = 1 + Math.max(...shape.map(([, column]) => column));
  return s(
    "svg",
    { viewBox: `0 0 ${width * 10} ${height * 10}`, width: width * 9, height: height * 9, "aria-hidden": "true" },
    shape.map(([row, column]) =>
      s("rect", {
        x: column * 10 + 0.5,
        y: (height - 1 - row) * 10 + 0.5,
        width: 9,
        height: 9,
        rx: 1,
        fill: fill(colour),
      }),
    ),
  );
}

export class Tray extends EventTarget {
  /** Dispatches `choose` with `detail: piece`. */
  constructor() {
    super();
    this.element = h("div", { class: "tray", role: "group", "aria-label": t("game.tray") });
  }

  /**
   * @param {object} scene
   * @param {string} scene.colour
   * @param {readonly string[]} scene.pieces  one entry a copy
   * @param {string | null} scene.chosen
   * @param {Shape | null} scene.form  how the chosen one lies
   * @param {ReadonlySet<string> | null} scene.placeable  the pieces that fit somewhere; null: nobody is to choose
   */
  show({ colour, pieces, chosen, form, placeable }) {
    const counts = new Map();
    for (const piece of pieces) counts.set(piece, (counts.get(piece) ?? 0) + 1);
    const focused = this.element.contains(document.activeElement) && document.activeElement?.getAttribute("data-piece");
    this.element.replaceChildren(
      ...[...counts].map(([piece, count]) => {
        const shape = (piece === chosen && form) || PIECES.get(piece) || [];
        const name = t("game.piece", { piece, count: shape.length });
        const content = [drawing(shape, colour), count > 1 && h("small", { "aria-hidden": "true" }, `×${count}`)];
        if (!placeable) return h("span", { class: "piece", role: "img", "aria-label": name }, content);
        return h(
          "button",
          {
            type: "button",
            class: placeable.has(piece) ? "piece" : "piece unfit",
            "data-piece": piece,
            "aria-label": name,
            "aria-pressed": String(piece === chosen),
            onClick: () => this.dispatchEvent(new CustomEvent("choose", { detail: piece })),
          },
          content,
        );
      }),
    );
    if (focused) /** @type {HTMLElement | null} */ (this.element.querySelector(`[data-piece="${focused}"]`))?.focus();
  }
}
