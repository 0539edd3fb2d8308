"""Short computations measured again and again: what one call costs, the spread over rounds, and how cost grows."""

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from math import log
from statistics import fmean, median
from typing import TypeVar

T = TypeVar("T")


def cost_us(work: Callable[[T], object], arguments: Sequence[T]) -> float:
    """Mean microseconds of CPU time that one call takes, over a call with each argument.

    CPU time, because other programs on the machine lengthen it less than the time on the wall. The loop itself is
    in it, with about 0.05 µs a call. Garbage is not collected meanwhile.
    """
    gc.collect()
    gc.disable()
    try:
        began = time.process_time()
        for argument in arguments:
            work(argument)
        return (time.process_time() - began) * 1e6 / len(arguments)
    finally:
        gc.enable()


def rate(work: Callable[[T], int], arguments: Sequence[T]) -> float:
    """What all calls together return, for each second of CPU time."""
    began = time.process_time()
    done = sum(map(work, arguments))
    return done / (time.process_time() - began)


def spread(values: Sequence[float], digits: int = 1) -> str:
    """The median of the rounds, with the least and the most: `41.2 (40.8–44.0)`."""
    middle, least, most = (
        f"{value:,.{digits}f}" for value in (median(values), min(values), max(values))
    )
    return f"{middle} ({least}–{most})"


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """How many times theirs ours is, round by round, so that load from elsewhere meets both."""
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    return f"**{median(ratios):.2f}×** (median of {len(ratios)} rounds, {min(ratios):.2f}–{max(ratios):.2f})"


def exponent(points: Iterable[tuple[float, float]]) -> float:
    """The k for which cost grows as size^k: the slope of the line through the logarithms of (size, cost)."""
    logs = [(log(size), log(cost)) for size, cost in points]
    mean_x, mean_y = fmean(x for x, _ in logs), fmean(y for _, y in logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum(
        (x - mean_x) ** 2 for x, _ in logs
    )
