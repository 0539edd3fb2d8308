"""Every reader can tell the colours apart: measured for normal sight and three kinds of colour blindness."""

import colorsys
import math
from itertools import combinations
from operator import mul
from typing import TypeAlias

import pytest

from games.palette import (
    MARKS,
    THEMES,
    Paint,
    UnknownThemeError,
    channels,
    luminance,
    terminal_colour,
    theme_of,
)
from games.territory.rules import VARIANTS

Triple: TypeAlias = tuple[float, float, float]
Matrix: TypeAlias = tuple[Triple, Triple, Triple]

# Machado, Oliveira and Fernandes: "A Physiologically-based Model for Simulation of Color Vision Deficiency" (2009),
# severity 1.0; for linear light.
SIGHTS: dict[str, Matrix] = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
SRGB_TO_XYZ: Matrix = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
DAYLIGHT = (0.95047, 1.0, 1.08883)  # D65
APART = {"light": 20, "dark": 20, "contrast": 20, "print": 17}
"""The least CIEDE2000 difference; greys leave less room, and have bolder marks."""


def times(matrix: Matrix, vector: Triple) -> Triple:
    one, two, three = (sum(map(mul, row, vector)) for row in matrix)
    return one, two, three


def seen(colour: str, sight: str) -> Triple:
    """The CIELAB values of a colour as somebody with this sight sees it."""
    red, green, blue = (
        part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in channels(colour)
    )
    light = times(SIGHTS[sight], (red, green, blue))
    red, green, blue = (min(1.0, max(0.0, part)) for part in light)
    x, y, z = times(SRGB_TO_XYZ, (red, green, blue))
    x, y, z = (
        part ** (1 / 3) if part > (6 / 29) ** 3 else part * (29 / 6) ** 2 / 3 + 4 / 29
        for part in (x / DAYLIGHT[0], y / DAYLIGHT[1], z / DAYLIGHT[2])
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(one: Triple, two: Triple) -> float:
    """CIEDE2000 of two CIELAB values, by the formulas of CIE 142-2001 with all weights 1."""
    flat = (math.hypot(*one[1:]) + math.hypot(*two[1:])) / 2
    stretch = 1.5 - 0.5 * math.sqrt(flat**7 / (flat**7 + 25**7))
    a1, a2 = one[1] * stretch, two[1] * stretch
    chroma1, chroma2 = math.hypot(a1, one[2]), math.hypot(a2, two[2])
    hue1 = math.degrees(math.atan2(one[2], a1)) % 360
    hue2 = math.degrees(math.atan2(two[2], a2)) % 360
    if chroma1 * chroma2:
        turn = (hue2 - hue1 + 180) % 360 - 180
        hue = hue1 + turn / 2
    else:
        turn, hue = 0, hue1 + hue2
    lightness, chroma = (one[0] + two[0]) / 2, (chroma1 + chroma2) / 2

    def cosine(degrees: float) -> float:
        return math.cos(math.radians(degrees))

    weight = (
        1
        - 0.17 * cosine(hue - 30)
        + 0.24 * cosine(2 * hue)
        + 0.32 * cosine(3 * hue + 6)
        - 0.20 * cosine(4 * hue - 63)
    )
    away = (lightness - 50) ** 2
    light = (two[0] - one[0]) / (1 + 0.015 * away / math.sqrt(20 + away))
    strong = (chroma2 - chroma1) / (1 + 0.045 * chroma)
    arc = 2 * math.sqrt(chroma1 * chroma2) * math.sin(math.radians(turn / 2))
    arc /= 1 + 0.015 * chroma * weight
    angle = 60 * math.exp(-(((hue % 360 - 275) / 25) ** 2))
    tilt = -2 * math.sqrt(chroma**7 / (chroma**7 + 25**7)) * math.sin(math.radians(angle))
    return math.sqrt(light**2 + strong**2 + arc**2 + tilt * strong * arc)


def contrast(one: str, two: str) -> float:
    """The contrast ratio of WCAG 2, from 1 to 21."""
    dark, bright = sorted((luminance(one), luminance(two)))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((50, 2.5, 0), (56, -27, -3), 31.9030),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_ruler(one: Triple, two: Triple, expected: float) -> None:
    """Published pairs: Sharma, Wu and Dalal, "The CIEDE2000 color-difference formula" (2005), table 1."""
    assert difference(one, two) == pytest.approx(expected, abs=0.00006)
    assert difference(two, one) == pytest.approx(expected, abs=0.00006)


def test_the_ruler_finds_what_is_hard_to_tell_apart() -> None:
    """Red and green of one lightness differ for most people, and not for those with deuteranopia."""
    red, green = "#b35a3c", "#5f7a36"
    assert difference(seen(red, "normal"), seen(green, "normal")) > 35
    assert difference(seen(red, "deuteranopia"), seen(green, "deuteranopia")) < 12


@pytest.mark.parametrize("sight", list(SIGHTS))
@pytest.mark.parametrize("key", list(VARIANTS))
@pytest.mark.parametrize("theme", list(THEMES))
def test_the_colours_of_a_variant_and_the_ground_are_far_apart(
    theme: str, key: str, sight: str
) -> None:
    look = THEMES[theme]
    painted = {name: look.fills[name] for name in VARIANTS[key].colours}
    for one, two in combinations([*painted.values(), look.ground], 2):
        assert difference(seen(one, sight), seen(two, sight)) >= APART[theme], (one, two)


@pytest.mark.parametrize("sight", list(SIGHTS))
@pytest.mark.parametrize("key", list(VARIANTS))
def test_so_are_they_in_a_terminal(key: str, sight: str) -> None:
    steps = (0, 95, 135, 175, 215, 255)

    def shown(fill: str) -> str:
        number = terminal_colour(fill) - 16
        red, green, blue = number // 36, number // 6 % 6, number % 6
        return f"#{steps[red]:02x}{steps[green]:02x}{steps[blue]:02x}"

    paints = THEMES["light"].paints(VARIANTS[key].colours)
    for one, two in combinations(paints, 2):
        apart = difference(seen(shown(one.fill), sight), seen(shown(two.fill), sight))
        assert apart >= APART["light"], (one, two)
    for paint in paints:
        assert contrast(paint.ink, shown(paint.fill)) >= 4.5


@pytest.mark.parametrize("theme", list(THEMES))
def test_text_and_signs_can_be_read(theme: str) -> None:
    look = THEMES[theme]
    assert contrast(look.ink, look.page) >= 4.5
    assert contrast(look.ink, look.ground) >= 4.5
    for name in look.fills:
        (paint,) = look.paints([name])
        assert contrast(paint.ink, paint.fill) >= 4.5
        assert paint.ink in ("#000000", "#ffffff")


def test_the_theme_for_weak_eyes_is_bright_on_dark() -> None:
    look = THEMES["contrast"]
    assert all(contrast(fill, look.ground) >= 4.5 for fill in look.fills.values())


HUES = {"blue": 219, "yellow": 51, "red": 3, "green": 159, "orange": 32, "purple": 288, "sky": 205}


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_a_fill_has_the_hue_that_its_name_says(theme: str) -> None:
    for name, hue in HUES.items():
        red, green, blue = channels(THEMES[theme].fills[name])
        found = colorsys.rgb_to_hsv(red, green, blue)[0] * 360
        assert abs((found - hue + 180) % 360 - 180) <= 8, name


def test_print_has_greys_only() -> None:
    look = THEMES["print"]
    for colour in (look.page, look.ground, look.grid, look.ink, look.outline, *look.fills.values()):
        assert len(set(channels(colour))) == 1


@pytest.mark.parametrize("theme", list(THEMES))
def test_every_colour_of_a_variant_has_a_paint_of_its_own(theme: str) -> None:
    look = THEMES[theme]
    assert len({mark for _, _, mark in MARKS.values()}) == len(MARKS)
    for row in VARIANTS.values():
        assert look.paints(row.colours) == tuple(
            Paint(look.fills[name], MARKS[name]) for name in row.colours
        )


@pytest.mark.parametrize("theme", list(THEMES))
def test_a_colour_that_nobody_knows_gets_one_that_is_free(theme: str) -> None:
    look = THEMES[theme]
    names = ("teal", "blue", "grey", "pink", "black")
    paints = look.paints(names)
    assert len(set(paints)) == len(names)
    assert paints == look.paints(names)
    assert paints[1].fill == look.fills["blue"]
    assert paints[2].fill == look.fills["grey"]
    crowd = [f"colour{number}" for number in range(20)]
    assert len(set(look.paints(crowd))) == len(look.fills)


def test_an_unknown_theme_is_refused() -> None:
    with pytest.raises(UnknownThemeError, match="light, dark, contrast, print") as caught:
        theme_of("<script>")
    assert caught.value.code == "unknown-theme"
