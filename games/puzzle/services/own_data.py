"""What puzzles keep of a person (accounts/personal.py). They are played alone, so they go with the person."""

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

from msgspec import Struct

from accounts import personal
from games.puzzle import rules
from games.puzzle.models import Best, Run, RunEvent
from games.puzzle.selectors import load_record, runs_of

PIECE = 20


class RunData(Struct, frozen=True):
    """A run; `record` has every placement, as `GET /puzzles/runs/{id}/record` gives it."""

    run: str
    key: str
    status: str
    counted: bool
    started_at: datetime
    finished_at: datetime | None
    record: dict[str, Any]


class BestData(Struct, frozen=True):
    """The best of all `runs` of these rules."""

    key: str
    score: int
    placements: int
    finished_at: datetime
    runs: int


def register_sections() -> None:
    """Called when the app is ready."""
    personal.register(
        "puzzle_runs",
        shape=list[RunData],
        export=export_runs,
        erase=erase_runs,
        tables=("puzzle.Run",),
        holders=who_has_played,
    )
    personal.register(
        "puzzle_bests",
        shape=list[BestData],
        export=export_bests,
        erase=erase_bests,
        tables=("puzzle.Best",),
    )


def export_runs(player_id: int) -> Iterator[RunData]:
    before: tuple[datetime, str] | None = None
    while True:
        ids = [run.id for run in runs_of(player_id, before=before, limit=PIECE)]
        for run in Run.objects.filter(id__in=ids).order_by("-started_at", "-id"):
            before = run.started_at, run.id
            yield RunData(
                run=run.id,
                key=run.key,
                status=run.status,
                counted=run.counted,
                started_at=run.started_at,
                finished_at=run.finished_at,
                record=rules.as_dict(load_record(run)),
            )
        if len(ids) < PIECE:
            return


def erase_runs(player_id: int) -> None:
    Best.objects.filter(player_id=player_id).delete()
    RunEvent.objects.filter(run__player_id=player_id).delete()
    Run.objects.filter(player_id=player_id).delete()


def export_bests(player_id: int) -> Iterator[BestData]:
    for best in Best.objects.filter(player_id=player_id).order_by("key"):
        yield BestData(best.key, best.score, best.placements, best.finished_at, best.runs)


def erase_bests(player_id: int) -> None:
    """They have gone with the runs."""
    Best.objects.filter(player_id=player_id).delete()


def who_has_played(player_ids: Collection[int]) -> set[int]:
    played = Run.objects.filter(player_id__in=player_ids, version__gt=1)
    return set(played.values_list("player_id", flat=True))
