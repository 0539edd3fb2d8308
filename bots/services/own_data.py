"""What hints and analyses keep of a person (accounts/personal.py)."""

from collections.abc import Iterator
from datetime import datetime

from msgspec import Struct

from accounts import personal
from bots.models import AnalysisWish, Hint, RunHint


class HintData(Struct, frozen=True):
    """A hint; `move` is null while it is being looked for."""

    game: str
    ply: int
    move: str | None
    given_at: datetime | None


class RunHintData(Struct, frozen=True):
    """The latest hint in a run of the block puzzle."""

    run: str
    turn: int
    at: str | None
    given_at: datetime | None


def register_sections() -> None:
    """Called when the app is ready."""
    personal.register(
        "hints",
        shape=list[HintData],
        export=export_hints,
        erase=erase_hints,
        tables=("bots.Hint",),
    )
    personal.register(
        "puzzle_hints",
        shape=list[RunHintData],
        export=export_run_hints,
        erase=erase_run_hints,
        tables=("bots.RunHint",),
    )
    personal.register(
        "analyses_awaited",
        shape=list[str],
        export=export_wishes,
        erase=erase_wishes,
        tables=("bots.AnalysisWish",),
    )


def export_hints(player_id: int) -> Iterator[HintData]:
    for hint in Hint.objects.filter(player_id=player_id).order_by("pk"):
        yield HintData(hint.game_id, hint.ply, hint.move or None, hint.given_at)


def erase_hints(player_id: int) -> None:
    Hint.objects.filter(player_id=player_id).delete()


def export_run_hints(player_id: int) -> Iterator[RunHintData]:
    for hint in RunHint.objects.filter(player_id=player_id).order_by("pk"):
        yield RunHintData(hint.run_id, hint.turn, hint.at or None, hint.given_at)


def erase_run_hints(player_id: int) -> None:
    RunHint.objects.filter(player_id=player_id).delete()


def export_wishes(player_id: int) -> list[str]:
    """The games whose analysis the person asked for, and will be told about."""
    wishes = AnalysisWish.objects.filter(player_id=player_id).order_by("pk")
    return list(wishes.values_list("analysis__game_id", flat=True))


def erase_wishes(player_id: int) -> None:
    AnalysisWish.objects.filter(player_id=player_id).delete()
