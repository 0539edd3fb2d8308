"""The looks of the games' pictures: fills for every colour name, and marks that tell colours apart without them.

For normal sight, protanopia, deuteranopia and tritanopia, as G. M. Machado, M. M. Oliveira and
L. A. F. Fernandes simulate them ("A Physiologically-based Model for Simulation of Color Vision
Deficiency", 2009), the colours of a variant and the ground under them are at least 20 apart in
CIEDE2000; in ``print``, which has greys only, at least 17.  The tests of this module prove it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from types import MappingProxyType
from typing import Final

BLACK: Final = "#000000"
WHITE: Final = "#ffffff"

MARKS: Final = MappingProxyType(
    {
        "blue": (3, 7, "l4-4"),
        "yellow": (4.5, 4.5, "h1v1h-1z"),
        "red": (3, 3, "l4 4m0-4l-4 4"),
        "green": (3, 5, "h4"),
        "orange": (5, 3, "v4m-2-2h4"),
        "purple": (3, 6, "l2-2 2 2"),
        "sky": (5, 3, "v4"),
        "grey": (3, 3, "h4v4h-4z"),
    }
)
"""In a cell of ten by ten units: where the mark of a colour begins, and its path from there."""

_LEVELS: Final = (0, 95, 135, 175, 215, 255)
"""The steps of red, green and blue in a terminal of 256 colours; their cube begins at colour 16."""

_EVEN: Final = 0.179
"""The luminance on which black and white can be read equally well."""


class UnknownThemeError(ValueError):
    """There is no theme of this name."""

    code = "unknown-theme"


@dataclass(frozen=True, slots=True)
class Paint:
    """How the squares of one colour look."""

    fill: str
    mark: tuple[float, float, str]

    @property
    def ink(self) -> str:
        """Black or white, whichever can be read better on the fill."""
        return BLACK if luminance(self.fill) > _EVEN else WHITE

    @property
    def terminal(self) -> str:
        """The code that makes a terminal of 256 colours write in the ink on the fill."""
        ink = 231 if self.ink == WHITE else 16
        return f"\x1b[48;5;{terminal_colour(self.fill)};38;5;{ink}m"


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a picture, as ``#rrggbb``."""

    page: str
    ground: str
    grid: str
    ink: str
    """Text and small signs; it can be read on the page, and seen on the ground."""
    outline: str
    fills: Mapping[str, str]
    mark_opacity: float

    def paints(self, names: Sequence[str]) -> tuple[Paint, ...]:
        """A paint for each colour of a variant.

        A name without a paint of its own gets one that no other colour of the variant has, and
        always the same one; with more than eight colours paints are used twice.
        """
        own = {name: Paint(fill, MARKS[name]) for name, fill in self.fills.items()}
        free = [paint for name, paint in reversed(own.items()) if name not in names]
        spare = cycle(free or own.values())
        return tuple(own.get(name) or next(spare) for name in names)


def _fills(fills: str) -> Mapping[str, str]:
    """Fills by colour name, from a line of them in the order of ``MARKS``."""
    return MappingProxyType(dict(zip(MARKS, fills.split(), strict=True)))


THEMES: Final = MappingProxyType(
    {
        "light": Theme(
            page=WHITE,
            ground="#faf8f3",
            grid="#dcd7cb",
            ink="#2b2b2b",
            outline="#1f1f1f",
            fills=_fills("#1f56ad #f2c42c #c22f28 #44a088 #ee8b1e #9b5fa8 #6fb3e0 #70757d"),
            mark_opacity=0.45,
        ),
        "dark": Theme(
            page="#16181c",
            ground="#22252b",
            grid="#363b43",
            ink="#d9d9d9",
            outline="#08090a",
            fills=_fills("#2f6fe4 #f1d33c #cc4433 #7fc8b0 #f0922f #b784c9 #8cc4ee #a0a5ad"),
            mark_opacity=0.45,
        ),
        "contrast": Theme(
            page=BLACK,
            ground=BLACK,
            grid="#5a5a5a",
            ink=WHITE,
            outline=BLACK,
            fills=_fills("#4f80ff #fff23d #ff3b30 #8eead0 #ff9a1f #d78bf0 #a8dcff #bdbdbd"),
            mark_opacity=1,
        ),
        "print": Theme(
            page=WHITE,
            ground=WHITE,
            grid="#c4c4c4",
            ink=BLACK,
            outline=BLACK,
            fills=_fills("#0f0f0f #b1b1b1 #494949 #7a7a7a #b1b1b1 #494949 #7a7a7a #0f0f0f"),
            mark_opacity=1,
        ),
    }
)


def theme_of(name: str) -> Theme:
    """The theme of this name; ``UnknownThemeError`` if there is none."""
    if name not in THEMES:
        raise UnknownThemeError(f"There is no theme {name!r}; choose one of {', '.join(THEMES)}.")
    return THEMES[name]


def channels(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of ``#rrggbb``, 0 to 255 each."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def luminance(colour: str) -> float:
    """The relative luminance of an sRGB colour as WCAG 2 defines it, from 0 to 1."""
    red, green, blue = (
        part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in channels(colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def terminal_colour(colour: str) -> int:
    """The nearest colour in the cube of a terminal of 256 colours."""
    number = 0
    for part in channels(colour):
        distances = [abs(level - part) for level in _LEVELS]
        number = 6 * number + distances.index(min(distances))
    return 16 + number
