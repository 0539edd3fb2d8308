/**
 * A piece in hand: which one, how it lies, and where it is held over the board. Immutable.
 *
 * @module
 */

import { flipped, PIECES, turned } from "./shapes.js";

/** @typedef {import("./shapes.js").Shape} Shape */
/** @typedef {import("./territory.js").Position} Position */

export class Placing {
  /**
   * @param {string} piece
   * @param {Shape} form
   * @param {readonly [row: number, column: number] | null} at  the lower left corner of its bounding box; null: not yet
   */
  constructor(piece, form, at) {
    this.piece = piece;
    this.form = form;
    this.at = at;
  }

  /** @param {string} piece */
  static of(piece) {
    return new Placing(piece, PIECES.get(piece) ?? [], null);
  }

  get height() {
    return 1 + Math.max(...this.form.map(([row]) => row));
  }

  get width() {
    return 1 + Math.max(...this.form.map(([, column]) => column));
  }

  /**
   * Held so that its middle lies over a cell, as far as the board reaches.
   *
   * @param {number} row
   * @param {number} column
   * @param {number} size
   */
  over(row, column, size) {
    const clamp = (/** @type {number} */ value, /** @type {number} */ most) => Math.min(Math.max(value, 0), most);
    const bottom = clamp(row - Math.floor((this.height - 1) / 2), size - this.height);
    const left = clamp(column - Math.floor((this.width - 1) / 2), size - this.width);
    return new Placing(this.piece, this.form, [bottom, left]);
  }

  /**
   * @param {number} up
   * @param {number} right
   * @param {number} size
   */
  moved(up, right, size) {
    const [row, column] = this.at ?? [Math.floor(size / 2), Math.floor(size / 2)];
    const middle = [row + Math.floor((this.height - 1) / 2), column + Math.floor((this.width - 1) / 2)];
    return this.at ? this.over(middle[0] + up, middle[1] + right, size) : this.over(row, column, size);
  }

  /** @param {number} size */
  turned(size) {
    return this.#lying(turned(this.form), size);
  }

  /** @param {number} size */
  flipped(size) {
    return this.#lying(flipped(this.form), size);
  }

  /**
   * @param {Shape} form
   * @param {number} size
   */
  #lying(form, size) {
    const after = new Placing(this.piece, form, null);
    if (!this.at) return after;
    const row = this.at[0] + Math.floor((this.height - 1) / 2);
    const column = this.at[1] + Math.floor((this.width - 1) / 2);
    return after.over(row, column, size);
  }

  /**
   * The squares under it; null while it is held nowhere.
   *
   * @param {number} size
   */
  squares(size) {
    if (!this.at) return null;
    const [bottom, left] = this.at;
    return this.form.map(([row, column]) => (bottom + row) * size + left + column).sort((a, b) => a - b);
  }

  /**
   * The attach points that a placement of it, as it lies, can cover.
   *
   * @param {Position} position
   * @param {number} colour
   */
  diamonds(position, colour) {
    const { size } = position.variant;
    const wanted = String(this.form);
    const points = new Set(position.attachPoints(colour));
    const found = new Set();
    for (const squares of position.placements(colour, this.piece)) {
      const bottom = Math.min(...squares.map((square) => Math.floor(square / size)));
      const left = Math.min(...squares.map((square) => square % size));
      const form = squares.map((square) => [Math.floor(square / size) - bottom, (square % size) - left]);
      if (String(form) !== wanted) continue;
      for (const square of squares) if (points.has(square)) found.add(square);
    }
    return [...found];
  }
}
