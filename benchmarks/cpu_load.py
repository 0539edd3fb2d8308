"""What people notice of CPU players: moves and REST requests while two workers search, and while none does.

    python benchmarks/cpu_load.py            three rounds, about eight minutes
    python benchmarks/cpu_load.py --quick    one short round

People's games have two sockets each and a move every two seconds; beside them come REST requests at a steady rate. Each
set-up is measured without and with searches, on the same processes: workers on any core that do not step back (nice
0), workers that do (as `manage.py worker` sets them up), and workers on the last core, everything else, this load
too, on the others. No time is asserted; the exit status tells whether every move was kept.
"""

import argparse
import asyncio
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

sys.path.insert(
    0, str(Path(__file__).resolve().parents[1])
)  # run as a file, the project is not on the path

import uvloop

from benchmarks.lib import machine, report
from benchmarks.lib.http import post
from benchmarks.lib.kado import Kado
from benchmarks.lib.load import Meter, Table, Window, paced, quantile_of
from benchmarks.lib.rest import Client, trickle
from benchmarks.lib.searching import WORKERS, Searching, on_cores
from benchmarks.live_path import say, scratch_folder
from config.management.commands.worker import NICE

PACE_SECONDS = 2.0
REST_RATE = 20.0


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured. Seconds."""

    rounds: int
    games: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Setup:
    """How the workers run."""

    name: str
    nice: int
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """One window: people's moves, and REST requests, in milliseconds."""

    moves: Window
    rest: Sequence[float]

    def figures(self) -> list[float]:
        """p50 and p99 of moves, and of requests."""
        return [
            quantile_of(values, part) * 1e3
            for values in (self.moves.latencies, self.rest)
            for part in (0.5, 0.99)
        ]

    @property
    def cores(self) -> float:
        """How many cores the bots workers used."""
        return self.moves.cpu_us.get("bots", 0.0) * self.moves.moves / self.moves.seconds / 1e6


SETUPS = (
    Setup("any core, nice 0", 0),
    Setup(f"any core, nice {NICE['bots']}", NICE["bots"]),
    Setup(f"workers on a core of their own, nice {NICE['bots']}", NICE["bots"], pinned=True),
)


class Run:
    """The rounds and what they measured: for each set-up, pairs of a quiet window and one with searches."""

    def __init__(self, plan: Plan, scratch: Path) -> None:
        self.plan = plan
        self.scratch = scratch
        self.results: dict[str, list[tuple[Result, Result]]] = {}
        self.notes: list[str] = []

    def play(self) -> None:
        for number in range(self.plan.rounds):
            for setup in SETUPS:
                say(f"round {number + 1} of {self.plan.rounds}: {setup.name}")
                self._round(setup, self.scratch / f"{number}-{SETUPS.index(setup)}")

    def _round(self, setup: Setup, folder: Path) -> None:
        cores = sorted(os.sched_getaffinity(0))
        own = set(cores[-1:]) if setup.pinned else None
        with on_cores(set(cores) - own if own else None):
            server = Searching(folder, nice=setup.nice, bots_cores=own)
            try:
                server.start()
                with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                    pair = runner.run(self._windows(server))
            finally:
                server.stop()
        self.results.setdefault(setup.name, []).append(pair)

    async def _windows(self, server: Searching) -> tuple[Result, Result]:
        meter = Meter()
        tables = await server.tables(self.plan.games, meter, games=2)
        clients, paths = await _rest_load(server)
        quiet = await self._window(server, tables, meter, clients, paths)
        await server.begin_load()
        try:
            loaded = await self._window(server, tables, meter, clients, paths)
        finally:
            await server.end_load()
        server.processes.check()
        if wrong := server.verify(meter.total):
            self.notes.append(f"{wrong}.")
        if loaded.cores < WORKERS / 4:
            say(
                f"  the workers got {loaded.cores:.2f} cores only: the machine has other things to do"
            )
        if loaded.moves.failures:
            self.notes.append(
                f"{loaded.moves.failures} tables stopped; the first because {loaded.moves.first_failure}."
            )
        for client in clients:
            client.close()
        server.leave()
        return quiet, loaded

    async def _window(
        self,
        server: Kado,
        tables: Sequence[Table],
        meter: Meter,
        clients: Sequence[Client],
        paths: Sequence[str],
    ) -> Result:
        warm_up, seconds = PACE_SECONDS, self.plan.seconds
        moves, rest = await asyncio.gather(
            paced(tables, meter, server, pace=PACE_SECONDS, warm_up=warm_up, seconds=seconds),
            trickle(clients, paths, rate=REST_RATE, seconds=warm_up + seconds),
        )
        result = Result(moves, rest[int(REST_RATE * warm_up) :])
        say("  " + ", ".join(f"{value:.2f}" for value in result.figures()) + " ms")
        return result

    # Words

    def lines(self) -> list[str]:
        """The whole report."""
        load = (
            f"{self.plan.games} games of people, a move every {PACE_SECONDS:.0f} s each; {REST_RATE:.0f} REST requests "
            f"a second; {WORKERS} bots workers; {self.plan.seconds:.0f} s windows, {self.plan.rounds} rounds."
        )
        lines = [
            f"Machine: {machine.describe()}; load {os.getloadavg()[0]:.1f} when it ended.",
            f"Versions: {machine.versions()}.",
            "",
            load,
            "",
            "| workers | searches | moves p50 ms | moves p99 ms | REST p50 ms | REST p99 ms | cores that searched |",
            "|---|---|---|---|---|---|---|",
        ]
        for name, pairs in self.results.items():
            for which, word in enumerate(("none", "full load")):
                row = [pair[which] for pair in pairs]
                figures = zip(*(result.figures() for result in row), strict=True)
                spread = " | ".join(_spread(values) for values in figures)
                cores = median(result.cores for result in row)
                lines.append(f"| {name} | {word} | {spread} | {cores:.2f} |")
        lines += ["", "Full load / none, round by round; the bar for p99 on own cores is 1.2:", ""]
        lines += [self._ratio(name, pairs) for name, pairs in self.results.items()]
        if self.notes:
            lines += ["", "### Notes", "", *(f"- {note}" for note in dict.fromkeys(self.notes))]
        return lines

    def _ratio(self, name: str, pairs: Sequence[tuple[Result, Result]]) -> str:
        labels = ("moves p50", "moves p99", "REST p50", "REST p99")
        rounds = [
            [loaded / quiet for quiet, loaded in zip(one.figures(), other.figures(), strict=True)]
            for one, other in pairs
        ]
        ratios = zip(*rounds, strict=True)
        told = ", ".join(
            f"{label} **{_spread(values)}×**" for label, values in zip(labels, ratios, strict=True)
        )
        return f"- {name}: {told}."


async def _rest_load(server: Kado) -> tuple[list[Client], list[str]]:
    """A client for each web process, and what they ask for: a game, its legal moves, themselves, a page."""
    guest = await post(server.ports[0], "/api/v1/guests", {})
    wish = {"variant": "classic", "seats": [{}, {}, {}, {}]}
    made = await post(server.ports[0], "/api/v1/games", wish, token=guest["token"])
    game = f"/api/v1/games/{made['game']}"
    paths = [game, f"{game}/legal-moves", "/api/v1/me", "/api/v1/leaderboards/duo:blitz"]
    return [Client(port, guest["token"]) for port in server.ports], paths


def _spread(values: Sequence[float]) -> str:
    return f"{median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one short round, for a look")
    parser.add_argument("--rounds", type=int, help="rounds of each set-up (3)")
    parser.add_argument("--games", type=int, default=200, help="games of people (200)")
    parser.add_argument("--seconds", type=float, help="length of a window (20; quick 8)")
    parser.add_argument(
        "--write", action="store_true", help="append the result to benchmarks/results.md"
    )
    return parser.parse_args()


def main() -> int:
    """Measure, print, and write if asked to; 1 if a move was lost."""
    options = parse()
    if len(os.sched_getaffinity(0)) < 2:
        say("Two cores are needed.")
        return 2
    plan = Plan(
        rounds=options.rounds or (1 if options.quick else 3),
        games=options.games,
        seconds=options.seconds or (8.0 if options.quick else 20.0),
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
        say(f"appended to {report.append('CPU load', lines)}")
    return 1 if run.notes else 0


if __name__ == "__main__":
    sys.exit(main())
