"""Rules that find pairs of players worth a moderator's look. Pure: facts of games in, flags out.

A flag is a hint and no verdict. Each threshold is a number with a name; tests/games/territory/test_fair_play.py
simulates an honest population to show how often the rules flag those who did nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, fsum, lgamma, log, log1p
from typing import Final

DAYS: Final = 28
"""The rules look at games of so many days."""
FEWEST: Final = 6
"""Rated games of a pair below which no rule looks at it."""

# Repeated pairs: a player whose rated games are mostly with one opponent, whom chance would bring far less often.
PAIR_GAMES: Final = 20
PAIR_SHARE: Final = 0.7
PAIR_TIMES_CHANCE: Final = 8.0
"""Who is awake at the same hours and rated alike meets more often than by chance; eight times as often is a choice."""

# Win trading: quick games in which the winner changes nearly every time.
TRADED_GAMES: Final = 8
QUICK_PLIES: Final = 12
"""A game that is over by then was hardly played: 21 pieces a colour make thirty plies and more."""
TRADED_CHANCE: Final = 0.01
"""The winner changes at each game with 1/2 for equals; so many changes or more are as rare as this at most."""

# Resignation farming: the same player resigns early, again and again, to the same opponent.
FARMED_GAMES: Final = 6
FARMED_SHARE: Final = 0.5
EARLY_PLIES: Final = 8
HONEST_EARLY: Final = 0.1
"""How often an honest player resigns so early, at most: somebody who has to leave, or has misplaced a piece."""
FARMED_CHANCE: Final = 1e-4


@dataclass(frozen=True, slots=True)
class GameFacts:
    """A rated game of two people that is over. `winner` is None for a draw; times are milliseconds."""

    id: str
    players: tuple[int, int]
    winner: int | None
    plies: int
    resigned: bool
    ended: int


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule fits two players. Of `win-trading` and `repeated-pair` the lower id is the first; of `resignation-farming`
    the one who gained.
    """

    kind: str
    first: int
    second: int
    words: str
    facts: Mapping[str, int | float]
    games: tuple[GameFacts, ...]
    """Those that were counted, oldest first."""
    enough: int


def findings(
    games: Iterable[GameFacts],
    totals: Mapping[int, int] | None = None,
    everybody: int | None = None,
) -> list[Finding]:
    """What the rules find, in a fixed order, whatever the order of the games.

    Only pairs with `FEWEST` games are looked at, so the others may be left out; then `totals` says how many rated games
    each player had in all, and `everybody` the sum of that over all players.
    """
    games = list(games)
    if totals is None:
        totals = _totals(games)
    if everybody is None:
        everybody = sum(totals.values())
    pairs: dict[tuple[int, int], list[GameFacts]] = defaultdict(list)
    for game in games:
        one, two = sorted(game.players)
        pairs[one, two].append(game)
    found: list[Finding] = []
    for pair, played in sorted(pairs.items()):
        if len(played) >= FEWEST:
            played.sort(key=lambda game: (game.ended, game.id))
            found += _of_pair(pair, played, totals, everybody)
    return found


def _totals(games: Sequence[GameFacts]) -> dict[int, int]:
    totals: dict[int, int] = defaultdict(int)
    for game in games:
        for player in game.players:
            totals[player] += 1
    return totals


def _of_pair(
    pair: tuple[int, int], played: Sequence[GameFacts], totals: Mapping[int, int], everybody: int
) -> Iterator[Finding]:
    repeated = _repeated(pair, played, totals, everybody)
    traded = _traded(pair, played)
    farmed = (_farmed(winner, loser, played) for winner, loser in (pair, pair[::-1]))
    yield from (each for each in (repeated, traded, *farmed) if each is not None)


def _repeated(
    pair: tuple[int, int], played: Sequence[GameFacts], totals: Mapping[int, int], everybody: int
) -> Finding | None:
    """Most of somebody's rated games are with one opponent, whom chance would bring far less often."""
    if len(played) < PAIR_GAMES:
        return None
    shares = {player: len(played) / totals[player] for player in pair}
    player = max(pair, key=lambda each: (shares[each], -each))
    opponent = pair[0] if player == pair[1] else pair[1]
    # An opponent drawn at random from the seats that are not the player's own.
    chance = totals[opponent] / max(1, everybody - totals[player])
    if shares[player] < PAIR_SHARE or shares[player] < PAIR_TIMES_CHANCE * chance:
        return None
    return Finding(
        "repeated-pair",
        *pair,
        words=f"{len(played)} of {totals[player]} rated games in {DAYS} days were with the same opponent "
        f"({shares[player]:.0%}; by chance it would be {chance:.1%}).",
        facts={
            "games_together": len(played),
            "rated_games": totals[player],
            "whose": player,
            "share": round(shares[player], 3),
            "share_by_chance": round(chance, 4),
        },
        games=tuple(played),
        enough=PAIR_GAMES,
    )


def _traded(pair: tuple[int, int], played: Sequence[GameFacts]) -> Finding | None:
    """Quick games with a winner, in which the winner changes more often than a coin would."""
    quick = [game for game in played if game.winner is not None and game.plies <= QUICK_PLIES]
    if len(quick) < TRADED_GAMES:
        return None
    changes = sum(before.winner != after.winner for before, after in pairwise(quick))
    chance = tail(len(quick) - 1, changes, 0.5)
    if chance > TRADED_CHANCE:
        return None
    return Finding(
        "win-trading",
        *pair,
        words=f"{len(quick)} of {len(played)} games together were over within {QUICK_PLIES} plies, and the winner "
        f"changed {changes} times of {len(quick) - 1} (so often or oftener by chance: {chance:.2g}).",
        facts={
            "games_together": len(played),
            "quick": len(quick),
            "changes_of_winner": changes,
            "chance": chance,
        },
        games=tuple(quick),
        enough=TRADED_GAMES,
    )


def _farmed(winner: int, loser: int, played: Sequence[GameFacts]) -> Finding | None:
    """The same player resigns early to the same opponent, far more often than people do."""
    early = [
        game
        for game in played
        if game.resigned and game.winner == winner and game.plies <= EARLY_PLIES
    ]
    chance = tail(len(played), len(early), HONEST_EARLY)
    if (
        len(early) < FARMED_GAMES
        or len(early) < FARMED_SHARE * len(played)
        or chance > FARMED_CHANCE
    ):
        return None
    return Finding(
        "resignation-farming",
        winner,
        loser,
        words=f"The other player resigned {len(early)} of {len(played)} games together within {EARLY_PLIES} plies "
        f"(so many or more by chance, if one in {1 / HONEST_EARLY:.0f} games ends so: {chance:.2g}).",
        facts={
            "games_together": len(played),
            "early_resignations": len(early),
            "chance": chance,
        },
        games=tuple(early),
        enough=FARMED_GAMES,
    )


def tail(trials: int, least: int, chance: float) -> float:
    """The probability of `least` successes or more in independent trials (the binomial distribution's upper tail).

    `chance` lies between 0 and 1, neither included. Logarithms keep the coefficients of many trials in range.
    """
    if least <= 0:
        return 1.0
    log_hit, log_miss = log(chance), log1p(-chance)
    return min(
        1.0,
        fsum(
            exp(
                lgamma(trials + 1) - lgamma(hits + 1) - lgamma(trials - hits + 1)
                + hits * log_hit + (trials - hits) * log_miss
            )
            for hits in range(least, trials + 1)
        ),
    )  # fmt: skip
