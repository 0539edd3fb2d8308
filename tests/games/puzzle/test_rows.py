"""How runs are kept: placements stay on their page, and cost as many queries late as early."""

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from benchmarks.lib.placements import LONG, played, wish
from common import database, streams
from games.puzzle.models import Run
from games.puzzle.services import play, rows
from games.puzzle.services.rows import Held
from tests.games.puzzle.tables import SEED, placed, registered, started

pytestmark = pytest.mark.django_db(transaction=True)


def test_placements_stay_on_their_page() -> None:
    """HOT: no index knows of a placement, so that the row's new version needs no new index entries."""
    wishes = [wish(sample) for sample in played(LONG, SEED, 10)]
    runs = [(player, started(player, LONG)) for player in registered(20)]
    before = _updates()
    for player, run in runs:
        for each in wishes:
            play.place(run_id=run, player_id=player, **each)
    total, hot = (after - was for after, was in zip(_updates(), before, strict=True))
    assert total >= 10 * len(runs), "connections of earlier tests may tell of theirs only now"
    assert hot >= 0.8 * total


def _updates() -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'puzzle_run'"
        )
        total, hot = cursor.fetchone()
    return total, hot


def test_a_late_placement_asks_as_much_as_an_early_one(monkeypatch: pytest.MonkeyPatch) -> None:
    (player,) = registered(1)
    run = started(player, LONG)
    asked: list[str] = []
    prepared = database.prepared

    def noted(statement: str, parameters: Any) -> list[tuple[Any, ...]]:
        asked.append(statement)
        return prepared(statement, parameters)

    monkeypatch.setattr(database, "prepared", noted)
    with connection.execute_wrapper(_no_other):
        for sample in played(LONG, SEED, 120):
            asked.clear()
            play.place(run_id=run, player_id=player, **wish(sample))
            assert asked == [rows.HOLD, rows.WRITE]
    assert Run.objects.get().turn == 120


def _no_other(execute: Any, statement: str, *more: Any) -> Any:
    pytest.fail(f"and nothing by the ORM, such as {statement}")


def test_the_database_itself_forbids_a_second_running_run() -> None:
    (player,) = registered(1)
    kept = Run.objects.get(id=started(player))
    kept.id = "Another00000"
    with pytest.raises(IntegrityError, match="run_one_running"), transaction.atomic():
        kept.save(force_insert=True)
    kept.revealed = True
    with pytest.raises(IntegrityError, match="run_hides_its_seed"), transaction.atomic():
        kept.save(force_insert=True)


def test_what_is_locked_shows_no_seed() -> None:
    (player,) = registered(1)
    run = Run.objects.get(id=started(player))
    held = Held(
        id=run.id,
        player_id=player,
        key=run.key,
        date=None,
        counted=False,
        status=run.status,
        revealed=False,
        turn=0,
        version=1,
        state=run.state,
        seed=SEED,
        started_at=run.started_at,
    )
    assert repr(held) == f"Held('{run.id}', version=1)"
    assert SEED.hex() not in repr(run)


def test_the_feed_finds_what_it_missed_in_the_table() -> None:
    (player,) = registered(1)
    run, other = started(player), started(player, LONG)
    placed(run, 3)
    stream = f"run:{run}"
    assert streams.version_of(stream) == 4
    assert [note.version for note in streams.events_after(stream, 2)] == [3, 4]
    assert streams.events_after(stream, 2**40) == []
    ((source, names),) = streams.by_source([stream, f"run:{other}", "run:NoSuchRun000", "run:x"])
    assert source.versions(names) == {stream: 4, f"run:{other}": 1}
    assert streams.events_after("run:x", 0) == streams.events_after("run:NoSuchRun000", 0) == []
