"""Positions to measure the rules on: spread over whole random games, the same ones for the same seed."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from games.territory.rules import Move, Position, Variant
from games.territory.rules.notation import all_moves


@dataclass(frozen=True, slots=True)
class Sample:
    """A position, and the move that was made in it."""

    position: Position
    move: Move
    text: str
    """The move as its text."""
    choices: int
    """How many legal moves there were."""
    phase: int
    """0, 1 or 2: the third of its game in which the position stood."""


def samples(variant: Variant, *, games: int, count: int, seed: int) -> list[Sample]:
    """So many positions, or all if there are fewer, chosen among those of so many random games."""
    chance = Random(f"{variant.key} {seed}")
    every = [sample for _ in range(games) for sample in _random_game(variant, chance)]
    return chance.sample(every, min(count, len(every)))


def _random_game(variant: Variant, chance: Random) -> Iterator[Sample]:
    plies: list[tuple[Position, Move, int]] = []
    position = Position.start(variant)
    while not position.is_over:
        legal = list(position.legal())
        plies.append((position, chance.choice(legal), len(legal)))
        position = position.play(plies[-1][1])
    for ply, (before, move, choices) in enumerate(plies):
        yield Sample(before, move, move.text, choices, 3 * ply // len(plies))


def play_out(variant: Variant, chance: Random) -> int:
    """Play uniformly random legal moves to the end; returns how many there were."""
    position = Position.start(variant)
    plies = 0
    while not position.is_over:
        # Only the chosen placement is made a move.
        chosen = chance.choice(position.legal().masks())
        position = position.play(all_moves(variant.size)[chosen])
        plies += 1
    return plies


def warm_up(variant: Variant, games: int) -> None:
    """Fill the tables that the rules make on demand, as a process does in its first games."""
    for game in range(games):
        play_out(variant, Random(f"warm-up {game}"))
