/**
 * What an event makes of a snapshot. No rules are needed: every event carries what there is to draw.
 *
 * @module
 */

/** @typedef {{ colour: string, seat: number | null, points: number, pieces_left: string[], out: boolean }} Colour */
/** @typedef {{ ply: number, colour: string, seat: number, clocks_ms: number[] | null, deadline: string | null }} Turn */
/** @typedef {{ ply: number, colour: string, seat: number, piece: string, move: string }} Move */
/**
 * @typedef {object} Game
 * @property {string} game
 * @property {number} version
 * @property {string} variant
 * @property {"started" | "finished" | "aborted"} status
 * @property {Colour[]} colours
 * @property {Move[]} moves
 * @property {Turn | null} turn
 * @property {{ seat: number, reason: string }[]} leavers
 * @property {any} outcome
 * @property {number[] | null} clocks_ms
 * @property {any} rating_changes
 */

/**
 * @param {any} game  a snapshot; it is not changed
 * @param {number} version
 * @param {any} event
 */
export function foldGame(game, version, event) {
  const after = { ...game, version };
  switch (event.type) {
    case "move_played": {
      const { ply, colour, seat, piece, move, points } = event;
      after.moves = [...game.moves, { ply, colour, seat, piece, move }];
      after.colours = game.colours.map((/** @type {Colour} */ each) => {
        if (each.colour !== colour) return each;
        const at = each.pieces_left.indexOf(piece);
        return { ...each, points, pieces_left: each.pieces_left.toSpliced(at, 1) };
      });
      after.turn = event.turn;
      break;
    }
    case "colours_out":
      after.colours = game.colours.map((/** @type {Colour} */ each) => ({
        ...each,
        out: each.out || event.colours.includes(each.colour),
      }));
      break;
    case "seat_left":
      after.leavers = [...game.leavers, { seat: event.seat, reason: event.reason }];
      after.turn = event.turn;
      break;
    case "moves_undone":
      after.moves = game.moves.slice(0, event.ply);
      Object.assign(after, {
        colours: event.colours,
        turn: event.turn,
        status: "started",
        outcome: null,
        clocks_ms: null,
      });
      break;
    case "game_finished":
      after.status = event.outcome.termination === "aborted" ? "aborted" : "finished";
      Object.assign(after, { outcome: event.outcome, clocks_ms: event.clocks_ms, turn: null });
      break;
    case "game_rated":
      after.rating_changes = event.changes;
      break;
  }
  return after;
}

/**
 * The same for a run of the block puzzle.
 *
 * @param {any} run
 * @param {number} version
 * @param {any} event
 */
export function foldRun(run, version, event) {
  switch (event.type) {
    case "block_placed":
      return { ...run, version, state: event.state, end: event.end, status: event.end ? "over" : "running" };
    case "placement_undone":
      return { ...run, version, state: event.state, end: null, status: "running" };
    case "run_ended":
      return { ...run, version, end: event.end, status: event.end.reason === "abandoned" ? "abandoned" : "closed" };
    case "seed_revealed":
      return { ...run, version, seed: event.seed };
  }
  return { ...run, version };
}
