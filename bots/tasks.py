"""A CPU's move, hints, and a ply of an analysis, in a worker of the `bots` queue."""

from hashlib import sha256
from random import Random, SystemRandom
from typing import Any

import structlog
from celery import Task, shared_task
from celery.signals import celeryd_after_setup

from bots import guard
from bots.analysis import steps
from bots.levels import LEVELS, PUZZLE_PLAYERS
from bots.queue import HINT_LINE, MOVE_LINE, QUEUE, waiting
from bots.selectors import wanted_hint, wanted_run_hint
from bots.services.analyses import TASK, Claim, claim_ply, go_on, keep_finding
from bots.services.hints import drop_hint, give_hint, key_of
from bots.services.run_hints import drop_run_hint, give_run_hint
from common import database
from common.clock import now_ms
from common.errors import KadoError
from games.puzzle import selectors as runs
from games.puzzle.rules import Run
from games.territory import selectors
from games.territory.errors import NotFinishedError
from games.territory.rules import Move, Position
from games.territory.services.fallback import largest_move
from games.territory.services.play import play_move
from games.territory.state import GameState

logger = structlog.get_logger(__name__)

PATIENT = 4
"""So many moves may wait in the queue before searches are shortened."""
LEAST_EFFORT = 0.05
RUN_HINT_SECONDS = 1.0
"""A hint of the block puzzle takes some thousandths of a second; this is for a machine that is very busy."""


@celeryd_after_setup.connect
def prepare_engine(instance: Any, **facts: Any) -> None:
    """A worker for the bots' queue loads the compiled engine before it forks; the others never import it."""
    if QUEUE in instance.app.amqp.queues.consume_from:
        from bots import engine

        if engine.COMPILES:
            logger.info("compiling the engine, once: CPU players answer in about half a minute")
        logger.info("engine_prepared", seconds=round(engine.prepare(), 1))


def choose(level: str, position: Position, random: Random, effort: float = 1.0) -> Move:
    """The move that a CPU of this level makes with this part of its time."""
    from bots import engine

    return engine.choose(level, position, random, effort)


def effort_for(waiting: int) -> float:
    """The part of its time that a search gets while so many other moves wait: the queue then shortens by itself."""
    return max(LEAST_EFFORT, min(1.0, PATIENT / max(1, waiting)))


def think(kind: str, state: GameState, level: str, effort: float = 1.0) -> Move:
    """The move that a level chooses; one of the largest pieces if it is the choosing that kills workers."""
    seed = SystemRandom().getrandbits(64)
    what = f"{kind} {state.started.game} {key_of(state.position)}"
    with guard.attempt(what, note=str(seed)) as fatal:
        if len(fatal) < guard.FATAL:
            return choose(level, state.position, Random(seed), effort)
        described = {"kind": kind, "cpu_level": level, "seeds": fatal, **_described(state)}
        logger.error("poison_position", **described)
    return largest_move(state.position)


def _described(state: GameState) -> dict[str, Any]:
    """What sets the position up again."""
    variant = state.position.variant
    return {
        "game": state.started.game,
        "version": state.version,
        "variant": variant.key,
        "moves": [f"{variant.colours[played.colour]} {played.move.text}" for played in state.plies],
        "seats_gone": sorted(state.position.gone),
    }


@shared_task(name="bots.choose_move", bind=True)
def choose_move(self: "Task[Any, Any]", game_id: str, version: int) -> None:
    """Choose and play the CPU's move in the position of this version of the game.

    Idempotent: delivered twice, late, or after the game moved on or was taken back, it finds the game at another
    version, or the game refuses the move. Whatever goes wrong, the sweeper asks again.
    """
    state, seating = selectors.load_state(game_id), selectors.seating(game_id)
    level, seat = seating.level_to_move(state), state.position.seat_to_move
    if state.version != version or not level or seat is None:
        return
    MOVE_LINE.leave(seating.people, game_id)
    # What waits behind it does not shorten it: nobody's CPU is weaker because somebody else has many games.
    ahead = waiting(up_to=(self.request.delivery_info or {}).get("priority") or 0)
    effort = effort_for(ahead)
    if effort < 1.0:
        logger.warning("budget_lowered", game=game_id, effort=round(effort, 2), waiting=ahead)
    move = think("move", state, level, effort)
    try:
        database.wait(
            play_move(
                game_id=game_id,
                player_id=seating.players[seat],
                ply=state.ply,
                move=move.text,
                chosen_at=version,
            )
        )
    except KadoError as refusal:
        logger.info("cpu_move_refused", game=game_id, version=version, code=refusal.code)


@shared_task(name="bots.find_hint")
def find_hint(hint_id: int, version: int) -> None:
    """Find the strongest CPU's move for a hint that was asked for at this version of its game.

    Idempotent: delivered twice, late, or after the game moved on, it gives nothing. What goes wrong is looked for again
    when the player asks again.
    """
    hint = wanted_hint(hint_id=hint_id, version=version)
    if hint is None:
        return
    HINT_LINE.leave([hint.player_id], hint.game_id)
    state = selectors.load_state(hint.game_id)
    if state.version != version:
        drop_hint(hint_id=hint_id, version=version)
        return
    move = think("hint", state, LEVELS[-1])
    give_hint(hint_id=hint_id, version=version, move=move, now=now_ms())


def choose_placement(run: Run) -> tuple[int, int, str]:
    """Slot, rotation and cell of what the best player would place: the same whenever it is asked.

    It sees what the person sees, and not the seed: hands that may come are drawn anew.
    """
    from bots.engine import BlockPlayer

    position = f"{run.rules.key} {run.board} {run.hand} {run.streak} {run.streak_at_risk}"
    seed = int.from_bytes(sha256(position.encode()).digest()[:8], "big")
    chosen = BlockPlayer(PUZZLE_PLAYERS[-1], seed=seed, seconds=RUN_HINT_SECONDS).choose(run)
    return chosen.slot, chosen.rotation, chosen.at


@shared_task(name="bots.find_run_hint")
def find_run_hint(run_id: str, turn: int) -> None:
    """Find a placement for a hint that was asked for at this turn of a block puzzle's run.

    Idempotent as `find_hint` is.
    """
    hint = wanted_run_hint(run_id=run_id, turn=turn)
    if hint is None:
        return
    HINT_LINE.leave([hint.player_id], run_id)
    run = runs.running_at(run_id, turn)
    if run is None:
        drop_run_hint(run_id=run_id, turn=turn)
        return
    with guard.attempt(f"run_hint {run_id} {turn}", note="") as fatal:
        if len(fatal) >= guard.FATAL:
            logger.error("poison_position", kind="run_hint", run=run_id, turn=turn)
            drop_run_hint(run_id=run_id, turn=turn)
            return
        slot, rotation, at = choose_placement(run)
    give_run_hint(run_id=run_id, turn=turn, slot=slot, rotation=rotation, at=at, now=now_ms())


@shared_task(name=TASK)
def analyse_ply() -> None:
    """Search the next ply of the analysis that has waited longest, and ask for another task if there is more to do.

    Idempotent: delivered twice or late, it finds another ply or none. What it has in hand when its worker dies is free
    again after a while, and the sweeper asks for tasks when all are lost.
    """
    claim = claim_ply(now=now_ms())
    if claim is None:
        return
    try:
        _search_ply(claim)
    finally:
        go_on(now=now_ms())


def _search_ply(claim: Claim) -> None:
    """Search a ply that was taken; nothing, if the game has another end by now: the next claim drops its analysis."""
    from bots import analyst

    try:
        ended = selectors.load_ended(claim.game_id)
    except NotFinishedError:
        return
    if ended.version == claim.version:
        replay = ended.record.replay()
        keep_finding(
            claim=claim,
            finding=analyst.look(steps(replay)[claim.ply], claim.simulations),
            end=analyst.end_of(replay),
            engine=analyst.ENGINE,
            now=now_ms(),
        )
