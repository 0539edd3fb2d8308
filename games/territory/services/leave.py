"""Leaving a game and coming back: claims against who went away, the way back from a CPU, aborting."""

from collections.abc import Collection

import redis

from accounts.selectors import presence
from common import database
from common.clock import now_ms
from games.territory import decide as de
from games.territory import leaving
from games.territory.errors import ClaimNotAllowedError
from games.territory.services.live import LiveGame
from games.territory.services.play import Receipt, perform
from games.territory.state import GameState


async def claim(
    *, game_id: str, player_id: int, result: leaving.Result, seat: int | None = None
) -> Receipt:
    """Claim because the player of `seat` went away; if none is named, of the seat that has been away for longest.

    Who is connected is asked right before the decision, and again when another process was first. While Redis is away
    or has forgotten, nobody is known to be away. Raises the refusals of `games.territory.errors`.
    """

    async def command(live: LiveGame) -> de.Command:
        players = live.seating.players
        own = live.seating.seat_for(player_id, None)
        others = [other for other, player in enumerate(players) if player != player_id]
        if not others or seat not in (None, *others):
            raise ClaimNotAllowedError(
                "That is no other player's seat.", version=live.state.version
            )
        away = await database.aside("presence", _away_since, [players[other] for other in others])
        since = {other: away.get(players[other]) for other in others}
        away_seat = _longest(live.state, since) if seat is None else seat
        return leaving.Claim(own, away_seat, result, since[away_seat])

    return await perform(game_id, command, fresh=True)


async def take_back(*, game_id: str, player_id: int) -> Receipt:
    """Take the player's seat back from the CPU that plays for it; a move by the player does the same."""

    def command(live: LiveGame) -> de.Command:
        return leaving.Return(live.seating.seat_for(player_id, None))

    return await perform(game_id, command, fresh=True)


async def abort(*, game_id: str, player_id: int) -> Receipt:
    """End a game of two before the player's first move; nobody is rated, and it counts against the player."""

    def command(live: LiveGame) -> de.Command:
        return leaving.Abort(live.seating.seat_for(player_id, None))

    return await perform(game_id, command, fresh=True)


def _away_since(player_ids: Collection[int]) -> dict[int, int]:
    try:
        return presence.away_since(player_ids, now_ms())
    except redis.RedisError:
        return {}


def _longest(state: GameState, since: dict[int, int | None]) -> int:
    """The seat that can be claimed and has been away for longest; any one, if there is none."""

    def order(seat: int) -> tuple[bool, float]:
        away = leaving.away_from(state, seat, since[seat])
        hopeless = away is None or leaving.claimable(state, seat) is None
        return hopeless, away or 0

    return min(since, key=order)
