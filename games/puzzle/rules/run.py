"""A run: the board, the hand and the score as an immutable value, and what placing and taking back make of it.

>>> seed = bytes(32)
>>> run = start(Rules.of("easy", undo="once"), seed)
>>> [block.text for block in run.hand]
['O/0', 'V5/1', 'O/0']
>>> run, placed = place(run, seed, slot=1, rotation=1, at="a1")
>>> placed.cells, run.score, [block and block.text for block in run.hand]
(('a1', 'b1', 'c1', 'a2', 'a3'), 5, ['O/0', None, 'O/0'])
>>> take_back(run).score, take_back(run).turn
(0, 2)

The seed is an argument and no part of the run, so that a run can be shown to its player.
"""

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from .blocks import Block
from .board import Line, Mask
from .deal import HAND, SEED_BYTES, anchors, deal
from .deal import fits as block_fits
from .errors import IllegalPlacementError, UndoError
from .rules import Rules

LINE_POINTS: Final = 10
TOP_MULTIPLIER: Final = 5

Hand: TypeAlias = tuple[Block | None, ...]
"""The three slots; ``None`` for a block that has been placed."""


@dataclass(frozen=True, slots=True)
class Statistics:
    placements: int = 0
    squares: int = 0
    """Squares placed."""
    lines: int = 0
    """Lines cleared."""
    largest_clear: int = 0
    """The most lines cleared by one placement."""
    longest_streak: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """A run between two placements."""

    rules: Rules
    board: Mask
    hand: Hand
    draws: int
    """How many blocks have been dealt: the number of the next draw."""
    score: int = 0
    streak: int = 0
    streak_at_risk: bool = False
    """Whether the latest placement cleared nothing: the next one has to, or else the streak ends."""
    turn: int = 0
    """How many placements and undos have been accepted; it never goes down."""
    over: bool = False
    undo_used: bool = False
    statistics: Statistics = Statistics()
    before: "Run | None" = None
    """What an undo goes back to, without a ``before`` of its own; ``None`` if there can be none."""


@dataclass(frozen=True, slots=True)
class Points:
    """One reason for points."""

    reason: str
    """``squares`` or ``lines``."""
    count: int
    """How many squares or lines."""
    multiplier: int
    """What the streak multiplied the points by; 1 for squares."""
    points: int


@dataclass(frozen=True, slots=True)
class Preview:
    """What a placement would cover and clear."""

    block: Block
    """The block as turned."""
    mask: Mask
    """The cells that it covers."""
    lines: tuple[Line, ...]
    """The lines that would clear."""

    @property
    def cleared(self) -> Mask:
        """All cells of these lines."""
        mask = 0
        for line in self.lines:
            mask |= line.mask
        return mask


@dataclass(frozen=True, slots=True)
class Placed:
    """What a placement did."""

    block: Block
    """The block as turned."""
    cells: tuple[str, ...]
    """The cells that it covered: by row, then by column."""
    lines: tuple[str, ...]
    """The lines that cleared, such as ``row 3``, ``column d`` or ``box d4``."""
    cleared: tuple[str, ...]
    """The cells that became empty."""
    points: tuple[Points, ...]
    dealt: tuple[Block, ...]
    """The new hand, if this was its last block; else nothing."""
    over: bool

    @property
    def total(self) -> int:
        """The points of all reasons together."""
        return sum(each.points for each in self.points)


@dataclass(frozen=True, slots=True)
class Legal:
    """A placement that the rules allow."""

    slot: int
    rotation: int
    """Quarter turns clockwise.  Turns that give the same cells are listed once, as the least of them."""
    at: str
    """The lower left corner of the turned block's bounding box."""
    lines: tuple[Line, ...]
    """The lines it would clear."""


def start(rules: Rules, seed: bytes) -> Run:
    """A new run with its first hand."""
    if len(seed) != SEED_BYTES:
        raise ValueError(f"a seed has {SEED_BYTES} bytes")
    return Run(rules, board=0, hand=deal(rules, seed, first=0, board=0), draws=HAND)


def place(run: Run, seed: bytes, slot: int, rotation: int, at: str) -> tuple[Run, Placed]:
    """Place the block of a slot (0 to 2), turned by so many quarter turns clockwise (0 to 3).

    ``at`` is the cell at the lower left corner of the turned block's bounding box; the block need not cover it.
    Raises ``IllegalPlacementError``.
    """
    plan = preview(run, slot, rotation, at)
    rules = run.rules
    board = (run.board | plan.mask) & ~plan.cleared
    hand: Hand = (*run.hand[:slot], None, *run.hand[slot + 1 :])
    dealt: tuple[Block, ...] = ()
    if not any(hand):
        hand = dealt = deal(rules, seed, run.draws, board)
    over = not any(block and block_fits(rules, board, block) for block in hand)
    streak, streak_at_risk = _streak_after(run, len(plan.lines))
    points = _points(len(plan.block.form), len(plan.lines), streak)
    after = Run(
        rules=rules,
        board=board,
        hand=hand,
        draws=run.draws + len(dealt),
        score=run.score + sum(each.points for each in points),
        streak=streak,
        streak_at_risk=streak_at_risk,
        turn=run.turn + 1,
        over=over,
        undo_used=run.undo_used,
        statistics=_counted(run.statistics, plan, streak),
        before=replace(run, before=None) if rules.undo == "once" and not run.undo_used else None,
    )
    split = rules.board.split
    return after, Placed(
        block=plan.block,
        cells=tuple(split(plan.mask)),
        lines=tuple(line.text for line in plan.lines),
        cleared=tuple(split(plan.cleared)),
        points=points,
        dealt=dealt,
        over=over,
    )


def take_back(run: Run) -> Run:
    """The run as it was before the latest placement, also after its end; the same draws follow.

    Only ``turn`` goes on, and ``undo_used`` stays.  Raises ``UndoError``.
    """
    if run.rules.undo == "off":
        raise UndoError("undo-off", "In this run no placement can be taken back.")
    if run.undo_used:
        raise UndoError("undo-used", "One placement of this run has been taken back already.")
    if run.before is None:
        raise UndoError("nothing-to-undo", "There is no placement to take back yet.")
    return replace(run.before, turn=run.turn + 1, undo_used=True)


def aim(run: Run, slot: int, rotation: int, at: str) -> tuple[Block, Mask]:
    """The turned block and the cells under it, which may be occupied; raises what ``place`` raises for all else."""
    if run.over:
        raise IllegalPlacementError("run-over", "The run is over: no block of the hand fits.")
    block = run.hand[slot] if 0 <= slot < HAND else None
    if block is None:
        raise IllegalPlacementError("block-not-in-hand", "There is no block in this slot.")
    if not 0 <= rotation < 4 or (rotation and not run.rules.rotation):
        allowed = "0 to 3 quarter turns" if run.rules.rotation else "none"
        raise IllegalPlacementError(
            "rotation-not-allowed",
            f"{rotation!r:.20} quarter turns are not allowed here, only {allowed}.",
        )
    kind, turned = run.rules.board, block.turned(rotation)
    corner = kind.cells.get(at)
    if corner is None:
        raise IllegalPlacementError(
            "outside-board", f"{at!r:.20} is no cell of the board {kind.key}."
        )
    if not corner & anchors(kind, 0, turned):
        raise IllegalPlacementError(
            "outside-board", f"The block {turned} reaches over the edge from {at}."
        )
    return turned, corner * _base(turned, kind.stride)


def preview(run: Run, slot: int, rotation: int, at: str) -> Preview:
    """What ``place`` would cover and clear; raises what it raises."""
    turned, mask = aim(run, slot, rotation, at)
    if mask & run.board:
        cell = next(run.rules.board.split(mask & run.board))
        raise IllegalPlacementError("cells-occupied", f"The cell {cell} is occupied.")
    return Preview(turned, mask, would_clear(run, mask))


def legal(run: Run) -> list[Legal]:
    """Every placement that the rules allow, by slot, rotation, row and column; none when the run is over."""
    found = []
    kind = run.rules.board
    for slot, block in enumerate(run.hand):
        if block is None:
            continue
        turns = block.turns if run.rules.rotation else (block,)
        near = _near(run, len(block.form))
        for rotation, turned in enumerate(turns):
            if turned in turns[:rotation]:
                continue
            base = _base(turned, kind.stride)
            corners = anchors(kind, run.board, turned)
            while corners:
                corner = corners & -corners
                corners ^= corner
                mask = corner * base
                lines = tuple(line for line, missing in near if mask & missing == missing)
                found.append(Legal(slot, rotation, kind.names[corner], lines))
    return found


def fits(run: Run) -> tuple[bool, bool, bool]:
    """Whether the block of each slot can be placed somewhere; ``False`` for an empty slot."""
    first, second, third = (
        block is not None and block_fits(run.rules, run.board, block) for block in run.hand
    )
    return first, second, third


def would_clear(run: Run, mask: Mask) -> tuple[Line, ...]:
    """The lines that a block on these cells would clear; none if one of them is occupied."""
    if mask & run.board:
        return ()
    board = run.board | mask
    return tuple(line for line in run.rules.board.lines if line.mask & board == line.mask)


# Parts of the above


def _near(run: Run, squares: int) -> list[tuple[Line, Mask]]:
    """The lines that so many squares can complete, with the cells that they miss."""
    missing = [(line, line.mask & ~run.board) for line in run.rules.board.lines]
    return [(line, cells) for line, cells in missing if cells.bit_count() <= squares]


def _base(block: Block, stride: int) -> Mask:
    """The cells of a block in the lower left corner of a board."""
    return sum(1 << (row * stride + column) for row, column in block.form)


def _streak_after(run: Run, lines: int) -> tuple[int, bool]:
    """The streak after a placement, and whether it is at risk: one placement in a row may clear nothing."""
    if lines:
        return run.streak + 1, False
    return 0 if run.streak_at_risk else run.streak, True


def _points(squares: int, lines: int, streak: int) -> tuple[Points, ...]:
    placed = Points("squares", squares, 1, squares)
    if not lines:
        return (placed,)
    multiplier = min(streak, TOP_MULTIPLIER)
    return placed, Points("lines", lines, multiplier, LINE_POINTS * lines**2 * multiplier)


def _counted(before: Statistics, plan: Preview, streak: int) -> Statistics:
    lines = len(plan.lines)
    return Statistics(
        placements=before.placements + 1,
        squares=before.squares + len(plan.block.form),
        lines=before.lines + lines,
        largest_clear=max(before.largest_clear, lines),
        longest_streak=max(before.longest_streak, streak),
    )
