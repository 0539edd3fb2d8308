"""Proofs of the rules: counts of move sequences, and recorded games in which every figure has to come out.

`perft` counts what can be played from a position; `KNOWN_COUNTS` are another program's counts. `verify` plays a
game again that another program has played and judged; tests/reference/territory/README.md describes such records.
"""

import hashlib
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Final

import msgspec

from games.polyomino import Cell

from .rules import VARIANTS, Placements, Position, RulesError, outcome, parse_move
from .rules.geometry import Mask
from .rules.notation import all_moves

_PASSED: Final = "pass"
"""What a record has in place of the cells of a colour that can place nothing."""

_OVER: Final = "the end of the game"

KNOWN_COUNTS: Final[Mapping[str, tuple[int, ...]]] = MappingProxyType(
    {
        "duo": (1, 414, 171_396, 89_204_762),
        "junior": (1, 189, 35_721, 8_665_264, 2_032_834_212),
        **dict.fromkeys(
            ("classic", "classic-2", "classic-3"),
            (1, 58, 3_364, 195_112, 11_316_496, 1_898_244_648),
        ),
    }
)
"""For each variant, the sequences of 0, 1, 2 … placements from the empty board, as Pentobi 31.0-dev counts them."""


def perft(position: Position, depth: int) -> int:
    """How many sequences of `depth` legal placements begin at a position; skipped turns are no part of them.

    Every move but the last is made by `play`, which checks it anew; the last ones are only counted.
    """
    if depth == 0:
        return 1
    legal = position.legal()
    if depth == 1:
        return len(legal)
    return sum(perft(position.play(move), depth - 1) for move in legal)


class UnplayableError(RulesError):
    """The record cannot be played again: it is malformed, of an unknown variant, or has an illegal move."""

    code = "unplayable"


class Turn(msgspec.Struct, frozen=True):
    """One turn of a recorded game: a placement, or the forced pass of a colour."""

    colour: str = msgspec.field(name="c")
    text: str = msgspec.field(name="m")
    legal: int = msgspec.field(name="n")
    """How many placements the colour had to choose from."""
    piece: str | None = msgspec.field(name="p", default=None)
    digest: str | None = msgspec.field(name="h", default=None)
    """The fingerprint of these placements; passes may do without."""
    cells: tuple[Cell, ...] | None = None
    """The cells as 0-based (row, column) in the order of the text; not every record has them."""

    def __post_init__(self) -> None:
        if self.text != _PASSED and (self.piece is None or self.digest is None):
            raise ValueError("A placement has its piece `p` and the fingerprint `h`")


class Game(msgspec.Struct, frozen=True):
    """A recorded game and its figures; lists have one entry for each colour, in turn order."""

    id: str
    variant: str
    size: int
    colours: list[str] = msgspec.field(name="colors")
    """What the record calls the colours."""
    moves: tuple[Turn, ...]
    n_placements: int
    n_passes: int
    pieces_placed: list[int]
    points: list[int]
    final_score: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of a record that the rules do not find."""

    game: str
    field: str
    """Where it stands in the record, such as `moves[3].n`."""
    recorded: object
    found: object

    def __str__(self) -> str:
        return f"{self.game}: {self.field}: recorded {self.recorded!r}, found {self.found!r}"


@dataclass(frozen=True, slots=True)
class Report:
    """What came of playing a game again."""

    positions: int
    """In how many positions the list of legal moves was compared."""
    differences: tuple[Difference, ...]


def read_game(line: str | bytes) -> Game:
    """The game of a line of JSON; raises `UnplayableError` and names the place that is wrong."""
    try:
        return msgspec.json.decode(line, type=Game)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnplayableError(f"This is no record of a game: {error}") from error


def verify(game: Game) -> Report:
    """Play a game again and compare every figure; raises `UnplayableError` if that is not possible."""
    replay = _Replay(game)
    for at, turn in enumerate(game.moves):
        if turn.text == _PASSED:
            replay.passed(f"moves[{at}]", turn)
        else:
            replay.placed(f"moves[{at}]", turn)
    replay.ended()
    return Report(len(game.moves), tuple(replay.differences))


class _Replay:
    """A recorded game as far as it has been played again."""

    def __init__(self, game: Game) -> None:
        # The files write `classic_2` for what is `classic-2` here.
        variant = VARIANTS.get(game.variant.replace("_", "-"))
        if variant is None:
            raise UnplayableError(f"{game.id}: There is no variant {game.variant!r}.")
        if len(set(game.colours)) != len(game.colours) or len(game.colours) != len(variant.colours):
            raise UnplayableError(
                f"{game.id}: colors: {variant.key} has {len(variant.colours)} colours, each with a name of its own."
            )
        self.game = game
        self.position = Position.start(variant)
        self.skipped: deque[int] = deque()
        """The colours that were skipped: the next turns of the record are their passes."""
        self.passes = 0
        self.differences: list[Difference] = []
        self._compare("size", game.size, variant.size)

    def passed(self, where: str, turn: Turn) -> None:
        """Compare a recorded pass."""
        if not self.skipped:
            self._compare(f"{where}.m", _PASSED, self._to_move())
            return
        colour = self.skipped.popleft()
        self._compare_turn(where, turn, self.game.colours[colour], None, ())
        self._compare_legal(where, turn, self._could_place(colour))

    def placed(self, where: str, turn: Turn) -> None:
        """Compare a recorded placement, and make it."""
        if self.skipped:
            self._compare(f"{where}.m", turn.text, _PASSED)
            self.skipped.clear()
        before = self.position
        try:
            move = parse_move(turn.text, before.variant)
            step = before.advance(move)
        except RulesError as error:
            raise UnplayableError(f"{self.game.id}: {where}.m: {turn.text}: {error}") from error
        self._compare_turn(where, turn, self._to_move(), move.piece, move.coordinates)
        self._compare(f"{where}.m", turn.text, move.text)
        self._compare_legal(where, turn, before.legal())
        self.position = step.position
        self.skipped.extend(step.skipped)
        self.passes += len(step.skipped)

    def ended(self) -> None:
        """Compare the end: nobody can move any more, and the figures of the whole game."""
        game, position = self.game, self.position
        self._compare("moves", _OVER, self._to_move())
        colours = range(len(position.variant.colours))
        if position.is_over:
            for colour in colours:
                left = len(self._could_place(colour))
                self._compare(f"moves left to {game.colours[colour]}", 0, left)
            self._compare("final_score", game.final_score, final_score(position))
        hand = len(position.variant.hand)
        placed = [hand - len(position.left[colour]) for colour in colours]
        self._compare("points", game.points, [position.points(colour) for colour in colours])
        self._compare("pieces_placed", game.pieces_placed, placed)
        self._compare("n_placements", game.n_placements, sum(placed))
        self._compare("n_passes", game.n_passes, self.passes)

    # Parts of the above

    def _compare_turn(
        self, where: str, turn: Turn, colour: str, piece: str | None, cells: tuple[Cell, ...]
    ) -> None:
        self._compare(f"{where}.c", turn.colour, colour)
        self._compare(f"{where}.p", turn.piece, piece)
        if turn.cells is not None:
            self._compare(f"{where}.cells", turn.cells, cells)

    def _compare_legal(self, where: str, turn: Turn, legal: Placements) -> None:
        self._compare(f"{where}.n", turn.legal, len(legal))
        if turn.digest is not None:
            self._compare(f"{where}.h", turn.digest, digest(legal))

    def _compare(self, field: str, recorded: object, found: object) -> None:
        if recorded != found:
            self.differences.append(Difference(self.game.id, field, recorded, found))

    def _to_move(self) -> str:
        turn = self.position.turn
        return _OVER if turn is None else self.game.colours[turn]

    def _could_place(self, colour: int) -> Placements:
        """A full search, even for a colour that the position holds to be out."""
        return replace(self.position, turn=colour, out=frozenset()).legal()


def digest(legal: Placements) -> str:
    """The fingerprint of a list of moves that does not depend on its order.

    SHA-256, in hex, of the moves joined by `;` in ASCII order, each move its cells joined by `,` in ASCII order.
    """
    texts = _texts(legal.size)
    return hashlib.sha256(
        ";".join(sorted(map(texts.__getitem__, legal.masks()))).encode()
    ).hexdigest()


@cache
def _texts(size: int) -> dict[Mask, str]:
    return {mask: ",".join(sorted(move.cells)) for mask, move in all_moves(size).items()}


def final_score(position: Position) -> str:
    """The result of a finished game as records write it.

    With two seats the lead of the first (`B+8`) or the second (`W+7`), or `0`; else the points of every colour.
    """
    variant = position.variant
    points = outcome(position).points
    if variant.seats == 2:
        lead = points[0] - points[1]
        return f"{'BW'[lead < 0]}+{abs(lead)}" if lead else "0"
    return " ".join(str(position.points(colour)) for colour in range(len(variant.colours)))
