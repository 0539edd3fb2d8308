"""The block puzzle a second time, from docs/puzzle.md alone: slowly, by sets and fractions, nothing of the product.

A cell is (column, row), both from 0 at the lower left.
"""

import hashlib
from fractions import Fraction
from itertools import product

Cell = tuple[int, int]
Cells = frozenset[Cell]

SMALL = {
    "1": "#",
    "2": "##",
    "I3": "###",
    "V3": "##/#",
    "O": "##/##",
    "L4": "###/#",
    "T4": "###/ #",
    "Z4": "##/ ##",
    "I4": "####",
}
BIG = {
    "I5": "#####",
    "V5": "###/#/#",
    "X": " #/###/ #",
    "U": "###/# #",
    "T5": "###/ #/ #",
    "W": "##/ ##/  #",
    "R6": "###/###",
    "O9": "###/###/###",
}
BIG_SHARE = {
    "mostly-small": Fraction(10, 100),
    "some-big": Fraction(35, 100),
    "mostly-big": Fraction(70, 100),
}


def to_corner(cells: set[Cell]) -> Cells:
    left, bottom = min(x for x, _ in cells), min(y for _, y in cells)
    return frozenset((x - left, y - bottom) for x, y in cells)


def clockwise(cells: Cells) -> Cells:
    return to_corner({(y, -x) for x, y in cells})


def turned(cells: Cells, times: int) -> Cells:
    for _ in range(times):
        cells = clockwise(cells)
    return cells


def by_rows(cells: Cells) -> list[Cell]:
    """The sorting key: rows and columns of the cells, the lowest row first."""
    return sorted((y, x) for x, y in cells)


def forms(drawing: str) -> list[Cells]:
    drawn = to_corner(
        {
            (x, y)
            for y, line in enumerate(drawing.split("/"))
            for x, mark in enumerate(line)
            if mark == "#"
        }
    )
    mirrored = to_corner({(-x, y) for x, y in drawn})
    return sorted(
        {turned(each, times) for each in (drawn, mirrored) for times in range(4)}, key=by_rows
    )


BLOCKS: dict[str, Cells] = {
    f"{shape}/{number}": form
    for shape, drawing in {**SMALL, **BIG}.items()
    for number, form in enumerate(forms(drawing))
}


class Game:
    """A run by ``rules`` as a record has them."""

    def __init__(self, rules: dict[str, object], seed: bytes) -> None:
        self.rules = rules
        self.seed = seed
        self.size = int(str(rules["board"]).partition("x")[0])
        self.board: set[Cell] = set()
        self.k = 0
        self.score = self.streak = self.missed = 0
        self.hand: list[str | None] = []
        self.deal()

    def inside(self, cell: Cell) -> bool:
        return all(0 <= at < self.size for at in cell)

    def room_for(self, form: Cells) -> list[Cell]:
        """Where the corner of the form can be."""
        return [
            (x, y)
            for x, y in product(range(self.size), repeat=2)
            if all(self.inside((x + a, y + b)) for a, b in form)
            and not self.board & {(x + a, y + b) for a, b in form}
        ]

    def fits(self, block: str) -> bool:
        turns = 4 if self.rules["rotation"] else 1
        return any(self.room_for(turned(BLOCKS[block], times)) for times in range(turns))

    def draw(self) -> str:
        share = BIG_SHARE[str(self.rules["shapes"])]
        text = b"kado-deal-1" + self.seed + self.k.to_bytes(8, "big")
        part = Fraction(int(hashlib.sha256(text).hexdigest(), 16), 2**256)
        self.k += 1
        weights: dict[str, Fraction] = {}
        for block in BLOCKS:
            shape = block.partition("/")[0]
            tier, whole = (SMALL, 1 - share) if shape in SMALL else (BIG, share)
            siblings = sum(each.startswith(f"{shape}/") for each in BLOCKS)
            if self.rules["dealing"] == "random" or self.fits(block):
                weights[block] = whole / len(tier) / siblings
        target = part * sum(weights.values())
        for block, weight in weights.items():
            target -= weight
            if target < 0:
                return block
        raise AssertionError("the parts make a whole")

    def deal(self) -> None:
        self.hand = [self.draw() for _ in range(3)]

    def lines(self) -> list[Cells]:
        whole = range(self.size)
        rows = [frozenset((x, y) for x in whole) for y in whole]
        columns = [frozenset((x, y) for y in whole) for x in whole]
        boxes = [
            frozenset((left + a, low + b) for a, b in product(range(3), repeat=2))
            for left, low in product(range(0, 9, 3), repeat=2)
        ]
        return rows + columns + (boxes if self.size == 9 else [])

    def place(self, slot: int, rotation: int, at: str) -> None:
        block = self.hand[slot]
        assert block is not None
        corner = "abcdefghij".index(at[0]), int(at[1:]) - 1
        form = turned(BLOCKS[block], rotation)
        assert corner in self.room_for(form)
        self.board |= {(corner[0] + a, corner[1] + b) for a, b in form}
        full = [line for line in self.lines() if line <= self.board]
        self.board -= {cell for line in full for cell in line}
        if full:
            self.streak, self.missed = self.streak + 1, 0
        else:
            self.missed += 1
            self.streak = self.streak if self.missed < 2 else 0
        self.score += len(form) + 10 * len(full) ** 2 * min(self.streak, 5)
        self.hand[slot] = None
        if self.hand == [None] * 3:
            self.deal()

    @property
    def over(self) -> bool:
        return not any(block and self.fits(block) for block in self.hand)

    @property
    def rows(self) -> tuple[str, ...]:
        whole = range(self.size)
        return tuple(
            "".join("#" if (x, y) in self.board else "." for x in whole) for y in reversed(whole)
        )
