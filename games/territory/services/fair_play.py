"""The nightly look at rated games: facts are read, the rules (../fair_play.py) find pairs, and moderators are told."""

from dataclasses import dataclass
from typing import Any

from accounts.services.reports import Flag, raise_flags
from common import database
from common.clock import to_datetime
from games.territory import fair_play as rules
from games.territory.fair_play import GameFacts
from games.territory.rules import VARIANTS

DAY_MS = 24 * 3_600_000
SETTLED_EVENTS = 3
"""Events of a rated game that is settled besides its moves, at least: started, finished, rated. A resignation is one
more, and so is a colour that is out, late in a game: for the quick ones that matter the number of plies is exact."""

# By the index on the beginning of games. Pairs that no rule looks at stay in the database.
_GAMES = """
SELECT id, one, two, one_rank, two_rank, version, termination = 'resigned',
    (extract(epoch FROM finished_at) * 1000)::bigint
FROM (
    SELECT game.id, game.version, game.termination, game.finished_at,
        one.player_id AS one, two.player_id AS two, one.rank AS one_rank, two.rank AS two_rank,
        count(*) OVER (PARTITION BY least(one.player_id, two.player_id), greatest(one.player_id, two.player_id))
            AS together
    FROM territory_game AS game
    JOIN territory_seat AS one ON one.game_id = game.id AND one.index = 0 AND one.level = ''
    JOIN territory_seat AS two ON two.game_id = game.id AND two.index = 1 AND two.level = ''
    WHERE game.created_at >= %s AND game.created_at < %s AND game.variant = ANY(%s)
        AND game.rated AND game.status = 'finished' AND game.settled_at IS NOT NULL
        AND one.player_id <> two.player_id
) AS played
WHERE together >= %s
"""
_TOTALS = """
SELECT seat.player_id, count(*)
FROM territory_game AS game JOIN territory_seat AS seat ON seat.game_id = game.id AND seat.level = ''
WHERE game.created_at >= %s AND game.created_at < %s AND game.variant = ANY(%s)
    AND game.rated AND game.status = 'finished' AND game.settled_at IS NOT NULL
GROUP BY seat.player_id
"""


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look came to."""

    games: int
    """Of pairs that the rules look at."""
    found: int
    new: int
    """Flags that moderators did not have yet."""


def look(*, now: int) -> Looked:
    """Look at the rated games that began in the last `DAYS` days, and raise flags. Twice is once."""
    two_seats = [key for key, variant in VARIANTS.items() if variant.seats == 2]
    window = [to_datetime(now - rules.DAYS * DAY_MS), to_datetime(now), two_seats]
    facts = [_facts(row) for row in database.prepared(_GAMES, [*window, rules.FEWEST])]
    totals = dict(database.prepared(_TOTALS, window)) if facts else {}
    found = rules.findings(facts, totals, sum(totals.values()))
    flags = [
        Flag(
            kind=each.kind,
            player_id=each.first,
            other_id=each.second,
            facts={"words": each.words, **each.facts},
            games=tuple((game.id, game.ended) for game in each.games),
            enough=each.enough,
        )
        for each in found
    ]
    return Looked(len(facts), len(found), raise_flags(flags=flags, now=now))


def _facts(row: tuple[Any, ...]) -> GameFacts:
    game_id, one, two, one_rank, two_rank, version, resigned, ended = row
    winner = None if one_rank == two_rank else one if one_rank < two_rank else two
    plies = max(0, version - SETTLED_EVENTS - resigned)
    return GameFacts(game_id, (one, two), winner, plies, resigned, ended)
