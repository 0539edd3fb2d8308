/**
 * Cells and shapes: what both games share. A cell is `[row, column]`; row 0 is the lowest, so that cell a1 is `[0, 0]`.
 *
 * @module
 */

/** @typedef {readonly [row: number, column: number]} Cell */
/** @typedef {readonly Cell[]} Shape  moved to the origin, sorted by row, then column */

/** @type {Readonly<Record<string, string>>} one drawing for each piece, its upper row first */
const DRAWINGS = {
  1: "#",
  2: "##",
  I3: "###",
  V3: "#. ##",
  I4: "####",
  L4: "#.. ###",
  T4: "### .#.",
  O: "## ##",
  Z4: "##. .##",
  F: ".## ##. .#.",
  I5: "#####",
  L5: "#... ####",
  N: "##.. .###",
  P: "##. ###",
  T5: "### .#. .#.",
  U: "#.# ###",
  V5: "#.. #.. ###",
  W: "#.. ##. .##",
  X: ".#. ### .#.",
  Y: ".#.. ####",
  Z5: "##. .#. .##",
};

/**
 * @param {Cell} a
 * @param {Cell} b
 */
export const byRow = (a, b) => a[0] - b[0] || a[1] - b[1];

/**
 * The same shape moved to the origin, its cells in order.
 *
 * @param {readonly Cell[]} cells
 * @returns {Shape}
 */
export function normalised(cells) {
  const bottom = Math.min(...cells.map(([row]) => row));
  const left = Math.min(...cells.map(([, column]) => column));
  return cells.map(([row, column]) => /** @type {Cell} */ ([row - bottom, column - left])).sort(byRow);
}

/**
 * A quarter turn clockwise, as one sees it.
 *
 * @param {Shape} shape
 */
export const turned = (shape) => normalised(shape.map(([row, column]) => [-column, row]));

/**
 * The image in an upright mirror.
 *
 * @param {Shape} shape
 */
export const flipped = (shape) => normalised(shape.map(([row, column]) => [row, -column]));

/**
 * @param {Shape} a
 * @param {Shape} b
 */
const inOrder = (a, b) => {
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const difference = byRow(a[at], b[at]);
    if (difference) return difference;
  }
  return a.length - b.length;
};

/**
 * The one to eight distinct fixed forms of a shape, in the order that `kado-deal-1` numbers them by.
 *
 * @param {Shape} shape
 * @returns {Shape[]}
 */
export function orientations(shape) {
  /** @type {Map<string, Shape>} */
  const found = new Map();
  let image = shape;
  for (let turn = 0; turn < 4; turn += 1) {
    for (const each of [image, flipped(image)]) found.set(String(each), each);
    image = turned(image);
  }
  return [...found.values()].sort(inOrder);
}

/**
 * The shape of a drawing: rows parted by spaces, the upper one first, `#` for a covered cell.
 *
 * @param {string} drawing
 * @returns {Shape}
 */
export function drawn(drawing) {
  const rows = drawing.split(" ").reverse();
  return normalised(
    rows.flatMap((line, row) =>
      [...line].flatMap((mark, column) => (mark === "#" ? [/** @type {Cell} */ ([row, column])] : [])),
    ),
  );
}

/** @type {ReadonlyMap<string, Shape>} every piece by name, smallest first, as it is drawn above */
export const PIECES = new Map(Object.entries(DRAWINGS).map(([name, drawing]) => [name, drawn(drawing)]));

/** @type {ReadonlyMap<string, readonly Shape[]>} */
export const ORIENTATIONS = new Map([...PIECES].map(([name, shape]) => [name, orientations(shape)]));

/**
 * The name of a cell, such as `e10`.
 *
 * @param {number} row
 * @param {number} column
 */
export const cellName = (row, column) => String.fromCharCode(97 + column) + (row + 1);

/**
 * The cell of a name.
 *
 * @param {string} name
 * @returns {Cell}
 */
export const cellOf = (name) => [Number(name.slice(1)) - 1, name.charCodeAt(0) - 97];
