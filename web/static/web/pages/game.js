/**
 * The page of one corner-to-corner game: follows its stream, shows it, and sends what its player decides.
 *
 * Everything that is shown follows from the snapshot and from the piece in hand; `#render` draws all of it anew.
 *
 * @module
 */

import { create, get, Problem } from "../client/api.js";
import { foldGame } from "../client/fold.js";
import { h } from "../dom.js";
import { Board } from "../parts/board.js";
import { Tray } from "../parts/tray.js";
import { Placing } from "../rules/placing.js";
import { cellName } from "../rules/shapes.js";
import { Position, VARIANTS } from "../rules/territory.js";
import { language, maybe, t } from "../words.js";

/** @typedef {import("../app.js").Place} Place */

const KEYS = "ArrowUp ArrowDown ArrowLeft ArrowRight".split(" ");
const STEPS = [
  [1, 0],
  [-1, 0],
  [0, -1],
  [0, 1],
];

export class GamePage {
  /** @type {any} */ #game = null;
  /** @type {Position | null} */ #position = null;
  /** @type {Placing | null} */ #placing = null;
  /** @type {Board | null} */ #board = null;
  #tray = new Tray();
  /** @type {readonly number[]} */ #hint = [];
  /** @type {number | null} */ #hintsLeft = null;
  #hinting = false;
  #sending = false;
  /** @type {(() => void)[]} */ #endings = [];
  #listening = new AbortController();

  /**
   * @param {Place} place
   * @param {string} id
   */
  constructor(place, id) {
    this.place = place;
    this.id = id;
    this.seats = h("ol", { class: "seats" });
    this.said = h("p", { class: "said", role: "status" });
    this.why = h("p", { class: "why", role: "status" });
    this.around = h("div", { class: "around" });
    this.tools = h("div", { class: "tools" });
    this.others = h("div", { class: "others" });
    this.element = h(
      "section",
      { class: "game" },
      this.around,
      h("div", { class: "side" }, this.seats, this.said, this.#tray.element, this.why, this.tools, this.others),
    );
    this.#tray.addEventListener("choose", (event) => this.#choose(/** @type {CustomEvent<string>} */ (event).detail));
    addEventListener("keydown", (event) => this.#key(event), { signal: this.#listening.signal });
  }

  /** Begin; the page is shown already. */
  start() {
    const { live } = this.place;
    this.#endings.push(
      live.follow(`game:${this.id}`, {
        snapshot: (snapshot) => this.#now(snapshot),
        event: (event, version) => this.#happened(event, version),
        refused: (problem) => this.place.fail(problem),
      }),
      live.follow("inbox", { event: (event) => this.#told(event) }),
    );
  }

  stop() {
    for (const end of this.#endings) end();
    this.#listening.abort();
  }

  // What is so

  get #mySeats() {
    return this.#game.seats
      .filter((/** @type {any} */ seat) => seat.player === this.place.live.player)
      .map((/** @type {any} */ seat) => seat.seat);
  }

  get #isMine() {
    return this.#game.turn !== null && this.#mySeats.includes(this.#game.turn.seat) && !this.#sending;
  }

  get #against() {
    return (
      this.#game.seats.some((/** @type {any} */ seat) => seat.level) && this.#mySeats.length > 0 && !this.#game.rated
    );
  }

  /** @param {any} snapshot */
  #now(snapshot) {
    this.#game = snapshot;
    this.#position = positionOf(snapshot);
    if (!this.#board) {
      this.#board = new Board(this.#position.variant.size);
      this.#board.addEventListener("aim", (event) => this.#aim(/** @type {CustomEvent} */ (event).detail));
      this.around.replaceChildren(this.#board.element);
      if (this.#against) this.#askHints();
    }
    this.#putBackWhatIsGone();
    this.#render();
  }

  /**
   * @param {any} event
   * @param {number} version
   */
  #happened(event, version) {
    if (!this.#game) return;
    this.#game = foldGame(this.#game, version, event);
    this.#position = positionOf(this.#game);
    this.#hint = [];
    this.#say(event);
    this.#putBackWhatIsGone();
    this.#render();
  }

  /** @param {any} event  of the inbox */
  #told(event) {
    if (event.type !== "hint_given" || event.game !== this.id || !this.#position) return;
    this.#hinting = false;
    this.#hintsLeft = event.hints_left;
    if (event.ply === this.#game?.turn?.ply) this.#showHint(event.move);
    this.#render();
  }

  /** @param {string} move */
  #showHint(move) {
    this.#hint = this.#position?.read(move) ?? [];
  }

  #putBackWhatIsGone() {
    const { turn } = this.#game;
    const pieces =
      turn && this.#game.colours.find((/** @type {any} */ each) => each.colour === turn.colour).pieces_left;
    if (this.#placing && !(this.#isMine && pieces.includes(this.#placing.piece))) this.#placing = null;
  }

  // What its player does

  /** @param {string} piece */
  #choose(piece) {
    this.#placing = this.#placing?.piece === piece ? null : Placing.of(piece);
    this.#render();
  }

  /** @param {{ row: number, column: number }} cell */
  #aim({ row, column }) {
    const position = this.#position;
    if (!this.#placing || !position || !this.#isMine) return;
    const { size } = position.variant;
    const under = this.#placing.squares(size);
    if (under?.includes(row * size + column) && !position.check(under)) {
      this.#play();
      return;
    }
    this.#placing = this.#placing.over(row, column, size);
    this.#render();
  }

  async #play() {
    const position = this.#position;
    const squares = this.#placing && position && this.#placing.squares(position.variant.size);
    if (!squares || !position || position.check(squares) || !this.#isMine) return;
    this.#sending = true;
    this.#render();
    await this.#try(() =>
      this.place.live.command("move", { game: this.id, ply: this.#game.turn.ply, move: position.write(squares) }),
    );
    this.#sending = false;
    this.#putBackWhatIsGone();
    this.#render();
  }

  #undo() {
    return this.#try(() => this.place.live.command("undo", { game: this.id, ply: this.#game.moves.length }));
  }

  async #askHint() {
    this.#hinting = true;
    this.#render();
    const answer = await this.#try(() => this.place.live.command("hint", { game: this.id, ply: this.#game.turn.ply }));
    if (!answer || answer.move) this.#hinting = false;
    if (answer?.move) this.#showHint(answer.move);
    if (answer) this.#hintsLeft = answer.hints_left;
    this.#render();
  }

  async #askHints() {
    const answer = await this.#try(() => get(`games/${this.id}/hints`));
    if (answer) this.#hintsLeft = answer.hints_left;
    this.#render();
  }

  async #resign() {
    if (confirm(t("game.resign.sure"))) await this.#try(() => this.place.live.command("resign", { game: this.id }));
  }

  async #again() {
    const { variant, seats } = this.#game;
    const again = await this.#try(() =>
      create("games", {
        variant,
        seats: seats.map((/** @type {any} */ seat) => (seat.level ? { level: seat.level } : {})),
      }),
    );
    if (again) this.place.go(`/game/${again.game}`);
  }

  /**
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T | null>}
   */
  async #try(work) {
    try {
      return await work();
    } catch (error) {
      const reason = error instanceof Problem ? maybe(`refusal.${error.code}`) : "";
      if (reason) this.why.textContent = reason;
      else this.place.fail(error);
      return null;
    }
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.#position || !this.#board) return;
    const inField = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
    if (inField) return;
    const { size } = this.#position.variant;
    const arrow = KEYS.indexOf(event.key);
    if (this.#placing && arrow >= 0) this.#placing = this.#placing.moved(STEPS[arrow][0], STEPS[arrow][1], size);
    else if (this.#board.isFocused && arrow >= 0) this.#board.step(STEPS[arrow][0], STEPS[arrow][1]);
    else if (this.#placing && event.key.toLowerCase() === "r") this.#placing = this.#placing.turned(size);
    else if (this.#placing && event.key.toLowerCase() === "f") this.#placing = this.#placing.flipped(size);
    else if (this.#placing && event.key === "Escape") this.#placing = null;
    else if (this.#placing?.at && event.key === "Enter") this.#play();
    else if (this.#board.isFocused && (event.key === "Enter" || event.key === " ")) this.#board.enter();
    else return;
    event.preventDefault();
    this.#render();
  }

  // What is shown

  /** @param {string} colour */
  #nameOf(colour) {
    return maybe(`colour.${colour}`, {}, colour);
  }

  /** @param {any} event */
  #say(event) {
    if (event.type !== "move_played") return;
    const words = [t("game.played", { colour: this.#nameOf(event.colour), piece: event.piece, cells: event.move })];
    for (const colour of event.skipped) words.push(t("game.skipped", { colour: this.#nameOf(colour) }));
    this.place.announce(words.join(" "));
  }

  #render() {
    if (!this.#position || !this.#board) return;
    this.#renderBoard(this.#position, this.#board);
    this.#renderSeats();
    this.#renderTray(this.#position);
    this.#renderTools();
    this.said.textContent = this.#headline();
  }

  /**
   * @param {Position} position
   * @param {Board} board
   */
  #renderBoard(position, board) {
    const { variant } = position;
    const mine = this.#isMine && position.turn !== null ? position.turn : null;
    const squares = this.#placing?.squares(variant.size) ?? null;
    const refusal = squares && position.check(squares);
    const last = this.#game.moves.at(-1);
    this.why.textContent = this.#explain(refusal, squares !== null);
    board.show({
      colours: variant.colours,
      squares: position.squares,
      last: last ? (position.read(last.move) ?? []) : [],
      starts: variant.firstCells
        .map((cell, colour) => ({ square: (position.read(cell) ?? [0])[0], colour: variant.colours[colour] }))
        .filter(({ square }) => !position.squares[square]),
      attach: mine === null ? [] : position.attachPoints(mine),
      diamonds: mine === null || !this.#placing ? [] : this.#placing.diamonds(position, mine),
      ghost: squares && { squares, ok: !refusal },
      ghostColour: mine === null ? "" : variant.colours[mine],
      hint: this.#hint,
    });
  }

  /**
   * @param {import("../rules/territory.js").Refusal | null} refusal
   * @param {boolean} held
   */
  #explain(refusal, held) {
    if (!this.#isMine) return "";
    if (!this.#placing || !held) return t("game.choose");
    if (!refusal || !this.#position) return t("game.fits");
    const { size, firstCells } = this.#position.variant;
    const square = refusal.square ?? 0;
    const cell =
      refusal.reason === "first-cell-not-covered"
        ? firstCells[this.#position.turn ?? 0]
        : cellName(Math.floor(square / size), square % size);
    return maybe(`refusal.${refusal.reason}`, { cell });
  }

  #renderSeats() {
    const { seats, colours, turn, leavers } = this.#game;
    this.seats.replaceChildren(
      ...seats.map((/** @type {any} */ seat) => {
        const own = colours.filter((/** @type {any} */ each) => seat.colours.includes(each.colour));
        const points = own.reduce((/** @type {number} */ sum, /** @type {any} */ each) => sum + each.points, 0);
        const out = own.every((/** @type {any} */ each) => each.out) ? t("game.out") : "";
        const left = leavers.some((/** @type {any} */ each) => each.seat === seat.seat) ? t("game.left") : "";
        return h(
          "li",
          { class: "seat", "aria-current": turn?.seat === seat.seat && "true" },
          own.map((/** @type {any} */ each) =>
            h("i", { class: "chip", style: `background: var(--${each.colour})`, title: this.#nameOf(each.colour) }),
          ),
          h("b", {}, this.#playerName(seat)),
          h("span", {}, t("game.points", { count: points })),
          h("em", {}, left || out),
        );
      }),
    );
  }

  /** @param {any} seat */
  #playerName(seat) {
    return seat.level ? `CPU ${maybe(`level.${seat.level}`, {}, seat.level)}` : seat.player;
  }

  /** @param {Position} position */
  #renderTray(position) {
    const { turn, colours } = this.#game;
    const mine = this.#mySeats;
    const shown = this.#isMine
      ? colours.find((/** @type {any} */ each) => each.colour === turn.colour)
      : (colours.find((/** @type {any} */ each) => mine.includes(each.seat)) ?? colours[0]);
    const placeable = new Set();
    if (this.#isMine) for (const squares of position.legal()) placeable.add(position.pieceOf(squares));
    this.#tray.show({
      colour: shown.colour,
      pieces: shown.pieces_left,
      chosen: this.#placing?.piece ?? null,
      form: this.#placing?.form ?? null,
      placeable: this.#isMine ? placeable : null,
    });
  }

  #renderTools() {
    const position = this.#position;
    const size = position?.variant.size ?? 0;
    const squares = this.#placing?.squares(size);
    const over = this.#game.status !== "started";
    const seated = this.#mySeats.length > 0;
    const mayUndo =
      seated &&
      !this.#game.rated &&
      this.#game.moves.length > 0 &&
      this.#game.seats.every((/** @type {any} */ seat) => seat.level || seat.player === this.place.live.player);
    /** @type {(words: string, enabled: unknown, act: () => void, kind?: string) => HTMLElement} */
    const button = (words, enabled, act, kind = "") =>
      h("button", { type: "button", class: kind, disabled: !enabled, onClick: act }, words);
    const lie = (/** @type {Placing | undefined} */ next) => {
      this.#placing = next ?? null;
      this.#render();
    };
    this.#replace(
      this.tools,
      over
        ? [seated && button(t("game.again"), true, () => this.#again(), "main")]
        : [
            button(t("game.rotate"), this.#placing, () => lie(this.#placing?.turned(size))),
            button(t("game.flip"), this.#placing, () => lie(this.#placing?.flipped(size))),
            button(t("game.cancel"), this.#placing, () => lie(undefined)),
            button(t("game.place"), squares && !position?.check(squares), () => this.#play(), "main"),
          ],
    );
    this.#replace(this.others, [
      mayUndo && button(t("game.undo"), true, () => this.#undo()),
      this.#against &&
        !over &&
        button(
          this.#hinting ? t("game.hintComing") : t("game.hint"),
          this.#isMine && !this.#hinting && this.#hintsLeft !== 0,
          () => this.#askHint(),
        ),
      this.#against && this.#hintsLeft !== null && h("span", {}, t("game.hints", { count: this.#hintsLeft })),
      seated && !over && button(t("game.resign"), true, () => this.#resign()),
      h("p", { class: "keys" }, t("game.keys")),
    ]);
  }

  /**
   * New buttons in place of old ones, without losing the keyboard's place.
   *
   * @param {HTMLElement} parent
   * @param {(HTMLElement | false)[]} children
   */
  #replace(parent, children) {
    const at = [...parent.children].indexOf(/** @type {Element} */ (document.activeElement));
    parent.replaceChildren(...children.filter((child) => child !== false));
    if (at >= 0) /** @type {HTMLElement | undefined} */ (parent.children[at])?.focus();
  }

  #headline() {
    const { turn, status, outcome, seats } = this.#game;
    if (status === "aborted") return t("game.aborted");
    if (outcome) {
      const best = outcome.seats.filter((/** @type {any} */ each) => each.rank === 1);
      const points = new Intl.ListFormat(language, { type: "unit" }).format(
        outcome.seats.map((/** @type {any} */ each) => t("game.points", { count: each.points })),
      );
      return best.length > 1
        ? t("game.drawn", { points })
        : t("game.won", { player: this.#playerName(seats[best[0].seat]), points });
    }
    if (!turn) return "";
    const colour = this.#nameOf(turn.colour);
    if (this.#mySeats.includes(turn.seat)) return t("game.yourTurn", { colour });
    return t("game.theirTurn", { player: this.#playerName(seats[turn.seat]), colour });
  }
}

/**
 * The position that a snapshot shows.
 *
 * @param {any} game
 */
function positionOf(game) {
  const variant = VARIANTS[game.variant];
  const number = (/** @type {{ colour: string }} */ { colour }) => variant.colours.indexOf(colour);
  return Position.shown(
    variant,
    game.moves.map((/** @type {any} */ each) => ({ colour: number(each), move: each.move })),
    game.turn && number(game.turn),
    new Set(game.colours.filter((/** @type {any} */ each) => each.out).map(number)),
    new Set(
      game.leavers
        .filter((/** @type {any} */ each) => each.reason !== "replaced")
        .map((/** @type {any} */ each) => each.seat),
    ),
  );
}
