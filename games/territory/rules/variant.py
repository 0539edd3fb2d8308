"""The variants, as data: a sixth one would be one more row in ``VARIANTS``.

>>> duo = variant("duo")
>>> duo.size, duo.colours, duo.first_cells
(14, ('blue', 'orange'), ('e10', 'j5'))
>>> variant("classic-3").owners
(0, 1, 2, None)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final

from games.polyomino import PIECES

from .errors import UnknownVariantError


@dataclass(frozen=True)
class Variant:
    """One rule set.  Colours are numbered from 0 in turn order, seats from 0.

    ``owners`` names the seat that plays each colour.  An owner of ``None`` means that the colour is
    shared: its moves rotate among the seats, and its points count for nobody.
    """

    key: str
    title: str
    size: int
    """Cells along one side of the board."""
    seats: int
    colours: tuple[str, ...]
    first_cells: tuple[str, ...]
    """The cell that each colour's first piece has to cover."""
    owners: tuple[int | None, ...]
    pieces: tuple[str, ...] = tuple(PIECES)
    """The piece set of each colour."""
    copies: int = 1
    """How many of each piece a colour has."""
    all_placed_bonus: int = 15
    """Points for a colour that has placed everything."""
    single_last_bonus: int = 20
    """Points instead, when the single square was the last of them."""
    sgf_game: str = ""
    """What the variant is called in Blokus SGF files."""

    @cached_property
    def hand(self) -> tuple[str, ...]:
        """The pieces that a colour starts with, one entry for each copy."""
        return tuple(piece for piece in self.pieces for _ in range(self.copies))

    @cached_property
    def hand_cells(self) -> int:
        """How many cells the pieces of one colour cover together."""
        return sum(len(PIECES[piece]) for piece in self.hand)

    def colours_of(self, seat: int) -> tuple[int, ...]:
        """The colours that count for a seat; a shared colour counts for none."""
        return tuple(colour for colour, owner in enumerate(self.owners) if owner == seat)

    def __hash__(self) -> int:
        return hash(self.key)


_DUO_COLOURS = ("blue", "orange")
_DUO_CELLS = ("e10", "j5")
_CLASSIC_COLOURS = ("blue", "yellow", "red", "green")
_CLASSIC_CELLS = ("a20", "t20", "t1", "a1")

_ROWS = (
    Variant(
        key="duo",
        title="Block Territory",
        size=14,
        seats=2,
        colours=_DUO_COLOURS,
        first_cells=_DUO_CELLS,
        owners=(0, 1),
        sgf_game="Blokus Duo",
    ),
    Variant(
        key="classic",
        title="Classic, four players",
        size=20,
        seats=4,
        colours=_CLASSIC_COLOURS,
        first_cells=_CLASSIC_CELLS,
        owners=(0, 1, 2, 3),
        sgf_game="Blokus",
    ),
    Variant(
        key="classic-2",
        title="Classic, two players",
        size=20,
        seats=2,
        colours=_CLASSIC_COLOURS,
        first_cells=_CLASSIC_CELLS,
        owners=(0, 1, 0, 1),
        sgf_game="Blokus Two-Player",
    ),
    Variant(
        key="classic-3",
        title="Classic, three players",
        size=20,
        seats=3,
        colours=_CLASSIC_COLOURS,
        first_cells=_CLASSIC_CELLS,
        owners=(0, 1, 2, None),
        sgf_game="Blokus Three-Player",
    ),
    Variant(
        key="junior",
        title="Junior",
        size=14,
        seats=2,
        colours=_DUO_COLOURS,
        first_cells=_DUO_CELLS,
        owners=(0, 1),
        pieces=("1", "2", "I3", "V3", "I4", "L4", "T4", "O", "Z4", "I5", "L5", "P"),
        copies=2,
        all_placed_bonus=0,
        single_last_bonus=0,
        sgf_game="Blokus Junior",
    ),
)

VARIANTS: Final[Mapping[str, Variant]] = MappingProxyType({row.key: row for row in _ROWS})


def variant(key: str) -> Variant:
    """The variant of this key; ``UnknownVariantError`` if there is none."""
    try:
        return VARIANTS[key]
    except KeyError:
        raise UnknownVariantError(
            f"There is no variant {key!r}; choose one of {', '.join(VARIANTS)}."
        ) from None
