"""What spectators of one game cost: the server's CPU a move, the opponent's latency, and the messages through Redis.

    python benchmarks/spectators.py            three rounds, about four minutes
    python benchmarks/spectators.py --quick    one short round

Two players on two web processes play recorded games, one after another, at a steady pace; 0, 50 or 500 spectators,
half on each process, follow them. No time is asserted; the exit status tells whether every move was kept, every
spectator saw every event of the window, and each event was published once and went to each process once.
"""

import argparse
import asyncio
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(
    0, str(Path(__file__).resolve().parents[1])
)  # run as a file, the project is not on the path

import redis
import uvloop

from benchmarks.lib import machine, report
from benchmarks.lib.contender import in_groups
from benchmarks.lib.http import post
from benchmarks.lib.kado import WEB_PROCESSES, Kado
from benchmarks.lib.load import Meter, Table, Window, paced
from benchmarks.lib.rounds import ratio, spread
from benchmarks.lib.websocket import Socket, frame
from benchmarks.live_path import say, scratch_folder
from common.streams import CHANNEL

CROWDS = (0, 50, 500)
PLIES = 25
"""A recorded game has more plies than that."""
SETTLE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured. Seconds."""

    rounds: int
    seconds: float
    pace: float = 0.05
    crowds: tuple[int, ...] = CROWDS

    @property
    def games(self) -> int:
        """So many games that they do not run out."""
        return int((self.seconds + WARM_UP) / self.pace / PLIES) + 2


WARM_UP = 2.0


@dataclass(frozen=True, slots=True)
class Result:
    """One window beside a crowd."""

    moves: Window
    published: float
    """Messages to Redis a move."""
    processes: float
    """To how many processes Redis hands each of them."""

    @property
    def web_us(self) -> float:
        """CPU microseconds of the web processes a move."""
        return self.moves.cpu_us["web"]


class Spectator(Socket):
    """Follows all games of the round, and counts what it hears."""

    __slots__ = ("greeted", "heard")

    def __init__(self, port: int, token: str) -> None:
        super().__init__("/ws/v1", port, (f"Authorization: Bearer {token}",))
        self.greeted = asyncio.Event()
        self.heard = 0

    def received(self, message: bytes) -> None:
        if message.startswith(b'{"type":"event"'):
            self.heard += 1
        elif message.startswith(b'{"type":"hello"'):
            self.greeted.set()

    def follow(self, game: str) -> None:
        self.send(frame(f'{{"type":"subscribe","id":"s","stream":"game:{game}"}}'.encode()))


class Watched(Kado):
    """The product with a crowd at its one table."""

    def __init__(self, scratch: Path) -> None:
        super().__init__(scratch)
        self.crowd: list[Spectator] = []
        self.games: list[str] = []

    def _seed(self, tables: int, games: int) -> list[dict[str, list[str]]]:
        rows = super()._seed(tables, games)
        self.games = rows[0]["games"]
        return rows

    async def gather(self, count: int) -> None:
        """Let so many come and follow the games, half of them on each process."""
        guest = await post(self.ports[0], "/api/v1/guests", {})
        ports = [self.ports[number % len(self.ports)] for number in range(count)]
        self.crowd = [Spectator(port, guest["token"]) for port in ports]
        self.sockets += self.crowd
        await in_groups(self._enter(*pair) for pair in zip(self.crowd, ports, strict=True))

    async def _enter(self, spectator: Spectator, port: int) -> None:
        await spectator.connect(port)
        await spectator.greeted.wait()
        for game in self.games:
            spectator.follow(game)

    def redis(self) -> Any:
        return redis.Redis.from_url(self.environ["REDIS_URL"])

    def published(self) -> int:
        """Messages that were published in Redis so far."""
        with self.redis() as client:
            return int(client.info("commandstats").get("cmdstat_publish", {}).get("calls", 0))

    def subscribers(self) -> list[int]:
        """How many connections Redis hands the news of each game to."""
        with self.redis() as client:
            channels = [CHANNEL + f"game:{game}".encode() for game in self.games]
            return [int(count) for _, count in client.pubsub_numsub(*channels)]


class Run:
    """The rounds and what they measured, by the size of the crowd."""

    def __init__(self, plan: Plan, scratch: Path) -> None:
        self.plan = plan
        self.scratch = scratch
        self.results: dict[int, list[Result]] = {}
        self.notes: list[str] = []

    def play(self) -> None:
        for number in range(self.plan.rounds):
            for crowd in self.plan.crowds:
                say(f"round {number + 1} of {self.plan.rounds}: {crowd} spectators")
                server = Watched(self.scratch / f"{number}-{crowd}")
                try:
                    server.start()
                    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                        result = runner.run(self._window(server, crowd))
                finally:
                    server.stop()
                self.results.setdefault(crowd, []).append(result)

    async def _window(self, server: Watched, crowd: int) -> Result:
        plan, meter = self.plan, Meter()
        tables: Sequence[Table] = await server.tables(1, meter, games=plan.games)
        await server.gather(crowd)
        await asyncio.sleep(1.0)
        before = server.published()
        window = await paced(
            tables, meter, server, pace=plan.pace, warm_up=WARM_UP, seconds=plan.seconds
        )
        published = (server.published() - before) / max(1, meter.total)
        processes = server.subscribers()
        result = Result(window, published, max(processes))
        say(
            f"  p50 {window.latency_ms(0.5):.2f} ms, web {result.web_us:,.0f} µs a move, "
            f"{published:.2f} published a move, to {result.processes} processes each"
        )
        await _all_heard(server, meter.total)
        self.notes += [f"{crowd} spectators: {wrong}." for wrong in _wrong(server, meter, result)]
        server.leave()
        return result

    # Words

    def lines(self) -> list[str]:
        """The whole report."""
        plan = self.plan
        load = (
            f"One game at a time, {1 / plan.pace:.0f} moves a second, {WEB_PROCESSES} web processes; "
            f"{plan.seconds:.0f} s windows, {plan.rounds} rounds. CPU and messages are those of one move."
        )
        lines = [
            f"Machine: {machine.describe()}; load {os.getloadavg()[0]:.1f} when it ended.",
            f"Versions: {machine.versions()}.",
            "",
            load,
            "",
            "| spectators | opponent p50 ms | p99 ms | web CPU µs | Valkey CPU µs | published | to processes |",
            "|---|---|---|---|---|---|---|",
        ]
        for crowd, results in self.results.items():
            figures = (
                spread([r.moves.latency_ms(0.5) for r in results], 2),
                spread([r.moves.latency_ms(0.99) for r in results], 2),
                spread([r.web_us for r in results], 0),
                spread([r.moves.cpu_us["valkey"] for r in results], 0),
                spread([r.published for r in results], 2),
                spread([r.processes for r in results], 0),
            )
            lines.append(f"| {crowd} | {' | '.join(figures)} |")
        lines += ["", "With spectators / without, round by round:", ""]
        lines += [self._ratio(crowd) for crowd in self.results if crowd]
        if self.notes:
            lines += ["", "### Notes", "", *(f"- {note}" for note in dict.fromkeys(self.notes))]
        return lines

    def _ratio(self, crowd: int) -> str:
        ours, alone = self.results[crowd], self.results[0]
        latency = ratio(
            [r.moves.latency_ms(0.5) for r in ours], [r.moves.latency_ms(0.5) for r in alone]
        )
        messages = ratio([r.published for r in ours], [r.published for r in alone])
        each = median(
            (mine.web_us - other.web_us) / crowd for mine, other in zip(ours, alone, strict=True)
        )
        return (
            f"- {crowd} spectators: the opponent's p50 {latency}, messages through Redis {messages}; "
            f"{each:.1f} µs of CPU for each spectator and move."
        )


async def _all_heard(server: Watched, moves: int) -> None:
    """Wait until every spectator has heard every move, or it has taken too long."""
    for _ in range(int(SETTLE_SECONDS / 0.1)):
        if all(each.heard >= moves for each in server.crowd):
            return
        await asyncio.sleep(0.1)


def _wrong(server: Watched, meter: Meter, result: Result) -> Iterator[str]:
    """What must not be."""
    server.processes.check()
    if lost := server.verify(meter.total):
        yield lost
    if result.moves.failures:
        yield f"a table stopped: {result.moves.first_failure}"
    if not all(each.heard >= meter.total for each in server.crowd):
        yield "not all of them heard every move"
    if result.processes > WEB_PROCESSES:
        yield "a process subscribed more than once"
    # A game's end adds an event or two, and the players' inboxes.
    if result.published > 1.5:
        yield f"{result.published:.2f} messages were published a move"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one short round, for a look")
    parser.add_argument("--rounds", type=int, help="rounds (3)")
    parser.add_argument("--seconds", type=float, help="length of a window (15; quick 4)")
    parser.add_argument(
        "--write", action="store_true", help="append the result to benchmarks/results.md"
    )
    return parser.parse_args()


def main() -> int:
    """Measure, print, and write if asked to; 1 if something was lost or sent twice."""
    options = parse()
    plan = Plan(
        rounds=options.rounds or (1 if options.quick else 3),
        seconds=options.seconds or (4.0 if options.quick else 15.0),
    )
    scratch = scratch_folder()
    run = Run(plan, scratch)
    try:
        run.play()
        lines = run.lines()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print("\n".join(lines))
    if options.write:
        say(f"appended to {report.append('Spectators', lines)}")
    return 1 if run.notes else 0


if __name__ == "__main__":
    sys.exit(main())
