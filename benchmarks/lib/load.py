"""The load: tables that play, and what is measured about them.

Closed loop: whoever is to move answers at once, so the rate is what the server and the generator can do together.
Paced: each game makes one move every `pace` seconds, spread evenly; a game whose last move has not arrived by then
skips its turn and is counted as stalled, so a slow server cannot hide by being asked less.
"""

import asyncio
import gc
import math
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

QUIET_SECONDS = 5.0
"""How long a window waits at its end for moves that are still under way."""


class Meter:
    """Counts one window. Latencies are seconds from the mover's send to the opponent's receipt."""

    __slots__ = (
        "closed_loop",
        "failures",
        "finished",
        "first_failure",
        "lags",
        "latencies",
        "moves",
        "open",
        "pending",
        "total",
    )

    def __init__(self) -> None:
        self.latencies = array("d")
        self.lags = array("d")
        self.moves = 0
        self.total = 0
        """Moves since the first one, the warm-up's and the last ones' too."""
        self.finished = 0
        self.failures = 0
        self.first_failure = ""
        self.pending = 0
        self.open = False
        """Whether moves may be sent."""
        self.closed_loop = False

    def clear(self) -> None:
        """Forget what the warm-up measured, but not what failed in it."""
        self.latencies = array("d")
        self.lags = array("d")
        self.moves = self.finished = 0

    def failed(self, reason: str) -> None:
        self.failures += 1
        self.first_failure = self.first_failure or reason


class Table:
    """Two players' sockets at one game after another. A subclass knows the server's protocol.

    The subclass calls `arrived` when the opponent has got the move, and `ready` when the next may be sent.
    """

    __slots__ = ("meter", "sent", "under_way", "waiting")

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.sent = 0.0
        self.under_way = False
        """A move was sent and the opponent has not got it."""
        self.waiting = False
        """No move may be sent: one is under way, or the next game is being opened."""

    def send_move(self) -> None:
        """Write the frame of the next move to the socket of whoever is to move."""
        raise NotImplementedError

    def play(self) -> None:
        """Make the next move."""
        self.waiting = self.under_way = True
        self.meter.pending += 1
        self.sent = time.perf_counter()
        self.send_move()

    def arrived(self) -> None:
        """The opponent has got the move."""
        meter = self.meter
        meter.latencies.append(time.perf_counter() - self.sent)
        meter.moves += 1
        meter.total += 1
        meter.pending -= 1
        self.under_way = False

    def ready(self) -> None:
        """The next move may be sent: by the closed loop at once."""
        self.waiting = False
        if self.meter.closed_loop and self.meter.open:
            self.play()

    def failed(self, reason: str) -> None:
        """The table cannot go on."""
        if self.under_way:
            self.meter.pending -= 1
        self.under_way, self.waiting = False, True
        self.meter.failed(reason)


class Server(Protocol):
    """What a window needs to know of the server under load."""

    def cpu_seconds(self) -> dict[str, float]:
        """CPU time used so far by each part of the server."""


@dataclass(frozen=True, slots=True)
class Window:
    """What one window measured. Times in seconds, `cpu_us` in microseconds of CPU a move by part of the server."""

    seconds: float
    moves: int
    finished: int
    latencies: Sequence[float]
    lags: Sequence[float]
    cpu_us: dict[str, float]
    generator_share: float
    """CPU time of the generator over wall time: 1.0 is one whole core."""
    stalled: int
    failures: int
    first_failure: str

    @property
    def rate(self) -> float:
        """Moves a second."""
        return self.moves / self.seconds

    @property
    def server_us(self) -> float:
        return sum(self.cpu_us.values())

    @property
    def generator_us(self) -> float:
        """CPU microseconds of the generator a move."""
        return self.generator_share * self.seconds * 1e6 / max(1, self.moves)

    def latency_ms(self, quantile: float) -> float:
        """A quantile of the latencies in milliseconds; NaN when nothing arrived."""
        return quantile_of(self.latencies, quantile) * 1e3


def quantile_of(values: Sequence[float], quantile: float) -> float:
    """The smallest value that at least `quantile` of them do not exceed."""
    if not values:
        return math.nan
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, math.ceil(quantile * len(ordered)) - 1))]


async def closed_loop(
    tables: Sequence[Table], meter: Meter, server: Server, *, warm_up: float, seconds: float
) -> Window:
    """All tables answer at once; the window begins after the warm-up."""
    meter.closed_loop = meter.open = True
    for table in tables:
        if not table.waiting:
            table.play()
    await asyncio.sleep(warm_up)
    return await _measure(meter, server, seconds, lambda: 0)


async def paced(
    tables: Sequence[Table],
    meter: Meter,
    server: Server,
    *,
    pace: float,
    warm_up: float,
    seconds: float,
) -> Window:
    """Each table moves every `pace` seconds, the tables evenly spread over that time."""
    meter.closed_loop, meter.open = False, True
    loop = asyncio.get_running_loop()
    begin = loop.time() + 0.1
    stalled = 0

    def tick(table: Table, due: float) -> None:
        nonlocal stalled
        if not meter.open:
            return
        meter.lags.append(loop.time() - due)
        if table.waiting:
            stalled += 1
        else:
            table.play()
        loop.call_at(due + pace, tick, table, due + pace)

    for number, table in enumerate(tables):
        due = begin + pace * number / len(tables)
        loop.call_at(due, tick, table, due)
    await asyncio.sleep(warm_up)
    stalled = 0
    return await _measure(meter, server, seconds, lambda: stalled)


async def _measure(
    meter: Meter, server: Server, seconds: float, stalled: Callable[[], int]
) -> Window:
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        meter.clear()
        parts, own, begin = server.cpu_seconds(), time.process_time(), time.perf_counter()
        await asyncio.sleep(seconds)
        wall = time.perf_counter() - begin
        own = time.process_time() - own
        moves = meter.moves
        cpu = {part: used - parts.get(part, 0.0) for part, used in server.cpu_seconds().items()}
        window = Window(
            seconds=wall,
            moves=moves,
            finished=meter.finished,
            latencies=meter.latencies,
            lags=meter.lags,
            cpu_us={part: used * 1e6 / max(1, moves) for part, used in cpu.items()},
            generator_share=own / wall,
            stalled=stalled(),
            failures=meter.failures,
            first_failure=meter.first_failure,
        )
    finally:
        gc.enable()
        gc.unfreeze()
    meter.latencies = array("d")
    await _settle(meter)
    return window


async def _settle(meter: Meter) -> None:
    """Stop sending and let the moves under way arrive."""
    meter.open = False
    for _ in range(int(QUIET_SECONDS / 0.05)):
        if meter.pending <= 0:
            return
        await asyncio.sleep(0.05)
