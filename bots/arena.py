"""Matches between CPU players: who plays, which games, how one goes, and what follows from the results.

Openings.  Levels may be deterministic, and would play one game again and again.  So every colour's first piece is
placed at random: any legal placement of one of its largest pieces is equally likely.  As many games as there are seats
begin with the same opening and the same seeds of the players; side A takes each seat in one of them, and side B has
all the others.  Whatever an opening or a seat is worth, both sides thus get the same of it.

>>> [seats_of("duo", game) for game in range(3)]
[('a', 'b'), ('b', 'a'), ('a', 'b')]
>>> seats_of("classic", 2)
('b', 'b', 'a', 'b')
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import Final, Literal, Protocol, TypeAlias

import msgspec

from bots.levels import LEVELS
from games.territory.rules import VARIANTS, IllegalMoveError, Move, Position, outcome

Side: TypeAlias = Literal["a", "b"]

NORMAL_95: Final = 1.959963984540054
"""95 % of a normal distribution lie within so many standard deviations of its mean."""


class ArenaError(Exception):
    """A match cannot be played as it is asked for; the text says why."""


class Chooser(Protocol):
    """One who plays a seat of one game."""

    def choose(self, position: Position) -> Move:
        """A move of the colour to move, which must have one."""
        ...


# Who plays


def at_random(position: Position, chance: Random) -> Move:
    """Any legal placement."""
    return chance.choice(list(position.legal()))


def largest_first(position: Position, chance: Random) -> Move:
    """Any legal placement of one of the largest pieces that have one."""
    legal = list(position.legal())
    most = max(move.mask.bit_count() for move in legal)
    return chance.choice([move for move in legal if move.mask.bit_count() == most])


REFERENCES: Final[Mapping[str, Callable[[Position, Random], Move]]] = MappingProxyType(
    {"random": at_random, "largest": largest_first}
)
"""Players that never change, to measure levels by."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference player in one game."""

    move: Callable[[Position, Random], Move]
    chance: Random

    def choose(self, position: Position) -> Move:
        return self.move(position, self.chance)


@dataclass(frozen=True, slots=True)
class Contestant:
    """One side of a match: a level and what it may spend on a move, or a reference player.

    >>> Contestant.parse("expert:simulations=500").simulations
    500
    """

    name: str
    seconds: float | None = None
    simulations: int | None = None

    @classmethod
    def parse(
        cls, text: str, *, seconds: float | None = None, simulations: int | None = None
    ) -> "Contestant":
        """What a text names; a level without a setting of its own gets the given one. Raises `ArenaError`."""
        name, colon, setting = text.partition(":")
        if name in REFERENCES and not colon:
            return cls(name)
        if name not in LEVELS:
            players = ", ".join((*LEVELS, *REFERENCES))
            raise ArenaError(f"There is no player {text!r}; choose one of {players}.")
        if not colon:
            return cls(name, seconds, simulations)
        key, _, value = setting.partition("=")
        try:
            if key == "simulations" and int(value) >= 1:
                return cls(name, simulations=int(value))
            if key == "seconds" and 0.0 < float(value) < math.inf:
                return cls(name, seconds=float(value))
        except ValueError:
            pass
        raise ArenaError(
            f"{text!r}: a setting is :seconds=S, above 0, or :simulations=N, a whole number from 1."
        )

    def __str__(self) -> str:
        """The text that this is parsed from."""
        if self.seconds is not None:
            return f"{self.name}:seconds={self.seconds:g}"
        return (
            self.name if self.simulations is None else f"{self.name}:simulations={self.simulations}"
        )

    def player(self, seed: int) -> Chooser:
        """One who plays a seat of one game."""
        if self.name in REFERENCES:
            return Reference(REFERENCES[self.name], Random(seed))
        from bots.engine import (
            Player,  # here, so that a wrong call is refused before anything is compiled
        )

        return Player(self.name, seed=seed, seconds=self.seconds, simulations=self.simulations)


# Which games


class Match(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What decides how each game of a match goes, but for what time allows."""

    variant: str
    a: str
    """The text of a `Contestant`."""
    b: str
    seed: int


class Game(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A game of a match, as a line of a results file has it."""

    match: Match
    game: int
    """Its number, from 0."""
    seats: tuple[Side, ...]
    """Which side plays each seat."""
    opening: int
    """So many of the moves were placed at random."""
    moves: tuple[str, ...]
    points: tuple[int, ...]
    """For each seat."""
    seconds: tuple[tuple[float, ...], ...]
    """For each seat, how long it thought on each of its moves."""


def seats_of(variant: str, game: int) -> tuple[Side, ...]:
    """Which side plays each seat in a game of this number."""
    seats = VARIANTS[variant].seats
    return tuple("a" if seat == game % seats else "b" for seat in range(seats))


def play(match: Match, game: int) -> Game:
    """Play a game of a match to its end. Raises `ArenaError` if a player chooses an illegal move."""
    on = VARIANTS[match.variant]
    sides = {"a": Contestant.parse(match.a), "b": Contestant.parse(match.b)}
    seats = seats_of(match.variant, game)
    # All games of one opening, one for each seat, begin with the same chance.
    chance = Random(f"{match.seed} {game // on.seats}")
    players = [sides[side].player(chance.getrandbits(63)) for side in seats]
    position = Position.start(on)
    opening = len(on.colours)
    moves: list[str] = []
    seconds: list[list[float]] = [[] for _ in seats]
    while (seat := position.seat_to_move) is not None:
        began = time.perf_counter()
        if len(moves) < opening:
            move = largest_first(position, chance)
        else:
            move = players[seat].choose(position)
            seconds[seat].append(round(time.perf_counter() - began, 6))
        try:
            position = position.play(move)
        except IllegalMoveError as error:
            side = sides[seats[seat]]
            raise ArenaError(
                f"Game {game}, ply {len(moves)}: {side} plays {move}: {error}"
            ) from error
        moves.append(move.text)
    return Game(
        match=match,
        game=game,
        seats=seats,
        opening=opening,
        moves=tuple(moves),
        points=outcome(position).points,
        seconds=tuple(map(tuple, seconds)),
    )


# What follows from them


@dataclass(slots=True)
class Tally:
    """The games so far, as A sees them."""

    games: int = 0
    wins: int = 0
    """First places of A alone."""
    draws: int = 0
    """First places that A shares."""
    places: float = 0.0
    """First places, a shared one as the part of it that is A's: half a place if two share it."""
    margin: float = 0.0
    """The sum of A's points less the mean of the other seats'."""
    seconds: dict[Side, list[float]] = field(default_factory=lambda: {"a": [], "b": []})
    """How long each side thought on each of its moves."""

    def add(self, game: Game) -> None:
        own, points = game.seats.index("a"), game.points
        best = points.count(max(points))
        first = points[own] == max(points)
        self.games += 1
        self.wins += first and best == 1
        self.draws += first and best > 1
        self.places += first / best
        self.margin += points[own] - (sum(points) - points[own]) / (len(points) - 1)
        for side, seconds in zip(game.seats, game.seconds, strict=True):
            self.seconds[side] += seconds

    @property
    def rate(self) -> float:
        """The part of all first places that A has."""
        return self.places / self.games


def wilson(rate: float, games: int) -> tuple[float, float]:
    """The 95 % confidence interval of a rate that so many games have given, by the score of a binomial distribution.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22 (1927), 209-212.
    Shared places make the true interval somewhat narrower.
    """
    z = NORMAL_95
    middle = rate + z * z / (2 * games)
    half = z * math.sqrt(rate * (1 - rate) / games + (z / (2 * games)) ** 2)
    whole = 1 + z * z / games
    return max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)


def elo(rate: float) -> float:
    """The Elo difference at which this rate is expected of two players: 400 for odds of ten to one.

    Source: A. Elo, "The rating of chessplayers, past and present" (1978), in the logistic form.
    """
    if rate in (0.0, 1.0):
        return math.inf if rate else -math.inf
    return 400 * math.log10(rate / (1 - rate))


def percentile(values: list[float], part: float) -> float:
    """The smallest of the values that so large a part of them does not exceed (the nearest rank)."""
    return sorted(values)[math.ceil(part * len(values)) - 1]
