/**
 * The rules of the block puzzle and the generator `kado-deal-1`, for previews and for runs without a server.
 * docs/puzzle.md writes both down; tests hold this file against the same vectors as the server's rules.
 *
 * A square is a number, `row * size + column`, row 0 being the lowest.
 *
 * @module
 */

import { cellName, cellOf, drawn, ORIENTATIONS, orientations, turned } from "./shapes.js";

/** @typedef {import("./shapes.js").Shape} Shape */
/** @typedef {{ name: string, squares: readonly number[] }} Line */
/** @typedef {{ key: string, size: number, lines: readonly Line[] }} Board */
/** @typedef {{ name: string, form: Shape }} Block  a shape in a fixed orientation, as `L4/2` */
/** @typedef {{ level: string, board: string, rotation: boolean, dealing: "fitting" | "random", shapes: "mostly-small" | "some-big" | "mostly-big", undo: "once" | "off" }} Rules */
/** @typedef {{ placements: number, squares: number, lines: number, largest_clear: number, longest_streak: number }} Statistics */
/** @typedef {{ squares: number[], lines: Line[], cleared: number[] }} Preview */

const SMALL = ["1", "2", "I3", "V3", "O", "L4", "T4", "Z4", "I4"];
const BIG = ["I5", "V5", "X", "U", "T5", "W", "R6", "O9"];
/** @type {Readonly<Record<string, string>>} */
const EXTRA = { R6: "### ###", O9: "### ### ###" };
const GENERATOR = "kado-deal-1";
const HAND = 3;
const LINE_POINTS = 10;
const TOP_MULTIPLIER = 5;

/** @type {Block[]} all blocks in the order of the generator */
export const BLOCKS = [...SMALL, ...BIG].flatMap((shape) =>
  (ORIENTATIONS.get(shape) ?? orientations(drawn(EXTRA[shape]))).map((form, at) => ({ name: `${shape}/${at}`, form })),
);
const BY_NAME = new Map(BLOCKS.map((block) => [block.name, block]));
const BY_FORM = new Map(BLOCKS.map((block) => [String(block.form), block]));

/**
 * The block of a name such as `L4/2`.
 *
 * @param {string} name
 */
export function blockNamed(name) {
  const block = BY_NAME.get(name);
  if (!block) throw new RangeError(`there is no block ${name}`);
  return block;
}

/**
 * A block after so many quarter turns clockwise.
 *
 * @param {Block} block
 * @param {number} quarters
 */
export function turnedBlock(block, quarters) {
  let { form } = block;
  for (let turn = 0; turn < quarters; turn += 1) form = turned(form);
  return BY_FORM.get(String(form)) ?? block;
}

/**
 * @param {number} size
 * @param {number} box
 * @returns {Line[]}
 */
function linesOf(size, box) {
  const along = Array.from({ length: size }, (_, at) => at);
  /** @type {(left: number, bottom: number, width: number, height: number) => number[]} */
  const rectangle = (left, bottom, width, height) =>
    along
      .slice(bottom, bottom + height)
      .flatMap((row) => along.slice(left, left + width).map((column) => row * size + column));
  const boxes = box ? along.filter((at) => at % box === 0) : [];
  return [
    ...along.map((at) => ({ name: `row ${at + 1}`, squares: rectangle(0, at, size, 1) })),
    ...along.map((at) => ({ name: `column ${cellName(0, at).slice(0, 1)}`, squares: rectangle(at, 0, 1, size) })),
    ...boxes.flatMap((bottom) =>
      boxes.map((left) => ({ name: `box ${cellName(bottom, left)}`, squares: rectangle(left, bottom, box, box) })),
    ),
  ];
}

/** @type {Readonly<Record<string, Board>>} */
export const BOARDS = Object.fromEntries(
  [
    ["10x10", 10, 0],
    ["9x9", 9, 3],
    ["8x8", 8, 0],
  ].map(([key, size, box]) => [
    key,
    { key: String(key), size: Number(size), lines: linesOf(Number(size), Number(box)) },
  ]),
);

/**
 * The squares under a block whose bounding box has its lower left corner at a row and column; null if it reaches over
 * the edge.
 *
 * @param {Board} board
 * @param {Block} block
 * @param {number} row
 * @param {number} column
 */
function under(board, block, row, column) {
  const cells = block.form.map(([up, right]) => [row + up, column + right]);
  if (cells.some(([r, c]) => r < 0 || c < 0 || r >= board.size || c >= board.size)) return null;
  return cells.map(([r, c]) => r * board.size + c);
}

/**
 * Whether there is room for a block, in an orientation that the rules allow.
 *
 * @param {Rules} rules
 * @param {ReadonlySet<number>} covered
 * @param {Block} block
 */
export function fits(rules, covered, block) {
  const board = BOARDS[rules.board];
  const turns = rules.rotation ? [0, 1, 2, 3] : [0];
  return turns.some((quarters) => {
    const form = turnedBlock(block, quarters);
    for (let row = 0; row < board.size; row += 1) {
      for (let column = 0; column < board.size; column += 1) {
        const squares = under(board, form, row, column);
        if (squares?.every((square) => !covered.has(square))) return true;
      }
    }
    return false;
  });
}

const BIG_SHARE = { "mostly-small": 10, "some-big": 35, "mostly-big": 70 };
const UNIT = SMALL.length * BIG.length * 8;

/**
 * The weight of every block of `BLOCKS` in a deal; together always 57,600 when nothing is left out.
 *
 * @param {Rules} rules
 * @param {ReadonlySet<number>} covered
 */
export function weights(rules, covered) {
  const big = BIG_SHARE[rules.shapes];
  return BLOCKS.map((block) => {
    const [shape] = block.name.split("/");
    const [share, tier] = BIG.includes(shape) ? [big, BIG] : [100 - big, SMALL];
    const forms = BLOCKS.filter((other) => other.name.startsWith(`${shape}/`)).length;
    const weight = Math.floor((UNIT * share) / tier.length / forms);
    return rules.dealing === "random" || fits(rules, covered, block) ? weight : 0;
  });
}

/**
 * Draw number `k` of a run, from 0.
 *
 * @param {Uint8Array} seed  32 bytes
 * @param {number} k
 * @param {readonly number[]} among  the weights
 */
export async function draw(seed, k, among) {
  const message = new Uint8Array(GENERATOR.length + seed.length + 8);
  message.set(new TextEncoder().encode(GENERATOR));
  message.set(seed, GENERATOR.length);
  new DataView(message.buffer).setBigUint64(GENERATOR.length + seed.length, BigInt(k));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", message));
  const number = digest.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const total = among.reduce((sum, weight) => sum + weight, 0);
  let chosen = Number((number * BigInt(total)) >> 256n);
  const at = among.findIndex((weight) => {
    chosen -= weight;
    return chosen < 0;
  });
  return BLOCKS[at];
}

/**
 * A new hand: the draws from number `first` on a board.
 *
 * @param {Rules} rules
 * @param {Uint8Array} seed
 * @param {number} first
 * @param {ReadonlySet<number>} covered
 */
export async function deal(rules, seed, first, covered) {
  const among = weights(rules, covered);
  return Promise.all(Array.from({ length: HAND }, (_, at) => draw(seed, first + at, among)));
}

/** One play of the puzzle, immutable: what can be told of it without its seed. */
export class Run {
  /**
   * @param {object} state
   * @param {Rules} state.rules
   * @param {ReadonlySet<number>} state.covered
   * @param {readonly (Block | null)[]} state.hand
   * @param {number} [state.draws]  how many blocks have been dealt
   * @param {number} [state.score]
   * @param {number} [state.streak]
   * @param {boolean} [state.atRisk]  whether the latest placement cleared nothing
   * @param {number} [state.turn]
   * @param {boolean} [state.over]
   * @param {boolean} [state.undoUsed]
   * @param {Statistics} [state.statistics]
   * @param {Run | null} [state.before]
   */
  constructor(state) {
    this.rules = state.rules;
    this.board = BOARDS[state.rules.board];
    this.covered = state.covered;
    this.hand = state.hand;
    this.draws = state.draws ?? HAND;
    this.score = state.score ?? 0;
    this.streak = state.streak ?? 0;
    this.atRisk = state.atRisk ?? false;
    this.turn = state.turn ?? 0;
    this.over = state.over ?? false;
    this.undoUsed = state.undoUsed ?? false;
    this.statistics = state.statistics ?? { placements: 0, squares: 0, lines: 0, largest_clear: 0, longest_streak: 0 };
    /** @type {Run | null} */
    this.before = state.before ?? null;
  }

  /**
   * A new run.
   *
   * @param {Rules} rules
   * @param {Uint8Array} seed
   */
  static async start(rules, seed) {
    const covered = new Set();
    return new Run({ rules, covered, hand: await deal(rules, seed, 0, covered) });
  }

  /**
   * What placing the block of a slot would cover and clear; null if it may not lie there.
   *
   * @param {number} slot
   * @param {number} rotation  quarter turns clockwise
   * @param {string} at  the lower left corner of the turned block's bounding box
   * @returns {Preview | null}
   */
  preview(slot, rotation, at) {
    const block = this.hand[slot];
    if (this.over || !block || (rotation && !this.rules.rotation)) return null;
    const [row, column] = cellOf(at);
    const squares = under(this.board, turnedBlock(block, rotation), row, column);
    if (!squares || squares.some((square) => this.covered.has(square))) return null;
    const with_ = new Set([...this.covered, ...squares]);
    const lines = this.board.lines.filter((line) => line.squares.every((square) => with_.has(square)));
    const cleared = [...new Set(lines.flatMap((line) => line.squares))];
    return { squares, lines, cleared };
  }

  /** Whether the block of each slot can be placed somewhere. */
  fits() {
    return this.hand.map((block) => block !== null && fits(this.rules, this.covered, block));
  }

  /**
   * Place a block; throws RangeError where `preview` is null.
   *
   * @param {Uint8Array} seed
   * @param {number} slot
   * @param {number} rotation
   * @param {string} at
   */
  async place(seed, slot, rotation, at) {
    const plan = this.preview(slot, rotation, at);
    if (!plan) throw new RangeError("the block may not lie there");
    const cleared = new Set(plan.cleared);
    const covered = new Set([...this.covered, ...plan.squares].filter((square) => !cleared.has(square)));
    /** @type {(Block | null)[]} */
    let hand = this.hand.map((block, at_) => (at_ === slot ? null : block));
    const isNew = hand.every((block) => block === null);
    if (isNew) hand = await deal(this.rules, seed, this.draws, covered);
    const lines = plan.lines.length;
    const streak = lines ? this.streak + 1 : this.atRisk ? 0 : this.streak;
    const { statistics } = this;
    return new Run({
      rules: this.rules,
      covered,
      hand,
      draws: this.draws + (isNew ? HAND : 0),
      score: this.score + plan.squares.length + LINE_POINTS * lines ** 2 * Math.min(streak, TOP_MULTIPLIER),
      streak,
      atRisk: !lines,
      turn: this.turn + 1,
      over: !hand.some((block) => block && fits(this.rules, covered, block)),
      undoUsed: this.undoUsed,
      statistics: {
        placements: statistics.placements + 1,
        squares: statistics.squares + plan.squares.length,
        lines: statistics.lines + lines,
        largest_clear: Math.max(statistics.largest_clear, lines),
        longest_streak: Math.max(statistics.longest_streak, streak),
      },
      before: this.rules.undo === "once" && !this.undoUsed ? new Run({ ...this, before: null }) : null,
    });
  }

  /** The run before the latest placement; null if it cannot be taken back. */
  takeBack() {
    return this.before && !this.undoUsed ? new Run({ ...this.before, turn: this.turn + 1, undoUsed: true }) : null;
  }

  /** The board as the wire has it: the top row first, `#` for a covered cell. */
  rows() {
    const { size } = this.board;
    return Array.from({ length: size }, (_, at) =>
      Array.from({ length: size }, (__, column) =>
        this.covered.has((size - 1 - at) * size + column) ? "#" : ".",
      ).join(""),
    );
  }
}
