"""How long a ticket will probably wait, from what became of others like it. Pure.

A pool remembers how its latest tickets ended: matched after so long, or given up after so long. Whoever gave up, or
still waits, says only that it takes longer than that. The estimate of Kaplan and Meier ("Nonparametric estimation
from incomplete observations", 1958) counts both rightly: the median of the matched alone would be too short, because
those who would have waited long are missing in it.

Where too few were matched lately, arrivals have to do: as many compatible players as a game still needs must come, and
they come at random at the rate of the last minutes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Final, Literal

LIKELY: Final = 0.5
LATE: Final = 0.9
KEPT: Final = 400
"""How many ended tickets a pool remembers."""
NEAREST: Final = 80
"""How many of them an estimate looks at: those nearest in rating."""
FEWEST: Final = 8
"""With fewer matched tickets than this, arrivals are asked."""
FORGOTTEN: Final = 3_600_000
"""Milliseconds after which an end says nothing about now."""
ARRIVALS_OVER: Final = 10 * 60_000
"""Milliseconds over which arrivals are counted."""
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Ended:
    """How a ticket ended: at which instant, after which wait (milliseconds), and whether by a match."""

    mu: float
    wait: int
    matched: bool
    at: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """Whole waits in milliseconds from joining: half of such tickets are matched by `likely`, nine of ten by `late`.

    None where nothing is known. `tickets` is how many ended or arriving tickets it is based on.
    """

    basis: Literal["waits", "arrivals", "nothing"]
    tickets: int
    likely: int | None = None
    late: int | None = None


def estimate(
    *,
    mu: float,
    waited: int,
    now: int,
    ended: Iterable[Ended],
    waiting: Iterable[tuple[float, int]],
    needed: int,
    span: float,
) -> Estimate:
    """For a ticket of this rating that has waited so long.

    `waiting` are the other waiting tickets, each with its rating and its wait; `needed` is how many must still come
    for a game, `span` the rating difference within which they would be compatible.
    """
    lately = [each for each in ended if each.at > now - FORGOTTEN]
    near = sorted(lately, key=lambda each: (abs(each.mu - mu), -each.at))[:NEAREST]
    if sum(each.matched for each in near) >= FEWEST:
        reach = abs(near[-1].mu - mu)
        still = [wait for other, wait in waiting if abs(other - mu) <= reach]
        found = _by_waits(near, still, waited)
        if found.likely is not None:
            return found
    joined = [each.at - each.wait for each in lately if abs(each.mu - mu) <= span]
    joined += [now - wait for other, wait in waiting if abs(other - mu) <= span]
    return _by_arrivals(joined, len(lately) >= KEPT, now, waited, max(1, needed))


def usual_wait(ended: Iterable[Ended]) -> Estimate:
    """What waiting was like lately, whoever it was."""
    return _by_waits(list(ended), (), -1)


def _by_waits(near: Sequence[Ended], still: Iterable[int], waited: int) -> Estimate:
    """Kaplan and Meier's curve of those still unmatched, from the instant up to which this ticket has waited."""
    ends = [(each.wait, each.matched) for each in near if each.wait > waited]
    ends += [(wait, False) for wait in still if wait > waited]
    ends.sort(
        key=lambda end: (end[0], not end[1])
    )  # who gave up at the same instant was still there
    unmatched, at_risk = 1.0, len(ends)
    likely: int | None = None
    for wait, matched in ends:
        if matched:
            unmatched *= 1 - 1 / at_risk
            if likely is None and unmatched <= 1 - LIKELY + _ROUNDING:
                likely = wait
            if unmatched <= 1 - LATE + _ROUNDING:
                return Estimate("waits", len(near), likely, wait)
        at_risk -= 1
    return Estimate("waits", len(near), likely)


def _by_arrivals(
    joined: Sequence[int], is_cut: bool, now: int, waited: int, needed: int
) -> Estimate:
    """The time until the nth arrival of a Poisson process: gamma distributed."""
    since = now - ARRIVALS_OVER
    if is_cut and joined:
        since = max(since, min(joined))  # the pool remembers no further back
    lately = [at for at in joined if at > since]
    if not lately:
        return Estimate("nothing", 0)
    rate = len(lately) / (now - since)
    likely, late = (waited + round(_gamma(needed, share) / rate) for share in (LIKELY, LATE))
    return Estimate("arrivals", len(lately), likely, late)


def _gamma(shape: int, share: float) -> float:
    """A quantile of the gamma distribution with scale 1; beyond shape 1 by Wilson and Hilferty's cube root (1931)."""
    if shape == 1:
        return -log(1 - share)
    z = 0.0 if share == LIKELY else 1.2815515655  # the normal distribution's quantile at LATE
    return shape * float((1 - 1 / (9 * shape) + z / (3 * sqrt(shape))) ** 3)
