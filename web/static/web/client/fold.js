/**
 * What an event makes of a snapshot. No rules are needed: every event carries what there is to draw.
 *
 * @module
 */

/** What an undo that somebody asks for does not outlive. */
const ENDS_WISH = new Set(["move_played", "moves_undone", "seat_left", "game_finished"]);

/**
 * @param {any} game  a snapshot; it is not changed
 * @param {number} version
 * @param {any} event
 * @returns {any}
 */
export function foldGame(game, version, event) {
  const after = { ...game, version };
  if (ENDS_WISH.has(event.type)) after.undo_asked = null;
  switch (event.type) {
    case "move_played": {
      const { ply, colour, seat, piece, move, points } = event;
      after.moves = [...game.moves, { ply, colour, seat, piece, move }];
      after.colours = game.colours.map((/** @type {any} */ each) => {
        if (each.colour !== colour) return each;
        const at = each.pieces_left.indexOf(piece);
        return { ...each, points, pieces_left: each.pieces_left.toSpliced(at, 1) };
      });
      after.turn = event.turn;
      break;
    }
    case "colours_out":
      after.colours = game.colours.map((/** @type {any} */ each) => ({
        ...each,
        out: each.out || event.colours.includes(each.colour),
      }));
      break;
    case "undo_asked":
      after.undo_asked = { seat: event.seat, ply: event.ply, agreed: [] };
      break;
    case "undo_answered": {
      const { agreed } = game.undo_asked;
      after.undo_asked = event.agreed ? { ...game.undo_asked, agreed: [...agreed, event.seat] } : null;
      break;
    }
    case "moves_undone":
      after.moves = game.moves.slice(0, event.ply);
      Object.assign(after, { colours: event.colours, turn: event.turn, status: "started" });
      Object.assign(after, { outcome: null, clocks_ms: null });
      break;
    case "game_finished":
      after.status = event.outcome.termination === "aborted" ? "aborted" : "finished";
      Object.assign(after, { outcome: event.outcome, clocks_ms: event.clocks_ms, turn: null });
      break;
    case "game_rated":
      after.rating_changes = event.changes;
      break;
    case "time_given":
      after.turn = event.turn;
      break;
    case "seat_left":
      Object.assign(after, { leavers: leaving(game.leavers, event.seat, event.reason), turn: event.turn });
      break;
    case "seat_claimed":
      if (event.level) {
        after.seats = levelled(game.seats, event.seat, event.level);
        Object.assign(after, { leavers: leaving(game.leavers, event.seat, "replaced"), undo_asked: null });
      }
      break;
    case "seat_returned":
      after.seats = levelled(game.seats, event.seat, null);
      after.leavers = game.leavers.filter((/** @type {any} */ each) => each.seat !== event.seat);
      break;
    case "vacation_began":
    case "vacation_ended": {
      const others = game.vacations.filter((/** @type {number} */ seat) => seat !== event.seat);
      after.vacations = event.type === "vacation_began" ? [...others, event.seat] : others;
      after.turn = event.turn;
      break;
    }
  }
  return after;
}

/**
 * The seats that left; one that a CPU played for may leave for good.
 *
 * @param {{ seat: number, reason: string }[]} leavers
 * @param {number} seat
 * @param {string} reason
 */
function leaving(leavers, seat, reason) {
  const left = { seat, reason };
  const known = leavers.some((each) => each.seat === seat);
  return known ? leavers.map((each) => (each.seat === seat ? left : each)) : [...leavers, left];
}

/**
 * @param {any[]} seats
 * @param {number} seat
 * @param {string | null} level  of the CPU that plays for it
 */
const levelled = (seats, seat, level) => seats.map((each) => (each.seat === seat ? { ...each, level } : each));

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
