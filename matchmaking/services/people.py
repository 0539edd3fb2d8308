"""Who may play with whom, and by what: the checks that rooms and challenges share."""

from collections.abc import Collection, Sequence

from accounts import selectors as accounts
from accounts.selectors.friends import blocked_with
from games.territory import rules as territory
from games.territory.errors import EngagedError, SeatsError, UnknownVariantError
from games.territory.rules import Variant
from games.territory.selectors import engaged_games
from games.territory.services.start import SeatPlan, start_game
from matchmaking.errors import GuestsNotAllowedError, OthersPlayingError, RatedNotAllowedError
from matchmaking.rules import Terms, may_be_rated


def variant_of(key: str) -> Variant:
    """The variant. Raises `UnknownVariantError`."""
    try:
        return territory.variant(key)
    except territory.UnknownVariantError as error:
        raise UnknownVariantError(str(error)) from None


def require_no_guest(player_id: int) -> None:
    """Raises `GuestsNotAllowedError`: guests play the CPU, and alone on one device."""
    if accounts.players_by_id([player_id])[player_id].kind == "guest":
        raise GuestsNotAllowedError


def any_block(player_id: int, others: Collection[int]) -> bool:
    """Whether a block stands between a player and any of the others, whoever made it."""
    return not blocked_with([player_id])[player_id].isdisjoint(others)


def start_agreed(*, terms: Terms, plans: Sequence[SeatPlan], caller: int, now: int) -> str:
    """Start the game that its people have agreed on, in the caller's transaction; its id.

    Raises `RatedNotAllowedError`; `EngagedError` when the caller has a live game, `OthersPlayingError` when somebody
    else has; and what `start_game` raises.
    """
    people = [plan.player_id for plan in plans if not plan.level]
    cards = accounts.players_by_id(people)
    if terms.rated and (
        len(set(people)) < len(plans) or not may_be_rated([cards[each].kind for each in people])
    ):
        raise RatedNotAllowedError
    kind = variant_of(terms.variant)
    if kind.seats != len(plans):
        raise SeatsError(f"{kind.title} has {kind.seats} seats.", seats=kind.seats)
    try:
        return start_game(
            variant=terms.variant,
            time_control=terms.time_control,
            seats=plans,
            rated=terms.rated,
            pool=None,
            matched=len(set(people)) > 1,
            now=now,
            undo=terms.undo,
            spectators=terms.spectators,
        )
    except EngagedError as error:
        if own := engaged_games([caller]).get(caller):
            raise EngagedError(frozenset({caller}), own) from None
        names = sorted(cards[each].name for each in error.player_ids)
        raise OthersPlayingError(
            f"{', '.join(names) or 'Somebody'} is in a live game.", players=names
        ) from None
