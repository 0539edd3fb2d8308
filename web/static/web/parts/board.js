/**
 * The board of a corner-to-corner game: a grid that can be read cell by cell, and the picture over it.
 *
 * It dispatches `aim` with `detail: {row, column}` when a cell is tapped or entered, and knows nothing of the game.
 *
 * @module
 */

import { h, s } from "../dom.js";
import { cellName } from "../rules/shapes.js";
import { t } from "../words.js";
import { fill, MARKS } from "./paint.js";

/** @typedef {{ squares: readonly number[], ok: boolean }} Ghost */
/** @typedef {{ colours: readonly string[], squares: Uint8Array, last: readonly number[], starts: { square: number, colour: string }[], attach: readonly number[], diamonds: readonly number[], ghost: Ghost | null, ghostColour: string, hint: readonly number[] }} Scene */

export class Board extends EventTarget {
  /** @type {HTMLElement[]} */ #cells = [];
  #focus = 0;

  /** @param {number} size */
  constructor(size) {
    super();
    this.size = size;
    this.picture = s("svg", { viewBox: `0 0 ${size * 10} ${size * 10}`, "aria-hidden": "true" });
    this.grid = h("div", { role: "grid", class: "cells", "aria-label": t("game.board"), style: `--size: ${size}` });
    for (let row = size - 1; row >= 0; row -= 1) this.grid.append(h("div", { role: "row" }, ...this.#row(row)));
    this.element = h("div", { class: "board" }, this.picture, this.grid);
    this.grid.addEventListener("click", (event) => this.#tapped(event.target));
    this.grid.addEventListener("focusin", (event) => this.#focused(event.target));
    this.#cells[0].tabIndex = 0;
  }

  /** @param {number} row */
  #row(row) {
    return Array.from({ length: this.size }, (_, column) => {
      const square = row * this.size + column;
      const cell = h("div", { role: "gridcell", tabindex: -1, "data-square": square });
      this.#cells[square] = cell;
      return cell;
    });
  }

  /** @param {EventTarget | null} target */
  #squareOf(target) {
    const square = target instanceof HTMLElement ? target.dataset.square : undefined;
    return square === undefined ? null : Number(square);
  }

  /** @param {EventTarget | null} target */
  #tapped(target) {
    const square = this.#squareOf(target);
    if (square !== null) this.#aim(square);
  }

  /** @param {number} square */
  #aim(square) {
    const detail = { row: Math.floor(square / this.size), column: square % this.size };
    this.dispatchEvent(new CustomEvent("aim", { detail }));
  }

  /** @param {EventTarget | null} target */
  #focused(target) {
    const square = this.#squareOf(target);
    if (square === null) return;
    this.#cells[this.#focus].tabIndex = -1;
    this.#focus = square;
    this.#cells[square].tabIndex = 0;
  }

  /**
   * Move the reader's place on the grid, when nothing is being placed.
   *
   * @param {number} up
   * @param {number} right
   */
  step(up, right) {
    const row = Math.min(this.size - 1, Math.max(0, Math.floor(this.#focus / this.size) + up));
    const column = Math.min(this.size - 1, Math.max(0, (this.#focus % this.size) + right));
    this.#cells[row * this.size + column].focus();
  }

  /** Whether the reader's place is on the grid. */
  get isFocused() {
    return this.grid.contains(document.activeElement);
  }

  /** Aim at the reader's place. */
  enter() {
    this.#aim(this.#focus);
  }

  /** @param {Scene} scene */
  show(scene) {
    this.#tell(scene);
    /** @type {SVGElement[]} */
    const shapes = [s("rect", { class: "ground", width: "100%", height: "100%" }), this.#lines()];
    scene.squares.forEach((owner, square) => {
      if (owner) shapes.push(this.#square(square, scene.colours[owner - 1]));
    });
    for (const { square, colour } of scene.starts) {
      const [x, y] = this.#middle(square);
      shapes.push(s("circle", { class: "start", cx: x, cy: y, r: 3, stroke: fill(colour) }));
    }
    for (const square of scene.attach) shapes.push(this.#dot(square, 0.9, "attach"));
    for (const square of scene.diamonds) {
      const [x, y] = this.#middle(square);
      shapes.push(s("path", { class: "diamond", d: `M${x} ${y - 2.4}l2.4 2.4-2.4 2.4-2.4-2.4z` }));
    }
    if (scene.last.length) shapes.push(this.#dot(scene.last[Math.floor(scene.last.length / 2)], 1.7, "last"));
    if (scene.hint.length) shapes.push(this.#outline(scene.hint, "hint"));
    if (scene.ghost) {
      for (const square of scene.ghost.squares) shapes.push(this.#square(square, scene.ghostColour, "ghost"));
      shapes.push(this.#outline(scene.ghost.squares, scene.ghost.ok ? "fits" : "wrong"));
    }
    this.picture.replaceChildren(...shapes);
  }

  /** @param {Scene} scene */
  #tell(scene) {
    const attach = new Set(scene.attach);
    this.#cells.forEach((cell, square) => {
      const owner = scene.squares[square];
      const what = owner
        ? t(/** @type {any} */ (`colour.${scene.colours[owner - 1]}`))
        : t(attach.has(square) ? "game.cell.attach" : "game.cell.free");
      const label = t("game.cell", { cell: cellName(Math.floor(square / this.size), square % this.size), what });
      if (cell.ariaLabel !== label) cell.ariaLabel = label;
    });
  }

  /**
   * @param {number} square
   * @returns {[x: number, y: number]}
   */
  #corner(square) {
    return [(square % this.size) * 10, (this.size - 1 - Math.floor(square / this.size)) * 10];
  }

  /**
   * @param {number} square
   * @returns {[x: number, y: number]}
   */
  #middle(square) {
    const [x, y] = this.#corner(square);
    return [x + 5, y + 5];
  }

  #lines() {
    const along = Array.from({ length: this.size - 1 }, (_, at) => (at + 1) * 10);
    const end = this.size * 10;
    return s("path", { class: "lines", d: along.map((at) => `M${at} 0V${end}M0 ${at}H${end}`).join("") });
  }

  /**
   * @param {number} square
   * @param {string} colour
   * @param {string} [state]
   */
  #square(square, colour, state = "") {
    const [x, y] = this.#corner(square);
    return s(
      "g",
      { class: `square ${state}`, transform: `translate(${x} ${y})` },
      s("rect", { x: 0.3, y: 0.3, width: 9.4, height: 9.4, rx: 1, fill: fill(colour) }),
      s("path", { class: "mark", d: MARKS[colour] }),
    );
  }

  /**
   * @param {number} square
   * @param {number} radius
   * @param {string} kind
   */
  #dot(square, radius, kind) {
    const [x, y] = this.#middle(square);
    return s("circle", { class: kind, cx: x, cy: y, r: radius });
  }

  /**
   * The outline around all of these squares: the sides that no two of them share.
   *
   * @param {readonly number[]} squares
   * @param {string} kind
   */
  #outline(squares, kind) {
    const among = new Set(squares.map((square) => String(this.#corner(square))));
    const sides = squares.map((square) => {
      const [x, y] = this.#corner(square);
      const open = (/** @type {number} */ right, /** @type {number} */ down) =>
        !among.has(String([x + right, y + down]));
      return [
        open(0, -10) && `M${x} ${y}h10`,
        open(0, 10) && `M${x} ${y + 10}h10`,
        open(-10, 0) && `M${x} ${y}v10`,
        open(10, 0) && `M${x + 10} ${y}v10`,
      ];
    });
    return s("path", { class: `outline ${kind}`, d: sides.flat().filter(Boolean).join("") });
  }
}
