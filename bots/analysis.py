"""What an engine thinks of a game that is over, ply by ply: values, best moves, and which moves were mistakes.

Pure, and without the engine, so that web processes may import it: `bots.analyst` searches, and what it finds of each
ply is a `Finding`.  Here is what follows from the findings.

A *value* is what a seat may expect in a position, from 0 to 1: half of it is the chance to win, and half the lead in
points over the best other seat, where 0.5 is no lead (the reward of the search, see docs/engine.md).  With two seats
both values add up to 1; with more they need not, and each seat has its own.

>>> from games.territory.rules import Record, variant
>>> replay = Record.of(variant("duo"), ["e10", "j5"]).replay()
>>> [(step.ply, step.seat, step.move.text, step.goes_on) for step in steps(replay)]
[(0, 0, 'e10', True), (1, 1, 'j5', False)]
>>> mark_of(0.12).value, mark_of(0.0).value
('mistake', 'good')
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Final

from games.territory.rules import Move, Node, Position, Record, Replay, Variant

SIMULATIONS: Final = 10_000
"""For each position, unless somebody asks for others: a game of duo takes ten seconds on one core."""
DIGITS: Final = 4
"""Decimal places of a value: more would be noise."""
WORD: Final = "Analysis:"
"""What our paragraph of a comment begins with."""


class Mark(StrEnum):
    """What is said of a move."""

    GOOD = "good"
    INACCURACY = "inaccuracy"
    MISTAKE = "mistake"
    BLUNDER = "blunder"


THRESHOLDS: Final = {Mark.INACCURACY: 0.05, Mark.MISTAKE: 0.1, Mark.BLUNDER: 0.2}
"""A move that loses so much of its seat's value, or more, is marked so.

Two searches of one position differ by one or two hundredths, so less than the first of them says nothing.
"""
SIGNS: Final = {Mark.INACCURACY: "?!", Mark.MISTAKE: "?", Mark.BLUNDER: "??"}
"""How books of games mark such moves."""
_SGF: Final = {Mark.INACCURACY: ("DO", ""), Mark.MISTAKE: ("BM", "1"), Mark.BLUNDER: ("BM", "2")}
"""The same in SGF: doubtful, bad, very bad."""
_SGF_MARKS: Final = {"BM", "DO", "IT", "TE"}
"""Of which a node may have one."""


@dataclass(frozen=True, slots=True)
class Step:
    """One ply of the main line of a record."""

    ply: int
    node: int
    """The number of its node."""
    before: Position
    seat: int
    """The seat that moved."""
    colour: int
    move: Move
    after: Position
    """Right after the move, before any seat left."""
    goes_on: bool
    """Whether this is also the position in which the next ply was made."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What searching has found about one ply."""

    values: tuple[float, ...]
    """Of the position before it, for each seat."""
    best: Move
    best_value: float | None = None
    """Of the position after the best move, for the seat that moves; none if that is the one that was made."""
    after: tuple[float, ...] | None = None
    """Of the position after the ply, for each seat, if the next ply was not made in it."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A ply and what is thought of it."""

    step: Step
    before: tuple[float, ...]
    """For each seat."""
    after: tuple[float, ...]
    best: Move
    best_value: float
    """What the best move leads to, for the seat that moved."""

    @property
    def loss(self) -> float:
        """What the move gave away, 0 or more: the value after the best move less that after the one that was made."""
        return round(self.best_value - self.after[self.step.seat], DIGITS)

    @property
    def mark(self) -> Mark:
        return mark_of(self.loss)


@dataclass(frozen=True, slots=True)
class Review:
    """The analysis of a whole record."""

    record: Record
    plies: tuple[Judged, ...]
    end: tuple[float, ...] | None
    """The rewards of the result; none if the game was aborted or is not over."""

    @property
    def variant(self) -> Variant:
        return self.record.variant

    @property
    def curve(self) -> tuple[tuple[float, ...], ...]:
        """The values of each seat before the first ply and after every ply."""
        first = self.plies[0].before
        return (first, *(ply.after for ply in self.plies))


def mark_of(loss: float) -> Mark:
    """The worst mark whose threshold a loss has come to."""
    return max(
        (mark for mark, least in THRESHOLDS.items() if loss >= least),
        key=THRESHOLDS.__getitem__,
        default=Mark.GOOD,
    )


def steps(replay: Replay) -> tuple[Step, ...]:
    """The plies of a record's main line."""
    found: list[Step] = []
    for ply, node in enumerate(replay.plies()):
        said, before = replay.record.nodes[node], replay.before[node]
        seat = before.seat_to_move
        assert said.move is not None
        assert said.colour is not None
        assert seat is not None
        after = before.play(said.move)
        found.append(Step(ply, node, before, seat, said.colour, said.move, after, goes_on=False))
    return tuple(
        [replace(one, goes_on=one.after == other.before) for one, other in pairwise(found)]
        + found[-1:]
    )


def review(replay: Replay, findings: Sequence[Finding], end: Sequence[float] | None) -> Review:
    """What follows from the findings of all plies, and the rewards of the end."""
    plies: list[Judged] = []
    for step, found in zip(steps(replay), findings, strict=True):
        # The last ply has an `after`: no other is made in its position.
        after = found.after or findings[step.ply + 1].values
        played = after[step.seat]
        best, value = found.best, found.best_value
        if value is None or value <= played:
            # What was made is the best that is known, perhaps better than the search had thought.
            best, value = step.move, played
        plies.append(Judged(step, found.values, after, best, value))
    return Review(replay.record, tuple(plies), None if end is None else tuple(end))


# In words


def annotated(about: Review, engine: str, simulations: int) -> Record:
    """The record with the analysis in its comments, and the marks of SGF.

    Comments that are there stay; what an earlier analysis said is replaced.
    """
    nodes = [_without_analysis(node) for node in about.record.nodes]
    made_by = f"by {engine}, {simulations:,} simulations a position."
    nodes[0] = _with_paragraph(nodes[0], f"{made_by} {_heading(about)}")
    for ply in about.plies:
        node = _with_paragraph(nodes[ply.step.node], sentence(ply, about.variant))
        if ply.mark in _SGF:
            kept = {k: v for k, v in node.properties.items() if k not in _SGF_MARKS}
            name, value = _SGF[ply.mark]
            node = replace(node, properties={**kept, name: (value,)})
        nodes[ply.step.node] = node
    return replace(about.record, nodes=tuple(nodes))


def sentence(ply: Judged, on: Variant) -> str:
    """What is thought of a ply, in one line."""
    seat = ply.step.seat
    said = [f"{seat_name(on, seat)} {ply.before[seat]:.2f} → {ply.after[seat]:.2f}."]
    if ply.best == ply.step.move:
        said.append("The best move.")
    else:
        said.append(f"Best: {ply.best.piece} {ply.best.text} ({ply.best_value:.2f}).")
    if ply.mark is not Mark.GOOD:
        said.append(f"{ply.mark.value.capitalize()}: {ply.loss:.2f} lost.")
    return " ".join(said)


def seat_name(on: Variant, seat: int) -> str:
    """A seat by its colours: `Blue`, or `Blue/Red`."""
    return "/".join(on.colours[colour].capitalize() for colour in on.colours_of(seat))


def counts(about: Review, seat: int) -> dict[Mark, int]:
    """How often a seat made a move of each mark but the good ones."""
    marks = [ply.mark for ply in about.plies if ply.step.seat == seat]
    return {mark: marks.count(mark) for mark in THRESHOLDS}


def _heading(about: Review) -> str:
    seats = [
        f"{seat_name(about.variant, seat)} {' '.join(tally)}"
        for seat in range(about.variant.seats)
        if (tally := list(_tally(counts(about, seat))))
    ]
    found = f"{'; '.join(seats)}." if seats else "No mistakes."
    return f"Values are from 0 to 1, half winning and half the lead. {found}"


def _tally(found: dict[Mark, int]) -> Iterator[str]:
    return (f"{number}×{SIGNS[mark]}" for mark, number in found.items() if number)


def _with_paragraph(node: Node, text: str) -> Node:
    return replace(node, comment="\n\n".join(filter(None, [node.comment, f"{WORD} {text}"])))


def _without_analysis(node: Node) -> Node:
    """A node without our paragraph, and without the mark that came with it."""
    paragraphs = node.comment.split("\n\n")
    others = [text for text in paragraphs if not text.startswith(WORD)]
    if len(others) == len(paragraphs):
        return node
    kept = {name: values for name, values in node.properties.items() if name not in _SGF_MARKS}
    return replace(node, comment="\n\n".join(others), properties=kept)
