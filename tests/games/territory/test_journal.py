"""The one way into a game: the version decides, many games share a commit, and nobody suffers for another's entry."""

import asyncio
import json
import threading
from collections.abc import Sequence

import pytest
from django.db import connection

from common.streams import Note
from games.territory import journal, selectors
from games.territory.journal import Ending, Entry
from games.territory.models import Event, Game
from tests.games.territory.tables import at_once, registered, rows, started

pytestmark = pytest.mark.django_db(transaction=True)
AT = 1_800_000_000_000


def entry(
    game: str, expected: int, *payloads: str, ending: Ending | None = None, by: int = 0
) -> Entry:
    """The next events of a game; any text is an event to the journal."""
    texts = payloads or (json.dumps({"by": by}),)
    notes = [Note(f"game:{game}", expected + 1 + i, AT + i, text) for i, text in enumerate(texts)]
    return Entry(game, expected, notes, ending)


@pytest.fixture
def games() -> list[str]:
    """Twelve games at version 1."""
    return [started(registered(2, f"P{number}x")) for number in range(12)]


def payloads(game: str) -> list[str]:
    return [note.payload for note in selectors.notes_after(game, 1)]


# One batch


def test_an_entry_is_written_if_the_version_is_the_expected_one(games: list[str]) -> None:
    game = games[0]
    assert journal.append([entry(game, 1, '{"a":1}', '{"b":"é☃"}')]) == {game}
    assert payloads(game) == ['{"a":1}', '{"b":"é☃"}']
    assert list(Event.objects.filter(game=game).values_list("version", "at"))[1:] == [
        (2, AT),
        (3, AT + 1),
    ]
    row = Game.objects.get(id=game)
    assert (row.version, row.status, row.termination, row.finished_at) == (3, "started", "", None)


@pytest.mark.parametrize("expected", [0, 1, 3, 1_000_000])
def test_any_other_version_is_refused_and_nothing_is_written(
    games: list[str], expected: int
) -> None:
    game = games[0]
    journal.append([entry(game, 1)])
    assert journal.append([entry(game, expected, '{"x":1}')]) == set()
    assert payloads(game) == ['{"by": 0}']
    assert Game.objects.get(id=game).version == 2


def test_a_game_that_does_not_exist_is_refused() -> None:
    assert journal.append([entry("NoSuchGame00", 0)]) == set()
    assert not Event.objects.exists()


def test_an_ending_is_written_with_the_events(games: list[str]) -> None:
    game, other = games[:2]
    journal.append(
        [entry(game, 1, '{"end":1}', ending=Ending("finished", "timeout")), entry(other, 1)]
    )
    row = Game.objects.get(id=game)
    assert (row.status, row.termination) == ("finished", "timeout")
    assert row.finished_at is not None
    assert row.finished_at.timestamp() * 1000 == AT
    assert Game.objects.get(id=other).status == "started"


def test_in_a_batch_each_game_stands_for_itself(games: list[str]) -> None:
    for stale in games[::3]:
        journal.append([entry(stale, 1, '{"first":1}')])
    accepted = journal.append([entry(game, 1, '{"batch":1}', '{"batch":2}') for game in games])
    assert accepted == set(games) - set(games[::3])
    for game in games:
        expected = ['{"first":1}'] if game in games[::3] else ['{"batch":1}', '{"batch":2}']
        assert payloads(game) == expected
        assert Game.objects.get(id=game).version == 1 + len(expected)


def test_a_batch_is_one_transaction(games: list[str]) -> None:
    journal.append([entry(game, 1) for game in games])
    written = rows("SELECT DISTINCT xmin::text FROM territory_event WHERE version = 2")
    moved = rows("SELECT DISTINCT xmin::text FROM territory_game")
    assert len(written) == 1
    assert written == moved


def test_two_batches_in_opposite_orders_do_not_block_each_other(games: list[str]) -> None:
    def race(number: int) -> set[str]:
        order = games if number % 2 else games[::-1]
        won = set()
        for version in range(1, 21):
            batch = [entry(game, version, by=number) for game in order]
            won |= {f"{game}:{version}" for game in journal.append(batch)}
        return won

    results = [result for result in at_once(2, race) if isinstance(result, set)]
    assert len(results) == 2, "a deadlock"
    assert not results[0] & results[1]
    for game in games:
        versions = [note.version for note in selectors.notes_after(game, 0)]
        assert versions == list(range(1, len(versions) + 1))


# Races


def test_of_twenty_threads_exactly_one_wins(games: list[str]) -> None:
    game = games[0]
    for version in (1, 2, 3):

        def race(number: int, version: int = version) -> set[str]:
            return journal.append([entry(game, version, by=number)])

        results = at_once(20, race)
        assert not [result for result in results if isinstance(result, BaseException)]
        winners = [number for number, accepted in enumerate(results) if accepted == {game}]
        assert len(winners) == 1
        assert json.loads(payloads(game)[-1]) == {"by": winners[0]}
        assert len(payloads(game)) == version


def write(entries: Sequence[Entry], writer: journal.Writer | None = None) -> list[object]:
    """What the writer answers to entries that are wished for at the same time."""
    writer = writer or journal.writer()

    async def all_of_them() -> list[object]:
        wishes = (writer.write(wish) for wish in entries)
        return list(await asyncio.wait_for(asyncio.gather(*wishes, return_exceptions=True), 20))

    return asyncio.run(all_of_them())


def test_of_twenty_wishes_exactly_one_is_granted(games: list[str]) -> None:
    answers = write([entry(games[0], 1, by=number) for number in range(20)])
    assert answers.count(True) == 1
    assert answers.count(False) == 19
    assert [json.loads(text) for text in payloads(games[0])] == [{"by": answers.index(True)}]


def retire(writer: journal.Writer) -> None:
    """Have a writer give its connection back, as it does after an error; the thread itself sleeps for ever."""
    write([entry("NoSuchGame00", 0, POISON["nul"])], writer)


def test_two_processes_race_for_every_version(games: list[str]) -> None:
    """Two writers, as two processes have them, and wishes for several games at every version."""
    writers = [journal.Writer(), journal.Writer()]
    won: list[list[object]] = [[], []]

    def race(number: int) -> None:
        for version in range(1, 16):
            won[number] += write(
                [entry(game, version, by=number) for game in games[:6]], writers[number]
            )

    assert at_once(2, race) == [None, None]
    for writer in writers:
        retire(writer)
    total = sum(answers.count(True) for answers in won)
    assert total == Event.objects.filter(version__gt=1).count()
    for game in games[:6]:
        versions = [note.version for note in selectors.notes_after(game, 0)]
        assert versions == list(range(1, len(versions) + 1))


def test_wishes_that_gather_share_a_commit(games: list[str]) -> None:
    """While one commit is held up, what comes meanwhile is written by the next one."""
    held, free = threading.Event(), threading.Event()

    def hold(_: int) -> None:
        from django.db import transaction

        with transaction.atomic():
            Game.objects.select_for_update().get(id=games[0])
            held.set()
            assert free.wait(20)

    holder = threading.Thread(target=at_once, args=(1, hold))
    holder.start()
    assert held.wait(20)

    async def wishes() -> list[bool]:
        first = asyncio.ensure_future(journal.writer().write(entry(games[0], 1)))
        await asyncio.to_thread(_until_somebody_waits_for_a_lock)
        rest = [asyncio.ensure_future(journal.writer().write(entry(game, 1))) for game in games[1:]]
        await asyncio.sleep(0)
        free.set()
        return list(await asyncio.wait_for(asyncio.gather(first, *rest), 20))

    assert all(asyncio.run(wishes()))
    holder.join()
    transactions = rows("SELECT DISTINCT xmin::text FROM territory_event WHERE version = 2")
    assert len(transactions) == 2


def _until_somebody_waits_for_a_lock() -> None:
    try:
        while rows("SELECT count(*) FROM pg_locks WHERE NOT granted") == [(0,)]:
            pass
    finally:
        connection.close()


# Faults


POISON = {
    "nul": "a\x00b",
    "surrogate": "\ud800",
}


@pytest.mark.parametrize("kind", POISON)
def test_a_poisonous_entry_hurts_nobody_else(games: list[str], kind: str) -> None:
    bad, good = games[5], [game for game in games if game != games[5]]
    entries = [entry(game, 1, POISON[kind] if game == bad else '{"good":1}') for game in games]
    answers = dict(zip(games, write(entries), strict=True))
    assert isinstance(answers[bad], Exception)
    assert [answers[game] for game in good] == [True] * len(good)
    assert payloads(bad) == []
    assert write([entry(bad, 1, '{"after":1}')]) == [True], "the writer lives on"


def test_an_event_that_exists_already_is_an_error_of_its_game_only(games: list[str]) -> None:
    Event.objects.create(game_id=games[0], version=2, at=AT, payload="{}")
    answers = write([entry(game, 1) for game in games[:3]])
    assert isinstance(answers[0], Exception)
    assert answers[1:] == [True, True]
    assert Game.objects.get(id=games[0]).version == 1


def test_a_killed_connection_is_survived(games: list[str]) -> None:
    assert write([entry(games[0], 1)]) == [True]
    rows(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    connection.close()
    assert write([entry(game, 1) for game in games[1:4]]) == [True] * 3
    for game in games[:4]:
        assert payloads(game) == ['{"by": 0}']


def test_no_connection_to_be_had_is_an_answer_and_not_the_end(games: list[str]) -> None:
    """PostgreSQL refuses everybody for a while: the writer says so and goes on afterwards."""
    name = connection.settings_dict["NAME"]
    writer = journal.Writer()
    rows("SELECT 1")
    with _no_connections(name):
        answers = write([entry(games[0], 1)], writer)
        assert isinstance(answers[0], Exception)
    assert write([entry(games[0], 1)], writer) == [True]
    retire(writer)


class _no_connections:  # noqa: N801  # it reads like a function
    """The database takes nobody, and nobody keeps a connection; waiting for one of the pool is cut short."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        import psycopg

        from tests.support import services

        postgres = services.running().postgres
        assert postgres is not None
        connection.close()
        pool = connection.pool  # type: ignore[attr-defined]
        assert pool is not None
        self._pool, self._timeout = pool, pool.timeout
        pool.timeout = 0.3
        self._outside = psycopg.connect(postgres.url("postgres"), autocommit=True)
        self._allow(False)
        self._outside.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
            [self._name],
        )
        self._pool.check()  # what lies idle in the pool is dead, and goes

    def __exit__(self, *details: object) -> None:
        self._allow(True)
        self._outside.close()
        self._pool.timeout = self._timeout
        self._pool.check()

    def _allow(self, allow: bool) -> None:
        self._outside.execute(f'ALTER DATABASE "{self._name}" ALLOW_CONNECTIONS {allow}'.encode())


# What it costs


def test_moves_stay_on_their_page(games: list[str]) -> None:
    """HOT: no index knows of a move, so that the row's new version needs no new index entries."""
    rows("SELECT pg_stat_force_next_flush()")
    before = _updates()
    for version in range(1, 11):
        assert len(journal.append([entry(game, version) for game in games])) == len(games)
    rows("SELECT pg_stat_force_next_flush()")
    connection.close()
    total, hot = (after - was for after, was in zip(_updates(), before, strict=True))
    assert total == 10 * len(games)
    assert hot >= 0.8 * total


def _updates() -> tuple[int, int]:
    rows("SELECT pg_stat_clear_snapshot()")
    ((total, hot),) = rows(
        "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'territory_game'"
    )
    assert isinstance(total, int)
    assert isinstance(hot, int)
    return total, hot
