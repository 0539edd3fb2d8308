"""Runs of the block puzzle to measure with: placements of little thought that go on for thousands of turns."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from games.puzzle.rules import Legal, Rules, Run, aim, legal, place, start

LONG = Rules.of("easy")
"""Small blocks that may be turned, and fit when they are dealt: a careful player need not lose."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A run before a placement, and the placement."""

    run: Run
    seed: bytes
    chosen: Legal

    def play(self) -> object:
        return place(self.run, self.seed, self.chosen.slot, self.chosen.rotation, self.chosen.at)


def played(rules: Rules, seed: bytes, count: int) -> Iterator[Sample]:
    """So many placements of a run, or up to its end: each leaves as few and as smooth covered cells as it can."""
    run = start(rules, seed)
    while not run.over and run.turn < count:
        chosen = min(legal(run), key=lambda each, run=run: _roughness(run, each))  # type: ignore[misc]
        yield Sample(run, seed, chosen)
        run, _ = place(run, seed, chosen.slot, chosen.rotation, chosen.at)


def _roughness(run: Run, each: Legal) -> int:
    """Covered cells after the placement, and the edges between covered and empty ones."""
    kind = run.rules.board
    _, mask = aim(run, each.slot, each.rotation, each.at)
    board = run.board | mask
    for line in each.lines:
        board &= ~line.mask
    across = (board ^ board >> 1) & kind.full & kind.full >> 1
    along = (board ^ board >> kind.stride) & kind.full & kind.full >> kind.stride
    return board.bit_count() + across.bit_count() + along.bit_count()


def wish(sample: Sample) -> dict[str, Any]:
    """The placement as a command."""
    chosen = sample.chosen
    return {
        "turn": sample.run.turn,
        "slot": chosen.slot,
        "rotation": chosen.rotation,
        "at": chosen.at,
    }
