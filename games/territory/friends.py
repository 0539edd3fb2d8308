"""The live games of a player's friends."""

from dataclasses import dataclass
from datetime import datetime

from accounts.selectors import PlayerCard, players_by_id
from accounts.selectors.friends import blocked_with, friend_ids
from common import database
from common.ids import is_id
from games.territory.models import Game, Seat

# The live games first: they have an index of their own, and are few beside all that the friends ever played.
LIVE_GAMES = """
WITH live AS MATERIALIZED (
    SELECT id, created_at FROM territory_game WHERE status = 'started' AND spectators
)
SELECT id FROM live
WHERE EXISTS (SELECT FROM territory_seat seat WHERE seat.game_id = live.id AND seat.player_id = ANY(%s))
    AND NOT EXISTS (SELECT FROM territory_seat seat WHERE seat.game_id = live.id AND seat.player_id = ANY(%s))
    AND (%s::timestamptz IS NULL OR (created_at, id) < (%s, %s))
ORDER BY created_at DESC, id DESC LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class LiveGame:
    """A game that is being played, and who sits there, by seat."""

    game: Game
    players: tuple[PlayerCard, ...]


def friends_games(
    player_id: int, *, cursor: str = "", limit: int
) -> tuple[list[LiveGame], str | None]:
    """The newest live games in which a friend sits, those after the game `cursor`, and the cursor of the rest.

    Left out are games that others may not watch, and those with somebody in them whom the player blocks, or who blocks
    the player. A cursor that is no game's begins again.
    """
    friends = list(friend_ids(player_id))
    hidden = list(blocked_with([player_id])[player_id])
    last = _begun(cursor)
    rows = database.prepared(LIVE_GAMES, [friends, hidden, last, last, cursor, limit + 1])
    ids = [game_id for (game_id,) in rows[:limit]]
    seats: dict[str, list[int]] = {game_id: [] for game_id in ids}
    for game_id, sitter in Seat.objects.filter(game__in=ids).values_list("game_id", "player_id"):
        seats[game_id].append(sitter)
    games = Game.objects.in_bulk(ids)
    cards = players_by_id(sitter for sitters in seats.values() for sitter in sitters)
    found = [
        LiveGame(games[game_id], tuple(cards[sitter] for sitter in seats[game_id]))
        for game_id in ids
    ]
    return found, ids[-1] if len(rows) > limit else None


def _begun(game_id: str) -> datetime | None:
    known = Game.objects.filter(pk=game_id) if is_id(game_id) else Game.objects.none()
    return known.values_list("created_at", flat=True).first()
