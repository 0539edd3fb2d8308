"""A game as it was played: what happened, in order, with comments and variations, and a replay that checks all of it.

A record is a tree of nodes in one flat tuple: each node names the one that it follows by its number, so that nothing
here recurses, however long a game or deep its variations.  Node 0 is the beginning.

>>> from .variant import variant
>>> record = Record.of(variant("duo"), ["e10", "j5", "f8,f9"])
>>> replay = record.replay()
>>> replay.end.points(0), replay.end.turn, replay.outcome
(3, 1, None)
>>> replace(record, nodes=(*record.nodes, Node(3, 0, record.nodes[3].move))).replay()
Traceback (most recent call last):
    ...
games.territory.rules.errors.RecordError: node 4: Blue is not to move; it is Orange's turn.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .errors import IllegalMoveError, RecordError, RulesError
from .geometry import board
from .notation import Move, parse_move
from .outcome import Leavers, Outcome, Termination, outcome, with_leaver
from .position import Position
from .variant import Variant

Properties = Mapping[str, tuple[str, ...]]
"""What a node says beyond the game itself, as SGF properties: their names, and the values of each."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A position that is set up rather than played: some pieces are taken away, then others put down."""

    placed: tuple[tuple[Move, ...], ...]
    """The pieces that are put down, for every colour; they count as placed in this order."""
    removed: tuple[Move, ...] = ()
    """Pieces that are taken away.  One that is not there does no harm, as files of other programs have it."""
    turn: int | None = None
    """The colour that moves next, if it can; ``None`` leaves it to the move that follows."""


@dataclass(frozen=True, slots=True)
class Node:
    """One step of a record: a set-up, or a move, or both in this order, and the seats that left afterwards."""

    parent: int
    """The number of the node that this one follows: smaller than its own, and -1 for the beginning."""
    colour: int | None = None
    move: Move | None = None
    """The move, of ``colour``; a node has both or neither."""
    setup: Setup | None = None
    left: tuple[tuple[int, Termination], ...] = ()
    """The seats that stopped playing after this, and why."""
    at: int | None = None
    """When it happened, in milliseconds since the epoch, if that is known."""
    comment: str = ""
    properties: Properties = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.colour is None) != (self.move is None):
            raise ValueError("a move is of a colour, and a colour makes a move")


@dataclass(frozen=True, slots=True)
class Record:
    """A game and how it went.  The main line runs from node 0 through the first follower of each node."""

    variant: Variant
    nodes: tuple[Node, ...] = (Node(-1),)
    players: tuple[str, ...] = ()
    """Who plays each seat, an empty text for an unknown one; or nothing at all."""
    date: str = ""
    """The day, such as ``2026-11-30``; as SGF has it, the text may also name several."""
    result: Outcome | None = None
    """What is said of the end.  ``replay`` holds it against the moves."""

    def __post_init__(self) -> None:
        if not self.nodes or any(
            not 0 <= node.parent < number for number, node in enumerate(self.nodes[1:], 1)
        ):
            raise ValueError(
                "a node follows one that stands before it, and the first is the beginning"
            )

    @classmethod
    def of(
        cls, variant: Variant, moves: Iterable[str], players: Sequence[str] = (), date: str = ""
    ) -> "Record":
        """The record of moves from the empty board, each by whoever is to move.

        Raises ``RulesError`` for a text that is no move, or not a legal one.
        """
        nodes = [Node(-1)]
        position = Position.start(variant)
        for number, text in enumerate(moves):
            move = parse_move(text, variant)
            nodes.append(Node(number, position.turn, move))
            position = position.play(move)
        return cls(variant, tuple(nodes), tuple(players), date)

    @property
    def main_line(self) -> tuple[int, ...]:
        """The numbers of the main line's nodes, the beginning included."""
        followers = self.followers()
        line = [0]
        while followers[line[-1]]:
            line.append(followers[line[-1]][0])
        return tuple(line)

    def followers(self) -> tuple[tuple[int, ...], ...]:
        """For every node the numbers of those that follow it: the main line's first, then the variations."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for number, node in enumerate(self.nodes[1:], 1):
            found[node.parent].append(number)
        return tuple(map(tuple, found))

    def replay(self) -> "Replay":
        """Play it all again, variations too.

        Raises ``RecordError`` with the number of the first node that cannot be, or with ``wrong-result`` if the
        main line ends otherwise than ``result`` says.
        """
        before: list[Position] = []
        after: list[_At] = []
        for number, node in enumerate(self.nodes):
            at = after[node.parent] if number else _At.start(self.variant)
            try:
                at = at.ready_for(node)
                before.append(at.position)
                after.append(at.then(node))
            except RulesError as error:
                raise RecordError(str(error), code=error.code, node=number) from error
        line = self.main_line
        end = after[line[-1]]
        found = None
        aborted = self.result is not None and self.result.termination is Termination.ABORTED
        if end.position.is_over or aborted:
            found = outcome(end.position, end.leavers, aborted=aborted)
        if self.result is not None and self.result != found:
            raise RecordError(
                f"The result is not that of the moves: they give {found or 'none, for the game is not over'}.",
                code="wrong-result",
            )
        return Replay(self, tuple(at.position for at in after), tuple(before), line, found)

    def with_result(self, *, aborted: bool = False) -> "Record":
        """The same with the result that the moves give; raises ``RecordError`` as ``replay`` does."""
        bare = replace(self, result=None)
        end = bare.replay()
        if not aborted:
            return replace(self, result=end.outcome)
        leavers: Leavers = ()
        for number in end.line:
            for seat, reason in self.nodes[number].left:
                leavers = with_leaver(leavers, seat, reason)
        return replace(self, result=outcome(end.end, leavers, aborted=True))


@dataclass(frozen=True, slots=True)
class Replay:
    """A record that has been checked."""

    record: Record
    positions: tuple[Position, ...]
    """The position after each node."""
    before: tuple[Position, ...]
    """The position in which each node's move was made: its set-up is done, and its colour is to move."""
    line: tuple[int, ...]
    """The numbers of the main line's nodes."""
    outcome: Outcome | None
    """How the main line ended; ``None`` if the game is not over."""

    @property
    def end(self) -> Position:
        """The position at the end of the main line."""
        return self.positions[self.line[-1]]

    def plies(self) -> Iterator[int]:
        """The numbers of those nodes of the main line in which a piece was placed, in order."""
        return (number for number in self.line if self.record.nodes[number].move is not None)


@dataclass(frozen=True, slots=True)
class _At:
    """Where a replay stands: the position, and what a later set-up needs to know of the way there."""

    position: Position
    placed: tuple[tuple[Move, ...], ...]
    """The pieces on the board, for every colour."""
    leavers: Leavers = ()
    turn_is_open: bool = False
    """Whether a set-up has left it to the next move who is to move."""

    @classmethod
    def start(cls, variant: Variant) -> "_At":
        return cls(Position.start(variant), ((),) * len(variant.colours))

    def ready_for(self, node: Node) -> "_At":
        """With the set-up of a node, and the turn given to the colour of its move where it is open."""
        at = self if node.setup is None else self._set_up(node.setup)
        colour = node.colour
        if colour is not None and at.turn_is_open and at.position.is_playing(colour):
            at = replace(at, position=replace(at.position, turn=colour))
        return at

    def then(self, node: Node) -> "_At":
        """After the move of a node, for which everything is ready, and the seats that left."""
        at = self
        if node.move is not None and node.colour is not None:
            at = at._played(node.move, node.colour)
        for seat, reason in node.left:
            at = at._left(seat, reason)
        return at

    def _set_up(self, setup: Setup) -> "_At":
        kept = [list(mine) for mine in self.placed]
        for move in setup.removed:
            _take_away(move, kept)
        placed = tuple((*before, *new) for before, new in zip(kept, setup.placed, strict=True))
        before = self.position.turn or 0
        turn = before if setup.turn is None else setup.turn
        position = Position.setup(self.position.variant, placed, turn)
        for seat, reason in self.leavers:
            if reason is not Termination.REPLACED:
                position = position.without_seat(seat).position
        return _At(position, placed, self.leavers, turn_is_open=setup.turn is None)

    def _played(self, move: Move, colour: int) -> "_At":
        placed = list(self.placed)
        placed[colour] = (*placed[colour], move)
        return _At(self.position.play(move, colour), tuple(placed), self.leavers)

    def _left(self, seat: int, reason: Termination) -> "_At":
        if self.position.is_over:
            raise IllegalMoveError("game-over", "Nobody can leave a game that is over.")
        if seat in self.position.gone:
            raise RulesError(f"Seat {seat} has left before.", code="not-seated")
        position = self.position
        if reason is not Termination.REPLACED:
            position = position.without_seat(seat).position
        leavers = with_leaver(self.leavers, seat, reason)
        return replace(self, position=position, leavers=leavers)


def _take_away(move: Move, placed: list[list[Move]]) -> None:
    """Take a piece off the board; nothing happens where nothing lies."""
    for mine in placed:
        if move in mine:
            mine.remove(move)
            return
    for mine in placed:
        for there in mine:
            if there.mask & move.mask:
                cell = next(board(move.size).split(there.mask & move.mask))
                raise RulesError(
                    f"{cell} is covered by {there.text}, which can only go as a whole.",
                    code="not-placed",
                )
