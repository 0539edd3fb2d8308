"""Many games at a time: records by pieces, each with queries of its own, so that whoever reads slowly holds nothing."""

from collections.abc import Collection, Iterator
from itertools import groupby
from typing import Final

from common import database
from games.territory import events as ev
from games.territory import rules
from games.territory.record import record_of

PIECE: Final = 20
"""Games whose records are made at one go, in some hundredths of a second."""

EVENTS_OF = """
SELECT game_id, at, payload FROM territory_event WHERE game_id = ANY(%s) ORDER BY game_id, version
"""
GAMES_OF = """
SELECT DISTINCT game_id FROM territory_seat WHERE player_id = %s AND game_id > %s ORDER BY game_id LIMIT %s
"""


def records(game_ids: Collection[str]) -> dict[str, rules.Record]:
    """The record of each of these games; of one that goes on, what there is of it."""
    rows = database.prepared(EVENTS_OF, [list(game_ids)])
    return {
        game_id: record_of((ev.decode(payload), at) for _, at, payload in happened)
        for game_id, happened in groupby(rows, key=lambda row: row[0])
    }


def all_games_of(player_id: int, *, piece: int = PIECE) -> Iterator[list[str]]:
    """The ids of all games in which the player has a seat, each once, by pieces."""
    last = ""
    while True:
        ids = [game_id for (game_id,) in database.prepared(GAMES_OF, [player_id, last, piece])]
        if ids:
            yield ids
        if len(ids) < piece:
            return
        last = ids[-1]
