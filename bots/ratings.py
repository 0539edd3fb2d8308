"""How strong the levels are, as matches have measured it: what `ratings.json` says, which `manage.py calibrate` writes.

On the scale of people's ratings (`accounts.rules`), by an anchor that is a choice until enough people have played CPUs:
`intermediate` is 1500 in every variant. So the differences are measured, and where all of them lie is not.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from accounts.rules import MU, Rating
from bots.levels import LEVELS
from games.territory.rules import TimeControl

FILE: Final = Path(__file__).with_name("ratings.json")
ANCHOR: Final = "intermediate"
ANCHOR_RATING: Final = MU


class Pairing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What came of a match; A has one seat, B all others."""

    a: str
    """A player as in `manage.py arena`, with what a searching level could spend: `expert:simulations=500`."""
    b: str
    games: int
    places: float
    """First places of A, a shared one as the part of it that is A's."""


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player's rating with its standard error, and in how many games it took part."""

    rating: float
    sigma: float
    games: int


class Calibration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One variant: the matches, and the ratings that make them likeliest."""

    engine: str
    """The state of the engine that played; see `bots.engine.cache`."""
    pairings: list[Pairing]
    ratings: dict[str, Measured]


def read(file: Path = FILE) -> dict[str, Calibration]:
    """The calibrations by variant. Raises `msgspec.DecodeError` or `OSError`."""
    return msgspec.json.decode(file.read_bytes(), type=dict[str, Calibration])


def write(calibrations: Mapping[str, Calibration], file: Path = FILE) -> None:
    """Put these in place of what the file says of their variants."""
    known = read(file) if file.exists() else {}
    text = msgspec.json.encode({**known, **calibrations}, order="deterministic")
    file.write_bytes(msgspec.json.format(text, indent=1) + b"\n")


@cache
def by_level() -> Mapping[str, Mapping[str, Rating]]:
    """The ratings of each level by rating key, that of games without clocks, in which CPUs play."""
    speed = TimeControl.none().speed
    return {
        level: {
            f"{variant}:{speed}": Rating(found.rating, found.sigma, found.games, calibrated=True)
            for variant, calibration in read().items()
            if (found := calibration.ratings.get(level))
        }
        for level in LEVELS
    }
