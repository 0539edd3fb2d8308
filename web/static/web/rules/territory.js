/**
 * The rules of the corner-to-corner games, for what has to answer at once: previews, reasons, and games without a server.
 * The server decides; tests hold this file against the same reference games as its own rules.
 *
 * A square is a number, `row * size + column`; a placement is a sorted list of them.
 *
 * @module
 */

import { cellName, cellOf, ORIENTATIONS, PIECES } from "./shapes.js";

/**
 * @typedef {object} Variant
 * @property {string} key
 * @property {number} size  cells along one side
 * @property {number} seats
 * @property {readonly string[]} colours  in turn order
 * @property {readonly string[]} firstCells  what each colour's first piece has to cover
 * @property {readonly (number | null)[]} owners  the seat of each colour; null for the one that goes round the seats
 * @property {readonly string[]} hand  the pieces that a colour starts with
 * @property {number} allPlaced  points for a colour that has placed everything
 * @property {number} singleLast  points instead, when the single square was the last of them
 */

/** @typedef {"game-over" | "outside-board" | "not-a-piece" | "piece-not-left" | "occupied" | "first-cell-not-covered" | "edge-contact" | "no-corner-contact"} Reason */
/** @typedef {{ reason: Reason, square?: number }} Refusal  `square`: where it is wrong, if at one place */
/** @typedef {{ position: Position, skipped: number[], newlyOut: number[] }} Step */

const CLASSIC = { size: 20, colours: ["blue", "yellow", "red", "green"], firstCells: ["a20", "t20", "t1", "a1"] };
const DUO = { size: 14, seats: 2, colours: ["blue", "orange"], firstCells: ["e10", "j5"], owners: [0, 1] };
const FULL = { hand: [...PIECES.keys()], allPlaced: 15, singleLast: 20 };
const FEW = ["1", "2", "I3", "V3", "I4", "L4", "T4", "O", "Z4", "I5", "L5", "P"];

/** @type {Readonly<Record<string, Variant>>} */
export const VARIANTS = {
  duo: { key: "duo", ...DUO, ...FULL },
  classic: { key: "classic", ...CLASSIC, ...FULL, seats: 4, owners: [0, 1, 2, 3] },
  "classic-2": { key: "classic-2", ...CLASSIC, ...FULL, seats: 2, owners: [0, 1, 0, 1] },
  "classic-3": { key: "classic-3", ...CLASSIC, ...FULL, seats: 3, owners: [0, 1, 2, null] },
  junior: { key: "junior", ...DUO, hand: FEW.flatMap((piece) => [piece, piece]), allPlaced: 0, singleLast: 0 },
};

/** @type {Map<string, string>} the piece that a fixed form is, by its cells */
const PIECE_OF = new Map([...ORIENTATIONS].flatMap(([piece, forms]) => forms.map((form) => [String(form), piece])));

/** @typedef {{ edges: readonly number[], corners: readonly number[] }} Near */

/** @type {Map<number, readonly Near[]>} */
const neighbourhoods = new Map();

/**
 * The squares beside each square of a board, and those at its corners.
 *
 * @param {number} size
 * @returns {readonly Near[]}
 */
function neighbourhood(size) {
  let found = neighbourhoods.get(size);
  if (!found) {
    /** @type {(row: number, column: number, steps: number[][]) => number[]} */
    const among = (row, column, steps) =>
      steps
        .map(([up, right]) => [row + up, column + right])
        .filter(([r, c]) => r >= 0 && r < size && c >= 0 && c < size)
        .map(([r, c]) => r * size + c);
    found = Array.from({ length: size * size }, (_, square) => {
      const row = Math.floor(square / size);
      const column = square % size;
      return {
        edges: among(row, column, [
          [-1, 0],
          [0, -1],
          [0, 1],
          [1, 0],
        ]),
        corners: among(row, column, [
          [-1, -1],
          [-1, 1],
          [1, -1],
          [1, 1],
        ]),
      };
    });
    neighbourhoods.set(size, found);
  }
  return found;
}

/** What a colour may touch: the squares that are closed to it, and those of which a piece has to cover one. */
class Reach {
  /**
   * @param {Position} position
   * @param {number} colour
   */
  constructor(position, colour) {
    const { size, firstCells } = position.variant;
    const near = neighbourhood(size);
    const own = colour + 1;
    this.closed = position.squares.map((owner) => (owner ? 1 : 0));
    this.attach = new Uint8Array(size * size);
    let any = false;
    position.squares.forEach((owner, square) => {
      if (owner !== own) return;
      any = true;
      for (const other of near[square].edges) this.closed[other] = 1;
      for (const other of near[square].corners) this.attach[other] = 1;
    });
    if (!any) {
      const [row, column] = cellOf(firstCells[colour]);
      this.attach[row * size + column] = 1;
    }
    /** The attach points that are open, in order. @type {number[]} */
    this.points = [];
    this.attach.forEach((is, square) => {
      if (is && !this.closed[square]) this.points.push(square);
    });
  }
}

export class Position {
  /**
   * Not for others: use `Position.start`.
   *
   * @param {Variant} variant
   * @param {Uint8Array} squares  0 for a free square, else the colour's number and one
   * @param {readonly (readonly string[])[]} left  the pieces that each colour has left
   * @param {readonly (string | null)[]} last  the piece that each colour placed last
   * @param {number | null} turn  the colour to move; null at the end
   * @param {ReadonlySet<number>} out  the colours found to have no placement left
   * @param {ReadonlySet<number>} gone  the seats that stopped playing
   */
  constructor(variant, squares, left, last, turn, out, gone) {
    this.variant = variant;
    this.squares = squares;
    this.left = left;
    this.last = last;
    this.turn = turn;
    this.out = out;
    this.gone = gone;
    /** @type {Map<number, Reach>} */
    this.reaches = new Map();
  }

  /** @param {Variant} variant */
  static start(variant) {
    const { size, colours, hand } = variant;
    return new Position(
      variant,
      new Uint8Array(size * size),
      colours.map(() => hand),
      colours.map(() => null),
      0,
      new Set(),
      new Set(),
    );
  }

  /**
   * The position of which somebody else keeps the turn: these moves on the board, and what is known beside them.
   *
   * @param {Variant} variant
   * @param {{ colour: number, move: string }[]} moves
   * @param {number | null} turn
   * @param {ReadonlySet<number>} out
   * @param {ReadonlySet<number>} gone
   */
  static shown(variant, moves, turn, out, gone) {
    let position = Position.start(variant);
    for (const { colour, move } of moves) position = position.#with(colour, position.read(move) ?? []);
    return new Position(variant, position.squares, position.left, position.last, turn, out, gone);
  }

  /**
   * The squares of a move's text, such as `e8,e9,f9`; null if one of them is not on the board.
   *
   * @param {string} text
   * @returns {number[] | null}
   */
  read(text) {
    const { size } = this.variant;
    const cells = text.split(",").map((name) => cellOf(name.trim()));
    const outside = cells.some(([row, column]) => !(row >= 0 && row < size && column >= 0 && column < size));
    return outside ? null : cells.map(([row, column]) => row * size + column).sort((a, b) => a - b);
  }

  /**
   * A move's text: its cells by row, then by column.
   *
   * @param {readonly number[]} squares
   */
  write(squares) {
    const { size } = this.variant;
    return squares.map((square) => cellName(Math.floor(square / size), square % size)).join(",");
  }

  /**
   * The piece that these squares are, or null.
   *
   * @param {readonly number[]} squares  sorted
   */
  pieceOf(squares) {
    const { size } = this.variant;
    const cells = squares.map((square) => [Math.floor(square / size), square % size]);
    const bottom = Math.min(...cells.map(([row]) => row));
    const left = Math.min(...cells.map(([, column]) => column));
    return PIECE_OF.get(String(cells.map(([row, column]) => [row - bottom, column - left]))) ?? null;
  }

  /**
   * The seat that makes this colour's next move; null if it has stopped playing. A shared colour goes round the seats.
   *
   * @param {number} colour
   */
  seatOf(colour) {
    const { owners, seats, hand } = this.variant;
    const owner = owners[colour];
    if (owner !== null) return this.gone.has(owner) ? null : owner;
    const first = hand.length - this.left[colour].length;
    for (let offset = 0; offset < seats; offset += 1) {
      const seat = (first + offset) % seats;
      if (!this.gone.has(seat)) return seat;
    }
    return null;
  }

  get seatToMove() {
    return this.turn === null ? null : this.seatOf(this.turn);
  }

  /**
   * Covered cells, and the bonus of a colour that has placed everything.
   *
   * @param {number} colour
   */
  points(colour) {
    const covered = this.squares.reduce((sum, owner) => sum + (owner === colour + 1 ? 1 : 0), 0);
    if (this.left[colour].length) return covered;
    return covered + (this.last[colour] === "1" ? this.variant.singleLast : this.variant.allPlaced);
  }

  /**
   * The points of a seat: of all its colours; a shared colour counts for nobody.
   *
   * @param {number} seat
   */
  pointsOf(seat) {
    return this.variant.owners
      .map((owner, colour) => (owner === seat ? this.points(colour) : 0))
      .reduce((a, b) => a + b);
  }

  /** @param {number} colour */
  #reach(colour) {
    let reach = this.reaches.get(colour);
    if (!reach) {
      reach = new Reach(this, colour);
      this.reaches.set(colour, reach);
    }
    return reach;
  }

  /**
   * The free squares of which a colour's next piece covers at least one.
   *
   * @param {number} colour
   */
  attachPoints(colour) {
    return this.#plays(colour) ? this.#reach(colour).points : [];
  }

  /** @param {number} colour */
  #plays(colour) {
    return this.turn !== null && !this.out.has(colour) && this.seatOf(colour) !== null;
  }

  /**
   * Why the colour to move may not cover these squares with its next piece; null if it may.
   *
   * @param {readonly number[] | null} squares  sorted; null stands for a placement that reaches over the edge
   * @returns {Refusal | null}
   */
  check(squares) {
    if (this.turn === null) return { reason: "game-over" };
    if (!squares) return { reason: "outside-board" };
    const piece = this.pieceOf(squares);
    if (piece === null) return { reason: "not-a-piece" };
    if (!this.left[this.turn].includes(piece)) return { reason: "piece-not-left" };
    const taken = squares.find((square) => this.squares[square]);
    if (taken !== undefined) return { reason: "occupied", square: taken };
    const own = this.turn + 1;
    const { attach } = this.#reach(this.turn);
    const begun = this.left[this.turn].length < this.variant.hand.length;
    if (begun) {
      const near = neighbourhood(this.variant.size);
      const touching = squares.find((square) => near[square].edges.some((other) => this.squares[other] === own));
      if (touching !== undefined) return { reason: "edge-contact", square: touching };
    }
    if (squares.some((square) => attach[square])) return null;
    return { reason: begun ? "no-corner-contact" : "first-cell-not-covered" };
  }

  /**
   * The placements of one piece or of all, each once.
   *
   * @param {number} colour
   * @param {string} [only]
   * @returns {Generator<number[]>}
   */
  *placements(colour, only) {
    if (!this.#plays(colour)) return;
    const { size } = this.variant;
    const { closed, points } = this.#reach(colour);
    const pieces = new Set(this.left[colour]);
    for (const piece of pieces) {
      if (only !== undefined && piece !== only) continue;
      for (const form of ORIENTATIONS.get(piece) ?? []) {
        const seen = new Set();
        for (const point of points) {
          for (const [anchorRow, anchorColumn] of form) {
            const bottom = Math.floor(point / size) - anchorRow;
            const left = (point % size) - anchorColumn;
            const origin = bottom * size + left;
            if (bottom < 0 || left < 0 || seen.has(origin)) continue;
            seen.add(origin);
            const fits = form.every(
              ([row, column]) => bottom + row < size && left + column < size && !closed[origin + row * size + column],
            );
            if (fits) yield form.map(([row, column]) => origin + row * size + column);
          }
        }
      }
    }
  }

  /**
   * The moves of the colour to move.
   *
   * @param {string} [piece]  of this piece only
   */
  legal(piece) {
    return this.turn === null ? [] : [...this.placements(this.turn, piece)];
  }

  /**
   * Make a move that `check` has nothing against, and pass the turn on to the next colour that can place something.
   *
   * @param {readonly number[]} squares
   * @returns {Step}
   */
  play(squares) {
    if (this.turn === null) throw new RangeError("the game is over");
    return this.#with(this.turn, squares).#passedOn();
  }

  /**
   * A piece on the board, the turn not yet passed on.
   *
   * @param {number} colour
   * @param {readonly number[]} squares
   */
  #with(colour, squares) {
    const piece = this.pieceOf(squares);
    if (piece === null) throw new RangeError("no piece has this shape");
    const board = this.squares.slice();
    for (const square of squares) board[square] = colour + 1;
    const at = this.left[colour].indexOf(piece);
    const left = this.left.map((pieces, each) =>
      each === colour ? pieces.filter((_, index) => index !== at) : pieces,
    );
    const last = this.last.map((before, each) => (each === colour ? piece : before));
    return new Position(this.variant, board, left, last, this.turn, this.out, this.gone);
  }

  /**
   * The position after a seat stopped playing. With fewer than two seats left the game is over.
   *
   * @param {number} seat
   * @returns {Step}
   */
  withoutSeat(seat) {
    if (this.turn === null || this.gone.has(seat)) return { position: this, skipped: [], newlyOut: [] };
    const gone = new Set([...this.gone, seat]);
    const over = this.variant.seats - gone.size <= 1;
    const after = new Position(
      this.variant,
      this.squares,
      this.left,
      this.last,
      over ? null : this.turn,
      this.out,
      gone,
    );
    if (after.turn !== null && after.seatToMove === null) return after.#passedOn();
    return { position: after, skipped: [], newlyOut: [] };
  }

  /** @returns {Step} */
  #passedOn() {
    const colours = this.variant.colours.length;
    const mover = this.turn ?? 0;
    const skipped = [];
    const newlyOut = [];
    let turn = null;
    for (let offset = 1; offset <= colours; offset += 1) {
      const colour = (mover + offset) % colours;
      if (this.seatOf(colour) === null) continue;
      if (!this.out.has(colour)) {
        if (!this.placements(colour).next().done) {
          turn = colour;
          break;
        }
        newlyOut.push(colour);
      }
      skipped.push(colour);
    }
    const out = new Set([...this.out, ...newlyOut]);
    const position = new Position(this.variant, this.squares, this.left, this.last, turn, out, this.gone);
    return { position, skipped: turn === null ? [] : skipped, newlyOut };
  }
}
