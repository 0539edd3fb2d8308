"""Players who want a match, as a load: who joined when, and when both were told.

A match takes from the moment at which the second of its players sent the wish until the later one of the two has read
the news. What the first one waited for somebody to come is not counted.
"""

import asyncio
import time
from abc import ABC, abstractmethod
from array import array
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from benchmarks.lib.load import quantile_of

PATIENCE_SECONDS = 15.0
"""How long a window waits at its end for those who have wished and were not told."""


@dataclass(slots=True)
class Meter:
    """What one window measures. `seconds` is from the first wish to the last news."""

    latencies: "array[float]" = field(default_factory=lambda: array("d"))
    failures: list[str] = field(default_factory=list)
    matched: Callable[[], None] = lambda: None
    """Called at each match: the closed loop lets two more join."""
    _wished: dict[object, float] = field(default_factory=dict)
    _half: dict[str, object] = field(default_factory=dict)
    began: float = 0.0
    ended: float = 0.0

    def wishes(self, player: object) -> None:
        """This player sends the wish now."""
        now = time.perf_counter()
        self.began = self.began or now
        self._wished[player] = now

    def told(self, player: object, match: str) -> None:
        """This player has read the news of a match."""
        other = self._half.pop(match, None)
        if other is None:
            self._half[match] = player
            return
        self.ended = time.perf_counter()
        later = max(self._wished.pop(player), self._wished.pop(other))
        self.latencies.append(self.ended - later)
        self.matched()

    @property
    def waiting(self) -> int:
        return len(self._wished)

    @property
    def rate(self) -> float:
        """Matches a second."""
        return len(self.latencies) / max(1e-9, self.ended - self.began)

    def latency_ms(self, quantile: float) -> float:
        return quantile_of(self.latencies, quantile) * 1e3


class Wisher(ABC):
    """Somebody who can wish for one match."""

    @abstractmethod
    def wish(self) -> Awaitable[None] | None:
        """Send the wish; what is still to do on the client's side may be awaited."""


class Host(ABC):
    """A server in which players meet."""

    name: ClassVar[str]

    @abstractmethod
    async def wishers(self, count: int, meter: Meter) -> Sequence[Wisher]:
        """So many players who have not wished yet."""


async def closed_loop(wishers: Sequence[Wisher], meter: Meter, *, at_once: int) -> None:
    """All get their match, about `at_once` of them wishing at a time."""
    queue, tasks = iter(wishers), set[asyncio.Task[None]]()

    def let_in(count: int) -> None:
        for _ in range(count):
            if (wisher := next(queue, None)) is not None:
                _start(wisher, tasks)

    meter.matched = lambda: let_in(2)
    let_in(at_once)
    await _all_told(meter, len(wishers))


async def paced(wishers: Sequence[Wisher], meter: Meter, *, pace: float) -> None:
    """One joins every `pace` seconds, whether or not those before have been told."""
    loop, tasks = asyncio.get_running_loop(), set[asyncio.Task[None]]()
    begin = loop.time()
    for number, wisher in enumerate(wishers):
        await asyncio.sleep(max(0.0, begin + number * pace - loop.time()))
        _start(wisher, tasks)
    await _all_told(meter, len(wishers))


def _start(wisher: Wisher, tasks: "set[asyncio.Task[None]]") -> None:
    work = wisher.wish()
    if work is not None:
        task = asyncio.ensure_future(_finish(work))
        tasks.add(task)
        task.add_done_callback(tasks.discard)


async def _finish(work: Awaitable[None]) -> None:
    await work


async def _all_told(meter: Meter, players: int) -> None:
    """Wait until as many as can be are matched; an odd one may be left."""
    still, seen = time.monotonic(), -1
    while len(meter.latencies) < players // 2 and not meter.failures:
        if len(meter.latencies) != seen:
            still, seen = time.monotonic(), len(meter.latencies)
        if time.monotonic() - still > PATIENCE_SECONDS:
            meter.failures.append(f"{meter.waiting} players were never told")
        await asyncio.sleep(0.005)
