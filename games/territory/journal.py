"""The only way into a game: compare-and-swap on its version, many games in one commit.

The database alone decides who was first. `append` commits a batch with one statement; `Writer` gathers what a process
wants to commit while the previous commit is under way. See docs/adr/0003-journal.md for the measured alternatives.
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Sequence
from functools import cache
from queue import SimpleQueue

from django.db import Error
from msgspec import Struct

from common import database
from common.streams import Note

logger = logging.getLogger(__name__)

SEPARATOR = "\x1e"
MAX_BATCH = 256
"""Entries in one commit; a bound on how long the last of them waits for its own."""


class NotKeptError(Exception):
    """The database did not take an entry, or did not say whether it has."""


class Ending(Struct, frozen=True):
    """What the game's row learns when it ends."""

    status: str
    termination: str


class Entry(Struct, frozen=True):
    """The next events of one game. They are written only if the game is still at version `expected`.

    `wake_at` brings forward the instant at which the sweeper looks: for a CPU's turn that may get lost.
    `reopens`: the game was over, and its one event takes moves back, so that it goes on.
    """

    game: str
    expected: int
    notes: Sequence[Note]
    ending: Ending | None = None
    wake_at: int | None = None
    reopens: bool = False


# The batch is sorted by id, so that two batches lock rows in the same order; should the planner choose another one and
# two of them meet, the one that PostgreSQL ends as a deadlock is written again, entry by entry.
#
# Columns come as one text each, joined by a character that no JSON text contains: psycopg takes 40 µs of Python for an
# entry of lists, and 3 µs for this.
APPEND = """
WITH moved AS (
    UPDATE territory_game g
    SET version = b.version,
        status = coalesce(b.status, g.status),
        termination = coalesce(b.termination, g.termination),
        finished_at = coalesce(to_timestamp(b.ended / 1000.0), g.finished_at),
        wake_at = least(g.wake_at, b.wake_at)
    FROM unnest(
        string_to_array(%s, chr(30)),
        string_to_array(%s, chr(30))::int[],
        string_to_array(%s, chr(30))::int[],
        string_to_array(%s, chr(30), ''),
        string_to_array(%s, chr(30), ''),
        string_to_array(%s, chr(30), '')::bigint[],
        string_to_array(%s, chr(30), '')::bigint[]
    ) AS b(id, expected, version, status, termination, ended, wake_at)
    WHERE g.id = b.id AND g.version = b.expected
    RETURNING g.id
), written AS (
    INSERT INTO territory_event (game_id, version, at, payload)
    SELECT e.id, e.version, e.at, e.payload
    FROM unnest(
        string_to_array(%s, chr(30)),
        string_to_array(%s, chr(30))::int[],
        string_to_array(%s, chr(30))::bigint[],
        string_to_array(%s, chr(30))
    ) AS e(id, version, at, payload)
    JOIN moved USING (id)
)
SELECT id FROM moved
"""


# A game that goes on has no end and no results. It may be settled at the same moment: whichever of the two gets the
# row's lock second sees what the first has done.
REOPEN = """
WITH moved AS (
    UPDATE territory_game
    SET version = %s, status = 'started', termination = '', finished_at = NULL, settled_at = NULL,
        wake_at = least(wake_at, %s)
    WHERE id = %s AND version = %s
    RETURNING id
), cleared AS (
    UPDATE territory_seat s SET points = NULL, rank = NULL FROM moved WHERE s.game_id = moved.id
), uncounted AS (
    UPDATE territory_playergame p SET result = 'open', points = NULL, perfect = false, ended_at = NULL
    FROM moved WHERE p.game_id = moved.id
    RETURNING p.player_id, p.variant, p.key
), doubted AS (
    UPDATE territory_statistic s SET stale = true FROM uncounted u
    WHERE s.player_id = u.player_id AND s.key IN (u.variant, u.key)
), written AS (
    INSERT INTO territory_event (game_id, version, at, payload) SELECT id, %s, %s, %s FROM moved
)
SELECT id FROM moved
"""


def append(entries: Sequence[Entry]) -> set[str]:
    """Commit the entries and return the games that accepted theirs; the others were at another version.

    A batch names each game once. One that goes on after its end has a commit of its own.
    """
    reopened = {entry.game for entry in entries if entry.reopens and _reopen(entry)}
    entries = sorted((e for e in entries if not e.reopens), key=lambda entry: entry.game)
    if not entries:
        return reopened
    notes = [(entry.game, note) for entry in entries for note in entry.notes]
    columns = (
        [entry.game for entry in entries],
        [str(entry.expected) for entry in entries],
        [str(entry.notes[-1].version) for entry in entries],
        [entry.ending.status if entry.ending else "" for entry in entries],
        [entry.ending.termination if entry.ending else "" for entry in entries],
        [str(entry.notes[-1].at) if entry.ending else "" for entry in entries],
        [str(entry.wake_at or "") for entry in entries],
        [game for game, _ in notes],
        [str(note.version) for _, note in notes],
        [str(note.at) for _, note in notes],
        [note.payload for _, note in notes],
    )
    accepted = database.prepared(APPEND, [SEPARATOR.join(column) for column in columns])
    return reopened | {game for (game,) in accepted}


def _reopen(entry: Entry) -> bool:
    (note,) = entry.notes
    parameters = [note.version, entry.wake_at, entry.game, entry.expected]
    parameters += [note.version, note.at, note.payload]
    return bool(database.prepared(REOPEN, parameters))


class _Wish(Struct, frozen=True):
    entry: Entry
    loop: asyncio.AbstractEventLoop
    answer: "asyncio.Future[bool]"


class Writer:
    """Group commit: one thread per process that commits whatever has gathered, and tells each waiter."""

    def __init__(self) -> None:
        self._wishes: SimpleQueue[_Wish] = SimpleQueue()
        threading.Thread(target=self._run, name="journal", daemon=True).start()

    async def write(self, entry: Entry) -> bool:
        """Commit one entry together with others. False: the game was at another version, nothing was written.

        Raises `NotKeptError` when the database did not answer; then it is unknown what was written.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[bool] = loop.create_future()
        self._wishes.put(_Wish(entry, loop, answer))
        return await answer

    def _run(self) -> None:
        while True:
            batch = {(wish := self._wishes.get()).entry.game: wish}
            later: list[_Wish] = []
            while not self._wishes.empty() and len(batch) < MAX_BATCH:
                wish = self._wishes.get()
                if batch.setdefault(wish.entry.game, wish) is not wish:
                    later.append(wish)
            self._commit(list(batch.values()))
            for wish in later:
                self._commit([wish])

    def _commit(self, wishes: list[_Wish], *, again: bool = True) -> None:
        answers: list[tuple[_Wish, bool | NotKeptError]]
        try:
            accepted = append([wish.entry for wish in wishes])
            answers = [(wish, wish.entry.game in accepted) for wish in wishes]
        except Exception as error:  # noqa: BLE001  # this thread has to outlive everything
            database.drop_dead_connections()
            if again and not isinstance(error, Error):
                # The connection was lost, or one entry is the cause: let each stand for itself, once more. Trying
                # twice is safe, for the version decides. (An error of Django's own: there is no connection to be had.)
                for wish in wishes:
                    self._commit([wish], again=False)
                return
            logger.warning("journal: %s", error)
            failure = NotKeptError(str(error))
            answers = [(wish, failure) for wish in wishes]
        for loop in {wish.loop for wish in wishes}:
            mine = [(wish, answer) for wish, answer in answers if wish.loop is loop]
            with contextlib.suppress(RuntimeError):  # whoever waited is gone with the whole loop
                loop.call_soon_threadsafe(_tell, mine)


def _tell(answers: list[tuple[_Wish, bool | NotKeptError]]) -> None:
    for wish, answer in answers:
        if wish.answer.done():  # whoever waited was cancelled
            continue
        if isinstance(answer, NotKeptError):
            wish.answer.set_exception(answer)
        else:
            wish.answer.set_result(answer)


@cache
def writer() -> Writer:
    """The process's writer, started when it is first needed (after any fork)."""
    return Writer()
