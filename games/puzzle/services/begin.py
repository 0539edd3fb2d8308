"""Starting a run: one running run of each rules, one counted attempt at each daily puzzle."""

import secrets
from collections.abc import Callable
from datetime import date

from django.db import IntegrityError, transaction
from django.db.models import Q

from accounts import selectors as accounts
from accounts.selectors.sanctions import require_may_play
from common import streams
from common.clock import now_ms, to_datetime
from common.errors import UnavailableError
from common.ids import new_id
from common.streams import Note
from games.puzzle import events as ev
from games.puzzle import rules
from games.puzzle.models import Daily, Run, RunEvent
from games.puzzle.selectors import stream_of
from games.puzzle.services import days
from games.puzzle.services.finish import finish_run
from games.puzzle.services.rows import hold_unrevealed, kept, reveal
from games.puzzle.snapshot import rules_of, state_of

ATTEMPTS = 5
"""How often a start is tried again because another one of the same player came first."""


def start_run(
    *,
    player_id: int,
    chosen: rules.Rules,
    seed: bytes | None = None,
    clock: Callable[[], int] = now_ms,
) -> str:
    """Start a run and return its id. One with the same rules that is still running is abandoned.

    Raises `BannedError`, as the others here do; runs that are there already may be played to their end.
    """
    seed = secrets.token_bytes(rules.SEED_BYTES) if seed is None else seed
    return _start(player_id, chosen, seed, None, clock)


def practise_daily(*, player_id: int, day: date, clock: Callable[[], int] = now_ms) -> str:
    """Start a run of a past day's puzzle, which counts for nothing, and return its id.

    Raises `UnknownDailyError`, `DailyOpenError`.
    """
    published = days.publish_day(day=day, now=clock())
    days.close(day=published, now=clock())
    return _start(player_id, rules.DAILY, bytes(published.seed), published, clock)


def play_daily(*, player_id: int, day: date, clock: Callable[[], int] = now_ms) -> tuple[str, bool]:
    """The id of the player's one attempt at the puzzle of an open day, and whether it was started just now.

    Raises `UnknownDailyError`, `DailyClosedError`.
    """
    published = days.publish_day(day=day, now=clock())
    with transaction.atomic():
        now = days.keep_open(day, clock)
        attempts = Run.objects.filter(player_id=player_id, daily=published, counted=True)
        for _ in range(ATTEMPTS):
            if (run_id := attempts.values_list("id", flat=True).first()) is not None:
                return run_id, False
            require_may_play([player_id], now)
            try:
                with transaction.atomic():
                    seed = bytes(published.seed)
                    run_id = _insert(player_id, rules.DAILY, seed, published, now, counted=True)
                    return run_id, True
            except IntegrityError:  # another device was first
                continue
    raise UnavailableError("Other requests kept coming first; send it again.")


def _start(
    player_id: int,
    chosen: rules.Rules,
    seed: bytes,
    daily: Daily | None,
    clock: Callable[[], int],
) -> str:
    for _ in range(ATTEMPTS):
        try:
            with transaction.atomic():
                require_may_play(
                    [player_id], clock()
                )  # before the running one is abandoned for nothing
                now = _leave(player_id, chosen.key, daily, clock)
                return _insert(player_id, chosen, seed, daily, now, counted=False)
        except IntegrityError:  # another start was first, and is abandoned in its turn
            continue
    raise UnavailableError("Other requests kept coming first; send it again.")


def _leave(player_id: int, key: str, daily: Daily | None, clock: Callable[[], int]) -> int:
    """Abandon the run of these rules that is running, and make the end of one that is over final; and the instant."""
    same = hold_unrevealed(Q(player_id=player_id, key=key, daily=daily, counted=False))
    now = clock()
    for held in same:
        if held.status == Run.Status.OVER:
            reveal(held, version=held.version, at=now)
            continue
        finish_run(
            held,
            held.run,
            reason="abandoned",
            status=Run.Status.ABANDONED,
            event_of=ev.RunEnded,
            at=now,
            finished_at=now,
            final=True,
        )
    return now


def _insert(
    player_id: int,
    chosen: rules.Rules,
    seed: bytes,
    daily: Daily | None,
    now: int,
    *,
    counted: bool,
) -> str:
    run_id, run = new_id(), rules.start(chosen, seed)
    started = ev.RunStarted(
        run=run_id,
        player=accounts.players_by_id([player_id])[player_id].name,
        rules=rules_of(chosen),
        date=None if daily is None else daily.date.isoformat(),
        counted=counted,
        generator=rules.GENERATOR,
        seed_hash=rules.seed_hash(seed),
        state=state_of(run),
    )
    note = Note(stream_of(run_id), 1, now, ev.encode(started))
    Run.objects.create(
        id=run_id,
        player_id=player_id,
        key=chosen.key,
        level=chosen.level,
        board=chosen.board.key,
        daily=daily,
        counted=counted,
        seed=seed,
        seed_hash=started.seed_hash,
        state=kept(run),
        version=note.version,
        started_at=to_datetime(now),
    )
    RunEvent.objects.create(run_id=run_id, version=1, at=now, payload=note.payload)
    transaction.on_commit(lambda: streams.publish([note]))
    return run_id
