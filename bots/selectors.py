"""Reading hints. They are private: whoever asks sees only the own ones."""

from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import QuerySet

from bots.errors import HintNotAllowedError
from bots.models import HINTS, Hint
from games.territory import selectors as games
from games.territory.errors import NotSeatedError
from games.territory.selectors import Seating
from games.territory.state import GameState


@dataclass(frozen=True, slots=True)
class HintView:
    """A hint as its player sees it; `piece` and `move` are None until it is given."""

    ply: int
    colour: str
    piece: str | None
    move: str | None

    @classmethod
    def of(cls, hint: Hint) -> "HintView":
        return cls(hint.ply, hint.colour, hint.piece or None, hint.move or None)


@dataclass(frozen=True, slots=True)
class HintList:
    """The hints that a player has had in a game, in order, and how many are left."""

    hints: list[HintView]
    hints_left: int

    def wire(self) -> dict[str, Any]:
        return asdict(self)


def hints_of(*, game_id: str, player_id: int) -> HintList:
    """What a player has had. Raises `UnknownGameError`, `NotSeatedError`, `HintNotAllowedError`."""
    load_table(game_id, player_id)
    given = [HintView.of(hint) for hint in given_to(game_id, player_id).order_by("given_at")]
    return HintList(given, HINTS - len(given))


def given_to(game_id: str, player_id: int) -> "QuerySet[Hint]":
    """The hints that are spent."""
    return Hint.objects.filter(game_id=game_id, player_id=player_id).exclude(move="")


def load_table(game_id: str, player_id: int) -> tuple[GameState, Seating]:
    """A game in which this player may have hints.

    Raises `UnknownGameError`, `NotSeatedError`, `HintNotAllowedError`.
    """
    state, seating = games.load_state(game_id), games.seating(game_id)
    if not seating.seats_of(player_id):
        raise NotSeatedError
    if not state.started.played_alone or not any(seating.levels):
        raise HintNotAllowedError
    return state, seating


def wanted_hint(*, hint_id: int, version: int) -> Hint | None:
    """A hint that is still wanted at this version; None if it is not."""
    return Hint.objects.filter(pk=hint_id, version=version, move="").first()
