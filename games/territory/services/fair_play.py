"""The nightly look at rated games: facts are read, the rules (../fair_play.py) find pairs, and moderators are told."""

from collections import defaultdict
from dataclasses import dataclass

from accounts.services.reports import Flag, raise_flags
from common import database
from common.clock import to_datetime
from games.territory import fair_play as rules
from games.territory.fair_play import GameFacts

DAY_MS = 24 * 3_600_000
SETTLED_EVENTS = 3
"""Events of a rated game that is settled besides its moves, at least: started, finished, rated. A resignation is one
more, and so is a colour that is out, late in a game: for the quick ones that matter the number of plies is exact."""

# One look at the days' games, by the index on their beginning. `pair` are the pairs that any rule looks at.
_GAMES = """
WITH played AS MATERIALIZED (
    SELECT game.id, game.version, game.termination, game.finished_at,
        one.player_id AS one, two.player_id AS two, one.rank AS one_rank, two.rank AS two_rank
    FROM territory_game AS game
    JOIN territory_seat AS one ON one.game_id = game.id AND one.index = 0 AND one.level = ''
    JOIN territory_seat AS two ON two.game_id = game.id AND two.index = 1 AND two.level = ''
    WHERE game.created_at >= %s AND game.created_at < %s
        AND game.rated AND game.status = 'finished' AND game.settled_at IS NOT NULL
        AND one.player_id <> two.player_id
        AND NOT EXISTS (SELECT FROM territory_seat AS third WHERE third.game_id = game.id AND third.index = 2)
), pair AS (
    SELECT least(one, two) AS low, greatest(one, two) AS high FROM played
    GROUP BY 1, 2 HAVING count(*) >= %s
), total AS (
    SELECT player, count(*) AS games FROM played CROSS JOIN LATERAL (VALUES (one), (two)) AS seat (player)
    GROUP BY player
)
SELECT played.id, one, two, one_rank, two_rank, version, termination = 'resigned',
    (extract(epoch FROM finished_at) * 1000)::bigint, first.games, second.games,
    (SELECT 2 * count(*) FROM played)
FROM played JOIN pair ON low = least(one, two) AND high = greatest(one, two)
JOIN total AS first ON first.player = one JOIN total AS second ON second.player = two
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
    facts: list[GameFacts] = []
    totals: dict[int, int] = defaultdict(int)
    everybody = 0
    since, until = to_datetime(now - rules.DAYS * DAY_MS), to_datetime(now)
    for row in database.prepared(_GAMES, [since, until, rules.FEWEST]):
        (
            game_id, one, two, one_rank, two_rank, version, resigned, ended, first, second,
            everybody,
        ) = row  # fmt: skip
        totals[one], totals[two] = first, second
        winner = None if one_rank == two_rank else one if one_rank < two_rank else two
        plies = max(0, version - SETTLED_EVENTS - resigned)
        facts.append(GameFacts(game_id, (one, two), winner, plies, resigned, ended))
    found = rules.findings(facts, totals, everybody)
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
