"""Runs for tests: set up as one likes, or played by chance."""

import random
from collections.abc import Iterator
from dataclasses import replace

from games.puzzle.rules import Block, Legal, Placed, Rules, Run, legal, place, start

SEED = bytes(range(32))


def run_with(rules: Rules, *rows: str, hand: str = "1/0 1/0 1/0", streak: int = 0) -> Run:
    """A run on a board that is drawn here, its top row first; ``-`` in the hand is an empty slot."""
    board = rules.board.read_rows(rows) if rows else 0
    blocks = tuple(None if text == "-" else Block.read(text) for text in hand.split())
    return replace(start(rules, SEED), board=board, hand=blocks, streak=streak)


def played(
    rules: Rules, seed: bytes, chance: random.Random, at_most: int
) -> Iterator[tuple[Run, Legal | None, Placed | None]]:
    """A run from its start on, each time with the placement before and what it did: half the best, half any."""
    run = start(rules, seed)
    yield run, None, None
    while not run.over and run.turn < at_most:
        choices = legal(run)
        pick = chance.choice(choices)
        if chance.random() < 0.5:
            pick = max(choices, key=lambda each: (len(each.lines), chance.random()))
        run, placed = place(run, seed, pick.slot, pick.rotation, pick.at)
        yield run, pick, placed
