"""Which game is worth watching: how strong its players are, and which one of many is featured. Pure.

The rule is published (docs/protocol.md): a game that is featured stays so until it is over. Then the rated game with
the highest score follows: its strength, and some points for each spectator, up to a bound, so that a crowd can lift a
game but not above all that are stronger by far.
"""

from collections.abc import Iterable

from msgspec import Struct

from games.territory import events as ev

SPECTATOR_POINTS = 5
MOST_SPECTATORS = 40
"""More spectators than that add nothing."""


def strength_of(started: ev.GameStarted) -> int | None:
    """The mean rating of the players, as shown when the game began.

    None for what is not worth a place in a list of games now playing: games against CPUs only or on one device, and
    those whose moves may take days.
    """
    players = {seat.player: seat for seat in started.seats if seat.level is None and seat.rating}
    if len(players) < 2 or started.time_control.kind != "realtime":
        return None
    ratings = [int((seat.rating or "").rstrip("?")) for seat in players.values()]
    return round(sum(ratings) / len(ratings))


class Candidate(Struct, frozen=True):
    """A live rated game; `started_at` as the wire writes instants, which sort as they follow each other."""

    game: str
    strength: int
    started_at: str
    watchers: int


def score(candidate: Candidate) -> int:
    """What a game is worth to those who look on, in points of rating."""
    return candidate.strength + SPECTATOR_POINTS * min(candidate.watchers, MOST_SPECTATORS)


def choose(candidates: Iterable[Candidate]) -> str | None:
    """The game with the highest score; of equal ones the one that began first, then by id."""
    best = min(
        candidates, key=lambda each: (-score(each), each.started_at, each.game), default=None
    )
    return None if best is None else best.game
