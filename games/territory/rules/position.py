"""The immutable state of the board, and the one step that changes it: a move, or a seat leaving.

Colours are numbers in turn order, seats are numbers; the variant knows their names.  A colour is
found to be out when its turn comes, and stays out.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from .errors import IllegalMoveError, RulesError
from .geometry import Mask, board
from .notation import Move, all_moves
from .placements import Placements
from .variant import Variant

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Position:
    """Squares, pieces left, who is out, who left, and the colour to move (``None`` at the end)."""

    variant: Variant
    squares: tuple[Mask, ...]
    """The cells that each colour covers."""
    left: tuple[tuple[str, ...], ...]
    """The pieces that each colour has left, one entry for each copy, smallest first."""
    last: tuple[str | None, ...]
    """The piece that each colour placed last."""
    turn: int | None
    out: frozenset[int] = frozenset()
    """The colours found to have no placement left."""
    gone: frozenset[int] = frozenset()
    """The seats that stopped playing."""

    @classmethod
    def start(cls, variant: Variant) -> "Position":
        """The empty board, with the first colour to move."""
        colours = len(variant.colours)
        return cls(
            variant=variant,
            squares=(0,) * colours,
            left=(variant.hand,) * colours,
            last=(None,) * colours,
            turn=0,
        )

    @classmethod
    def setup(cls, variant: Variant, placed: Sequence[Iterable[Move]], turn: int = 0) -> "Position":
        """A board with the given placements of each colour; ``turn`` moves next if it can.

        Only overlaps and pieces used too often are refused, so that a study can be set up freely.
        """
        position = cls.start(variant)
        for colour, moves in enumerate(placed):
            for move in moves:
                position._check_piece(move, colour)
                position = position._with(move, colour)
        colours = len(variant.colours)
        return replace(position, turn=(turn - 1) % colours)._passed_on().position

    # What there is to see

    @property
    def is_over(self) -> bool:
        """Whether nobody is to move any more."""
        return self.turn is None

    @property
    def occupied(self) -> Mask:
        """The cells that any colour covers."""
        occupied = 0
        for mask in self.squares:
            occupied |= mask
        return occupied

    @property
    def seat_to_move(self) -> int | None:
        """The seat whose move it is, or ``None`` when the game is over."""
        return None if self.turn is None else self.seat_of(self.turn)

    def seat_of(self, colour: int) -> int | None:
        """The seat that makes this colour's next move; ``None`` if it has stopped playing.

        The moves of a shared colour go round the seats, beginning with seat 0: the number of its
        pieces on the board says whose turn it is, so a skipped turn passes nothing on.  A seat that
        stopped playing is passed over in favour of the next one that plays.
        """
        owner = self.variant.owners[colour]
        if owner is not None:
            return None if owner in self.gone else owner
        seats = self.variant.seats
        first = len(self.variant.hand) - len(self.left[colour])
        for offset in range(seats):
            seat = (first + offset) % seats
            if seat not in self.gone:
                return seat
        return None

    def is_playing(self, colour: int) -> bool:
        """Whether the colour still gets turns, as far as is known."""
        return not self.is_over and colour not in self.out and self.seat_of(colour) is not None

    def points(self, colour: int) -> int:
        """Covered cells, and the bonus of a colour that has placed everything."""
        points = self.squares[colour].bit_count()
        if self.left[colour]:
            return points
        if self.last[colour] == "1":
            return points + self.variant.single_last_bonus
        return points + self.variant.all_placed_bonus

    # What can be placed

    def legal(self, colour: int | None = None) -> Placements:
        """What a colour may place: the one to move, or another one as if it were to move.

        That is nothing for a colour that is out or has stopped playing, and when the game is over.
        """
        if colour is None:
            colour = self.turn
        if colour is None or not self.is_playing(colour):
            return Placements(self.variant.size, (), 0, 0)
        return self._placements(colour)

    def has_placement(self, colour: int) -> bool:
        """Whether a colour could place anything; never true for one that stopped playing."""
        return bool(self.legal(colour))

    def attach_points(self, colour: int) -> tuple[str, ...]:
        """The free cells of which the colour's next piece covers at least one, in canonical order."""
        return tuple(board(self.variant.size).split(self.legal(colour).attach))

    def check(self, move: Move, colour: int | None = None) -> None:
        """Raise ``IllegalMoveError``, saying why, unless the colour to move may make this move.

        ``colour`` says who wants to move, if the caller knows it.
        """
        turn = self._turn()
        if colour is not None and colour != turn:
            raise IllegalMoveError(
                "not-to-move",
                f"{self._name(colour)} is not to move; it is {self._name(turn)}'s turn.",
            )
        self._check_piece(move, turn)
        tables = board(self.variant.size)
        own = self.squares[turn]
        if not own:
            first = self.variant.first_cells[turn]
            if not move.mask & tables.cells[first]:
                raise IllegalMoveError(
                    "first-cell-not-covered",
                    f"{self._name(turn)}'s first piece has to cover {first}.",
                )
            return
        touched = tables.edges(move.mask) & own
        if touched:
            raise IllegalMoveError(
                "edge-contact",
                f"The piece touches {self._name(turn)}'s square {next(tables.split(touched))} "
                "along an edge; pieces of one colour may only touch at corners.",
            )
        if not tables.corners(move.mask) & own:
            raise IllegalMoveError(
                "no-corner-contact",
                f"The piece touches no square of {self._name(turn)} at a corner.",
            )

    # Steps

    def play(self, move: Move, colour: int | None = None) -> "Position":
        """The position after a move of the colour to move; see ``advance`` for what else it did."""
        return self.advance(move, colour).position

    def advance(self, move: Move, colour: int | None = None) -> "Step":
        """Check a move, make it, and pass the turn on; raises ``IllegalMoveError``."""
        self.check(move, colour)
        return self._with(move, self._turn())._passed_on()

    def apply(self, move: Move, newly_out: Collection[int] | None = None) -> "Position":
        """The same position as ``play``, for a move that is known to be legal.

        With the ``newly_out`` of the recorded step nothing is searched either.
        """
        after = self._with(move, self._turn())
        if newly_out is None:
            return after._passed_on().position
        return after._passed_on(lambda colour: colour not in newly_out).position

    def without_seat(self, seat: int) -> "Step":
        """The position after a seat stopped playing: it resigned, or its time was up.

        Its squares stay, its colours get no more turns (they do not count as out), and a shared
        colour is played by the seats that remain.  With fewer than two seats left the game is over.
        Raises ``RulesError`` with ``not-seated`` for a seat that the variant does not have.
        """
        if not 0 <= seat < self.variant.seats:
            raise RulesError(f"There is no seat {seat}.", code="not-seated")
        if self.is_over or seat in self.gone:
            return Step(self, (), ())
        after = replace(self, gone=self.gone | {seat})
        if self.variant.seats - len(after.gone) <= 1:
            return Step(replace(after, turn=None), (), ())
        if after.seat_to_move is None:
            return after._passed_on()
        return Step(after, (), ())

    # Parts of the above

    def _turn(self) -> int:
        if self.turn is None:
            raise IllegalMoveError("game-over", "The game is over.")
        return self.turn

    def _name(self, colour: int) -> str:
        return self.variant.colours[colour].capitalize()

    def _placements(self, colour: int) -> Placements:
        tables = board(self.variant.size)
        own = self.squares[colour]
        if own:
            attach = tables.corners(own)
            blocked = self.occupied | tables.edges(own)
        else:
            attach = tables.cells[self.variant.first_cells[colour]]
            blocked = self.occupied
        return Placements(self.variant.size, self.left[colour], attach, blocked)

    def _check_piece(self, move: Move, colour: int) -> None:
        """Refuse what is no piece, what the colour does not have, and what lies on others."""
        if all_moves(self.variant.size).get(move.mask) != move:
            raise IllegalMoveError("not-a-piece", "These cells are not the shape of a piece.")
        if move.piece not in self.left[colour]:
            raise IllegalMoveError(
                "piece-not-left", f"{self._name(colour)} has no piece {move.piece} left."
            )
        taken = move.mask & self.occupied
        if taken:
            cell = next(board(self.variant.size).split(taken))
            raise IllegalMoveError("occupied", f"The cell {cell} is occupied.")

    def _with(self, move: Move, colour: int) -> "Position":
        """The move made, the turn not yet passed on."""
        mine = self.left[colour]
        at = mine.index(move.piece)
        return Position(
            self.variant,
            _put(self.squares, colour, self.squares[colour] | move.mask),
            _put(self.left, colour, mine[:at] + mine[at + 1 :]),
            _put(self.last, colour, move.piece),
            self.turn,
            self.out,
            self.gone,
        )

    def _passed_on(self, can_place: Callable[[int], bool] | None = None) -> "Step":
        """Pass the turn to the next colour that can place something, which may be the same one."""
        if can_place is None:
            can_place = self.has_placement
        mover = self._turn()
        colours = len(self.variant.colours)
        skipped: list[int] = []
        newly_out: list[int] = []
        turn = None
        for offset in range(1, colours + 1):
            colour = (mover + offset) % colours
            if self.seat_of(colour) is None:
                continue
            if colour not in self.out:
                if can_place(colour):
                    turn = colour
                    break
                newly_out.append(colour)
            skipped.append(colour)
        after = Position(
            self.variant,
            self.squares,
            self.left,
            self.last,
            turn,
            self.out.union(newly_out),
            self.gone,
        )
        return Step(after, () if turn is None else tuple(skipped), tuple(newly_out))


@dataclass(frozen=True, slots=True)
class Step:
    """A new position, and what happened to the turn on the way there."""

    position: Position
    skipped: tuple[int, ...]
    """The colours, in order, whose turn was skipped because they are out; none at the end."""
    newly_out: tuple[int, ...]
    """The colours, in order, that were found to have no placement left."""


def _put(row: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    return (*row[:index], value, *row[index + 1 :])
