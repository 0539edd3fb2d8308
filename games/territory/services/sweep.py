"""Sweeping: every promise that a dead process left open is found here by an indexed query. Sweepers may run twice.

- the time of the seat to move is up, or a CPU has been to move for too long: `wake_at` has come;
- a game is over and not settled;
- the service was away, and a game has not been given its time back;
- other apps hear of each round, and look for theirs.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import structlog

from common import database
from common.clock import to_datetime
from common.errors import UnavailableError
from games.territory import selectors
from games.territory import state as st
from games.territory.models import Game
from games.territory.selectors import Seating
from games.territory.services import outages, vacations
from games.territory.services.calls import call
from games.territory.services.fallback import play_fallback
from games.territory.services.follow_up import announce, announce_round
from games.territory.services.play import check_clock, give_time
from games.territory.services.settle import settle
from games.territory.services.start import wake_at

logger = structlog.get_logger(__name__)

LIMIT = 500
"""Games looked at in one round, so that a round stays short."""

SETTLE_GRACE_MS = 5_000
"""How long a finished game is left to the worker that was asked to settle it."""


ASKING_SECONDS = 2.0
"""How long a round asks for lost CPU moves."""

CPU_LIMIT_MS = 60_000
"""How long a CPU may be to move before the sweeper moves for it, so that no game waits for workers for ever."""

RETRY_MS = 10_000
"""How long a game that could not be looked at is left alone."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What a round did."""

    woken: int
    settled: int


def sweep(*, now: int) -> Swept:
    """One round. An error in one game is logged and does not stop the others."""
    lost: list[tuple[st.GameState, Seating]] = []
    for player_id in vacations.due(now=now):
        _guarded_player(partial(vacations.see_to, now=now), player_id)
    _give_outages()
    due = Game.objects.filter(status=Game.Status.STARTED, wake_at__lte=now)
    if outages.is_away(
        now
    ):  # their clocks get it back; until then they would only be in the way of others
        due = due.exclude(clock_kind="realtime")
    woken = list(due.order_by("wake_at").values_list("id", "wake_at")[:LIMIT])
    for game_id, was in woken:
        if not _guarded(partial(_wake, was=was, now=now, lost=lost), game_id):
            # Out of the way of the others, or enough of them would fill every round.
            Game.objects.filter(id=game_id, wake_at=was).update(wake_at=now + RETRY_MS)
    unsettled = list(
        Game.objects.filter(settled_at=None, finished_at__lte=to_datetime(now - SETTLE_GRACE_MS))
        .exclude(status=Game.Status.STARTED)
        .order_by("finished_at")
        .values_list("id", flat=True)[:LIMIT]
    )
    for game_id in unsettled:
        _guarded(partial(_settle, now=now), game_id)
    _ask_again(lost)
    announce_round(now)
    return Swept(len(woken), len(unsettled))


def _give_outages() -> None:
    """Give what outages have cost to some of the games that were being played; the next round goes on."""
    for outage in outages.unfinished():
        game_ids = outages.next_games(outage)
        away = outages.Away(outage.pk, outage.began, outage.ended)
        for game_id in game_ids:
            _guarded(partial(_give, away=away), game_id)
        outages.looked_at(outage, game_ids)


def _give(game_id: str, away: outages.Away) -> None:
    database.wait(give_time(game_id=game_id, outage=away))


def _guarded_player(work: Callable[[int], None], player_id: int) -> None:
    try:
        work(player_id)
    except Exception:
        logger.exception("sweep_failed", player=player_id)


def _guarded(work: Callable[[str], None], game_id: str) -> bool:
    try:
        work(game_id)
    except Exception:
        logger.exception("sweep_failed", game=game_id)
        return False
    return True


def _wake(
    game_id: str, was: int | None, now: int, lost: list[tuple[st.GameState, Seating]]
) -> None:
    """End the turn if its time is up; note a CPU that should have moved; say when to look next."""
    try:
        database.wait(check_clock(game_id=game_id))
    except UnavailableError:
        return  # the service may have been away: the next round knows
    state, seating = selectors.load_state(game_id), selectors.seating(game_id)
    if state.is_over:
        return
    call(state, seating, now)
    # Only if nobody has moved meanwhile: that move may have wanted an earlier look.
    Game.objects.filter(id=game_id, wake_at=was, version=state.version).update(
        wake_at=wake_at(state, seating, now)
    )
    if not seating.level_to_move(state):
        return
    if now - (state.clock.since or now) >= CPU_LIMIT_MS:
        if play_fallback(state, seating):
            logger.warning("moved_for_cpu", game=game_id, ply=state.ply)
    else:
        lost.append((state, seating))


def _ask_again(lost: list[tuple[st.GameState, Seating]]) -> None:
    """Ask for the moves of CPUs, after everything else: a queue that hangs must not hold up the clocks."""
    began = time.monotonic()
    for state, seating in lost:
        if time.monotonic() - began > ASKING_SECONDS:
            logger.warning("cpu_moves_not_asked_for", reason="the queue is slow; later rounds ask")
            return
        announce(state, seating)


def _settle(game_id: str, now: int) -> None:
    if settle(game_id=game_id, now=now):
        logger.info("settled_by_sweeper", game=game_id)
