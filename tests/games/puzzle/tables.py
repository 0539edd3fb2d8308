"""Players and runs for the tests of the services, and what is true of every run whatever was done to it."""

import dataclasses
import json
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from django.db import connections

from accounts.models import Player, ScoreEntry
from accounts.services.people import create_guest, create_player
from common.clock import from_datetime, now_ms, rfc3339
from common.streams import Note
from examples.kado_client import fold_run
from games.puzzle import events as ev
from games.puzzle import rules, selectors
from games.puzzle.models import Best, Run, RunEvent
from games.puzzle.rules import Rules
from games.puzzle.services import begin, play

T = TypeVar("T")
Json = dict[str, Any]

EASY = Rules.of("easy", "8x8", "once")
STRICT = Rules.of("hard", "8x8", "off")
"""Runs of it are short: big blocks on a small board, whatever fits."""
FORGIVING = Rules.of("hard", "8x8", "once")
SEED = bytes(range(32))


def registered(count: int, prefix: str = "Player") -> list[int]:
    """The ids of so many new players."""
    return [create_player(name=f"{prefix}{number}").pk for number in range(count)]


def a_guest() -> int:
    return create_guest()[0].pk


def started(
    player: int, chosen: Rules = EASY, *, seed: bytes | None = SEED, now: int | None = None
) -> str:
    """The id of a new run."""
    return begin.start_run(
        player_id=player, chosen=chosen, seed=seed, clock=lambda: now or now_ms()
    )


def at_once(count: int, work: Callable[[int], T]) -> list[T | BaseException]:
    """What `work` gave or raised, in threads that start together, each giving its connection back."""
    barrier = threading.Barrier(count)

    def run(number: int) -> T | BaseException:
        barrier.wait()
        try:
            return work(number)
        except Exception as error:  # noqa: BLE001  # the test looks at it
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def state(run_id: str) -> rules.Run:
    return selectors.state_of_row(Run.objects.get(id=run_id))


def view(run_id: str) -> Json:
    """The snapshot as the player reads it."""
    answer: Json = json.loads(msgspec.json.encode(selectors.load_snapshot(run_id)))
    return answer


def owner(run_id: str) -> int:
    return Run.objects.values_list("player_id", flat=True).get(id=run_id)


def choices(run_id: str) -> list[Json]:
    """The legal placements of a run as arguments of `place`."""
    now = state(run_id)
    return [
        {"turn": now.turn, "slot": each.slot, "rotation": each.rotation, "at": each.at}
        for each in rules.legal(now)
    ]


def place(run_id: str, wish: Json, **more: Any) -> Note:
    """Place a block, by the run's player; what was seen before and the events after it give what is seen then."""
    before = view(run_id)
    note = play.place(run_id=run_id, player_id=owner(run_id), **wish, **more)
    assert_follows(before, run_id)
    return note


def take_back(run_id: str, turn: int, **more: Any) -> Note:
    before = view(run_id)
    note = play.take_back(run_id=run_id, player_id=owner(run_id), turn=turn, **more)
    assert_follows(before, run_id)
    return note


def placed(run_id: str, count: int, chance: random.Random | None = None, **more: Any) -> list[Note]:
    """So many placements by chance, as long as there are any."""
    chance = chance or random.Random(1)
    notes: list[Note] = []
    while len(notes) < count and (legal := choices(run_id)):
        notes.append(place(run_id, chance.choice(legal), **more))
    return notes


def play_out(run_id: str, chance: random.Random | None = None, **more: Any) -> rules.Run:
    """Place by chance to the end."""
    placed(run_id, 100_000, chance, **more)
    return state(run_id)


def row(run_id: str) -> Json:
    """All that is kept of a run, its events included: what a refusal must not change."""
    events = RunEvent.objects.filter(run=run_id).order_by("version")
    return {
        "run": Run.objects.filter(id=run_id).values().get(),
        "events": list(events.values_list("version", "at", "payload")),
    }


def assert_follows(old: Json, run_id: str) -> None:
    """I5: an old snapshot and the events after it give the fresh snapshot, to a client that knows no rules."""
    for note in selectors.notes_after(run_id, old["version"]):
        old = fold_run(old, note.version, json.loads(note.payload))
    assert old == view(run_id)


def assert_run_is_whole(run_id: str) -> None:
    """What holds for every run: its stream, its row, its seed's secrecy, and a record that replays to the same run."""
    run = Run.objects.get(id=run_id)
    notes = selectors.notes_after(run_id, 0)
    assert [note.version for note in notes] == list(range(1, run.version + 1))
    first = ev.decode(notes[0].payload)
    assert isinstance(first, ev.RunStarted)
    assert_follows(_first_view(first, notes[0].at), run_id)
    _assert_row_says_what_its_state_says(run)
    seed = bytes(run.seed)
    assert run.seed_hash == rules.seed_hash(seed)
    told = "".join(note.payload for note in notes) + json.dumps(view(run_id))
    record = selectors.load_record(run)
    if run.revealed:
        assert record.seed == seed
        assert ev.decode(notes[-1].payload) == ev.SeedRevealed(seed.hex())
    else:
        assert record.seed is None
        assert seed.hex() not in told
        assert seed.hex() not in rules.write_json(record)
    replayed = rules.replay(dataclasses.replace(record, seed=seed))
    assert replayed.differences == ()
    assert replayed.run == selectors.state_of_row(run)
    assert rules.read_json(rules.write_json(record)) == record


def _first_view(first: ev.RunStarted, at: int) -> Json:
    said: Json = json.loads(msgspec.json.encode(first))
    del said["type"]
    more = {"version": 1, "status": "running", "started_at": rfc3339(at), "end": None, "seed": None}
    return said | more


def _assert_row_says_what_its_state_says(run: Run) -> None:
    now = selectors.state_of_row(run)
    figures = dataclasses.asdict(now.statistics)
    assert {name: getattr(run, name) for name in figures} == figures
    assert (run.score, run.turn, run.key) == (now.score, now.turn, now.rules.key)
    assert now.over == (run.status == Run.Status.OVER)
    assert run.version == 1 + run.turn + (run.status in {"abandoned", "closed"}) + run.revealed
    assert run.finished_at is None or from_datetime(run.finished_at) >= from_datetime(
        run.started_at
    )


def assert_bests_are_true() -> None:
    """Bests, their numbers of runs, and the registered players' all-time scores are those of the runs as they stand."""
    ended: dict[tuple[int, str], list[tuple[int, int, datetime, str]]] = {}
    runs = Run.objects.exclude(status=Run.Status.RUNNING).filter(placements__gt=0)
    for run in runs.exclude(level="daily", counted=False):
        assert run.finished_at is not None
        result = (-run.score, run.placements, run.finished_at, run.id)
        ended.setdefault((run.player_id, run.key), []).append(result)
    kept = {
        (best.player_id, best.key): (
            (-best.score, best.placements, best.finished_at),
            best.run_id in {run for *_, run in ended[best.player_id, best.key]},
            best.runs,
        )
        for best in Best.objects.all()
    }
    assert kept == {of: (min(each)[:3], True, len(each)) for of, each in ended.items()}
    shown = ScoreEntry.objects.filter(board__key__startswith="puzzle:")
    assert {
        (entry.player_id, entry.board_id.removeprefix("puzzle:")): (-entry.score, entry.placements)
        for entry in shown
    } == {
        of: best[:2]
        for of, (best, _, _) in kept.items()
        if Player.objects.get(pk=of[0]).kind == Player.Kind.REGISTERED
    }
