"""Reading runs, days and bests. Nothing here changes anything."""

from collections.abc import Collection
from datetime import date, datetime

import msgspec
from django.db.models import Q

from accounts import selectors as accounts
from common import database, streams
from common.clock import from_datetime, rfc3339
from common.ids import is_id
from common.streams import Note
from games.puzzle import events as ev
from games.puzzle import rules
from games.puzzle.errors import RunNotOverError, UnknownRunError
from games.puzzle.models import Best, Daily, Run
from games.puzzle.record import record_of
from games.puzzle.snapshot import Snapshot, rules_of, state_of

PREFIX = "run"
MAX_VERSION = 2**31 - 1

EVENTS_AFTER = """
SELECT version, at, payload FROM puzzle_runevent WHERE run_id = %s AND version > %s AND version <= %s ORDER BY version
"""


def stream_of(run_id: str) -> str:
    """The name of a run's stream."""
    return f"{PREFIX}:{run_id}"


def all_time_board(key: str) -> str:
    """The leaderboard of all runs of these rules."""
    return f"puzzle:{key}"


def daily_board(day: date) -> str:
    """The leaderboard of a daily puzzle."""
    return f"daily:{day.isoformat()}"


class RunStreams:
    """The streams of runs, for the feed. Only a run's player may follow it: see `is_mine`."""

    def events_after(self, stream: str, cursor: int) -> list[Note]:
        return notes_after(stream.partition(":")[2], cursor)

    def versions(self, streams: Collection[str]) -> dict[str, int]:
        ids = [run_id for stream in streams if is_id(run_id := stream.partition(":")[2])]
        rows = Run.objects.filter(id__in=ids).values_list("id", "version")
        return {stream_of(run_id): version for run_id, version in rows}


def register_streams() -> None:
    streams.register(PREFIX, RunStreams())


def notes_after(run_id: str, cursor: int, last: int = MAX_VERSION) -> list[Note]:
    """The events of a run after a version, up to `last`, in order; none for a run that does not exist."""
    if not is_id(run_id):
        return []
    rows = database.prepared(EVENTS_AFTER, [run_id, min(cursor, MAX_VERSION), last])
    return [Note(stream_of(run_id), *row) for row in rows]


def run_of(run_id: str, player_id: int) -> Run:
    """A player's own run. Raises `UnknownRunError`, for those of others too."""
    run = Run.objects.filter(id=run_id, player_id=player_id).first() if is_id(run_id) else None
    if run is None:
        raise UnknownRunError
    return run


def run_to_show(run_id: str, player_id: int | None) -> Run:
    """A run for its record or picture: the player's own, or anybody's that is revealed.

    Raises `UnknownRunError`, `RunNotOverError`.
    """
    run = Run.objects.filter(id=run_id).first() if is_id(run_id) else None
    if run is None:
        raise UnknownRunError
    if run.player_id != player_id and not run.revealed:
        raise RunNotOverError
    return run


def state_of_row(run: Run) -> rules.Run:
    """The run as the rules know it."""
    return rules.load(msgspec.json.decode(run.state))


def running_at(run_id: str, turn: int) -> rules.Run | None:
    """A run as the rules know it, if it is running and at this turn."""
    run = Run.objects.filter(id=run_id, turn=turn, status=Run.Status.RUNNING).first()
    return None if run is None else state_of_row(run)


def snapshot_of(run: Run) -> Snapshot:
    """A run as its player gets it."""
    state = state_of_row(run)
    return Snapshot(
        run=run.id,
        version=run.version,
        player=accounts.players_by_id([run.player_id])[run.player_id].name,
        rules=rules_of(state.rules),
        date=None if run.daily_id is None else run.daily_id.isoformat(),
        counted=run.counted,
        generator=rules.GENERATOR,
        seed_hash=run.seed_hash,
        status=run.status,  # type: ignore[arg-type]  # the column has these choices
        started_at=rfc3339(from_datetime(run.started_at)),
        state=state_of(state),
        end=None if run.status == Run.Status.RUNNING else _end_of(run),
        seed=bytes(run.seed).hex() if run.revealed else None,
    )


def _end_of(run: Run) -> ev.EndData | None:
    """What the event said that ended the run: the last one, or the one before the seed was revealed."""
    version = run.version - run.revealed
    (note,) = notes_after(run.id, version - 1, version)
    event = ev.decode(note.payload)
    assert isinstance(event, ev.BlockPlaced | ev.RunEnded), f"{run.id} has ended by {note.payload}"
    return event.end


def load_snapshot(run_id: str) -> Snapshot:
    """A run as its player gets it, for whoever knows that it is the player's."""
    return snapshot_of(Run.objects.get(id=run_id))


def is_mine(run_id: str, player_id: int) -> bool:
    """Whether this is a run of the player."""
    return is_id(run_id) and Run.objects.filter(id=run_id, player_id=player_id).exists()


def runs_of(
    player_id: int,
    *,
    status: str | None = None,
    before: tuple[datetime, str] | None = None,
    limit: int = 50,
) -> list[Run]:
    """A player's runs, the newest first; `before` is the start and the id of the last one of the page before."""
    rows = Run.objects.filter(player_id=player_id)
    if status is not None:
        rows = rows.filter(status=status)
    if before is not None:
        started_at, run_id = before
        rows = rows.filter(
            Q(started_at__lt=started_at) | Q(started_at=started_at, id__lt=run_id),
            started_at__lte=started_at,
        )
    return list(rows.defer("seed", "state").order_by("-started_at", "-id")[:limit])


def bests_of(player_id: int) -> list[Best]:
    """A player's bests, by key: at most one for each of the rules that there are."""
    return list(Best.objects.filter(player_id=player_id).order_by("key"))


def attempt_at(day: date, player_id: int) -> str | None:
    """The id of the player's counted attempt at a day's puzzle."""
    mine = Run.objects.filter(player_id=player_id, daily_id=day, counted=True)
    return mine.values_list("id", flat=True).first()


def seed_of(daily: Daily) -> str | None:
    """The seed of a day that is closed, in hex."""
    return None if daily.closed_at is None else bytes(daily.seed).hex()


def load_record(run: Run) -> rules.Record:
    """The record of a run, with the seed if that is revealed; the result is what is so at this moment."""
    notes = notes_after(run.id, 0, run.version)
    return record_of(
        (ev.decode(note.payload) for note in notes),
        state_of_row(run),
        status=run.status,
        day=run.daily_id,
        seed=bytes(run.seed) if run.revealed else None,
    )
