"""A run's row, locked, and the one way of writing to it: the new state and its event, in the caller's transaction.

Lock order, here and everywhere: the run's row, the day's row, the player's best, the player's scores; several runs by
player id.
"""

from datetime import date, datetime

import msgspec
from django.db import transaction
from django.db.models import Q
from msgspec import Struct

from common import database, streams
from common.clock import to_datetime
from common.ids import is_id
from common.streams import Note
from games.puzzle import events as ev
from games.puzzle import rules
from games.puzzle.errors import UnknownRunError
from games.puzzle.models import Run
from games.puzzle.selectors import stream_of

HELD = "id, player_id, key, date, counted, status, revealed, turn, version, state, seed, started_at"

HOLD = f"SELECT {HELD} FROM puzzle_run WHERE id = %s AND player_id = %s FOR NO KEY UPDATE"  # noqa: S608

# Nobody else writes to a run whose row is locked, so its next version is free.
WRITE = """
WITH changed AS (
    UPDATE puzzle_run
    SET state = %s, turn = %s, version = %s, status = %s, finished_at = %s, score = %s, placements = %s, squares = %s,
        lines = %s, largest_clear = %s, longest_streak = %s
    WHERE id = %s
    RETURNING id, version
)
INSERT INTO puzzle_runevent (run_id, version, at, payload) SELECT id, version, %s, %s FROM changed
"""

REVEAL = """
WITH changed AS (
    UPDATE puzzle_run SET revealed = true, version = %s WHERE id = %s RETURNING id, version
)
INSERT INTO puzzle_runevent (run_id, version, at, payload) SELECT id, version, %s, %s FROM changed
"""


class Held(Struct, frozen=True):
    """A run whose row this transaction has locked. No `repr` shows its seed."""

    id: str
    player_id: int
    key: str
    date: date | None
    counted: bool
    status: str
    revealed: bool
    turn: int
    version: int
    state: str
    seed: bytes
    started_at: datetime

    def __repr__(self) -> str:
        return f"Held({self.id!r}, version={self.version})"

    @property
    def run(self) -> rules.Run:
        """The run as the rules know it."""
        return rules.load(msgspec.json.decode(self.state))

    @property
    def kept_best(self) -> bool:
        """Whether its score is kept among the player's bests: practice of a daily puzzle counts for nothing."""
        return self.date is None or self.counted


def hold(run_id: str, player_id: int) -> Held:
    """Lock a run of this player to the end of the transaction. Raises `UnknownRunError`."""
    found = database.prepared(HOLD, [run_id, player_id]) if is_id(run_id) else []
    if not found:
        raise UnknownRunError
    return Held(*found[0])


def kept(run: rules.Run) -> str:
    """The text that a run's row keeps of it."""
    return msgspec.json.encode(rules.dump(run)).decode()


def write(
    held: Held,
    run: rules.Run,
    event: ev.AnyEvent,
    *,
    status: str,
    at: int,
    finished_at: int | None = None,
) -> Note:
    """Write what the run is now, with its event; publish it when the transaction commits."""
    figures = run.statistics
    note = Note(stream_of(held.id), held.version + 1, at, ev.encode(event))
    database.prepared(
        WRITE,
        [
            kept(run),
            run.turn,
            note.version,
            status,
            None if finished_at is None else to_datetime(finished_at),
            run.score,
            figures.placements,
            figures.squares,
            figures.lines,
            figures.largest_clear,
            figures.longest_streak,
            held.id,
            note.at,
            note.payload,
        ],
    )
    transaction.on_commit(lambda: streams.publish([note]))
    return note


def reveal(held: Held, *, version: int, at: int) -> None:
    """Make the seed of a run that has ended public: its last event, after the one with this version."""
    note = Note(stream_of(held.id), version + 1, at, ev.encode(ev.SeedRevealed(held.seed.hex())))
    database.prepared(REVEAL, [note.version, held.id, note.at, note.payload])
    transaction.on_commit(lambda: streams.publish([note]))


def hold_unrevealed(where: Q, *, skip_locked: bool = False, limit: int | None = None) -> list[Held]:
    """Lock runs that may still change and fulfil the condition; by player."""
    rows = Run.objects.filter(where, revealed=False).order_by("player_id", "id")
    locked = rows.select_for_update(no_key=True, skip_locked=skip_locked)[:limit]
    return [
        Held(
            id=row.id,
            player_id=row.player_id,
            key=row.key,
            date=row.daily_id,
            counted=row.counted,
            status=row.status,
            revealed=row.revealed,
            turn=row.turn,
            version=row.version,
            state=row.state,
            seed=bytes(row.seed),
            started_at=row.started_at,
        )
        for row in locked
    ]
