"""A player's live games, of which many may be by correspondence: which wait for the player, and until when."""

import json
from typing import Final

from msgspec import Struct

from accounts import selectors as accounts
from common import database
from common.clock import from_datetime, rfc3339
from games.territory import events as ev
from games.territory.errors import UnknownGameError
from games.territory.models import Game

# The turn stands in the latest event that has one; a game has some dozens of events.
LIVE: Final = """
SELECT g.id, g.variant, g.pool, g.rated, g.clock_kind, g.initial_ms, g.increment_ms, g.created_at, mine.seats, t.turn
FROM (
    SELECT game_id, array_agg(index ORDER BY index) AS seats FROM territory_seat
    WHERE player_id = %s AND rank IS NULL GROUP BY game_id
) mine
JOIN territory_game g ON g.id = mine.game_id AND g.status = 'started'
CROSS JOIN LATERAL (
    SELECT (e.payload::json -> 'turn')::text AS turn FROM territory_event e
    WHERE e.game_id = g.id AND e.payload LIKE '%%"turn":{%%' ORDER BY e.version DESC LIMIT 1
) t
WHERE (NOT %s OR (t.turn::json ->> 'seat')::int = ANY(mine.seats))
  AND (%s::timestamptz IS NULL OR (g.created_at, g.id) < (%s::timestamptz, %s))
ORDER BY g.created_at DESC, g.id DESC
LIMIT %s
"""
SEATS: Final = """
SELECT game_id, index, player_id, level FROM territory_seat WHERE game_id = ANY(%s) ORDER BY game_id, index
"""


class PlaceView(Struct, frozen=True):
    seat: int
    player: str
    level: str | None


class OwnGame(Struct, frozen=True):
    """A live game: `my_seats` are the player's, and `my_turn` whether the `turn` is one of theirs."""

    game: str
    variant: str
    pool: str | None
    rated: bool
    time_control: ev.TimeControlData
    created_at: str
    seats: list[PlaceView]
    my_seats: list[int]
    my_turn: bool
    turn: ev.Turn


def live_games_of(player_id: int, *, my_turn: bool, after: str | None, limit: int) -> list[OwnGame]:
    """The player's live games after that one, the newest first; with `my_turn` those that wait for the player.

    Raises `UnknownGameError` if there is no game `after`.
    """
    created = None
    if after is not None:
        created = Game.objects.filter(pk=after).values_list("created_at", flat=True).first()
        if created is None:
            raise UnknownGameError
    found = database.prepared(LIVE, [player_id, my_turn, created, created, after or "", limit])
    places = _places([row[0] for row in found])
    return [
        OwnGame(
            game=game_id,
            variant=variant,
            pool=pool or None,
            rated=rated,
            time_control=ev.TimeControlData(*control),
            created_at=rfc3339(from_datetime(created_at)),
            seats=places[game_id],
            my_seats=mine,
            my_turn=turn["seat"] in mine,
            turn=ev.Turn(**turn),
        )
        for game_id, variant, pool, rated, *control, created_at, mine, text in found
        for turn in [json.loads(text)]
    ]


def _places(game_ids: list[str]) -> dict[str, list[PlaceView]]:
    rows = database.prepared(SEATS, [game_ids])
    cards = accounts.players_by_id({player for _, _, player, _ in rows})
    places: dict[str, list[PlaceView]] = {game_id: [] for game_id in game_ids}
    for game_id, seat, player, level in rows:
        places[game_id].append(PlaceView(seat, cards[player].name, level or None))
    return places
