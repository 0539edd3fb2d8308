"""The block puzzle: placements a second by the pure rules and by the whole service, and what a long run costs.

    python benchmarks/puzzle.py            five rounds, a run of 5,000 placements, about eight minutes
    python benchmarks/puzzle.py --quick    two short rounds, a run of 500 placements

The service is two web processes, PostgreSQL with its files flushed as in production, and Valkey; a placement counts
when it is answered, and is kept then. HTTP clients keep their connections; both kinds send the next placement when they
have the answer. No time is asserted: the exit status is 1 only if a placement was refused or is not in the table.
"""

import argparse
import asyncio
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(
    0, str(Path(__file__).resolve().parents[1])
)  # run as a file, the project is not on the path

import psycopg

from benchmarks.lib import machine, report
from benchmarks.lib.kado import Kado
from benchmarks.lib.load import quantile_of
from benchmarks.lib.long_run import MEASURES
from benchmarks.lib.placements import LONG, Sample, played, wish
from benchmarks.lib.recorded import PROJECT
from benchmarks.lib.rounds import cost_us, exponent, ratio, spread
from benchmarks.lib.run_load import HttpPlayer, SocketPlayer, Tally, bodies
from benchmarks.lib.seed_runs import seed_of

WAYS: dict[str, type[HttpPlayer | SocketPlayer]] = {"HTTP": HttpPlayer, "socket": SocketPlayer}


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    rounds: int
    seconds: float
    """How long each window of load lasts."""
    clients: int
    seeds: int
    """Different runs that are played; clients share them."""
    placements: int
    """Ready for each client; more than it makes in a window."""
    sizes: tuple[int, ...]
    window: int
    long_rounds: int


@dataclass(frozen=True, slots=True)
class Load:
    """What a window of load found."""

    rate: float
    p50_ms: float
    p99_ms: float
    cpu_us: float
    """Of all processes of the service, a placement."""
    generator: float
    """CPU time of the generator over wall time: 1.0 is one whole core."""


class Service(Kado):
    """The product under load."""

    placed = 0

    def seed(self, runs: int, seeds: int) -> list[dict[str, Any]]:
        tag = f"b{secrets.token_hex(4)}"
        arguments = ("--runs", str(runs), "--seeds", str(seeds), "--tag", tag)
        found: list[dict[str, Any]] = self.program("benchmarks.lib.seed_runs", *arguments)["runs"]
        return found

    def program(self, name: str, *arguments: str) -> dict[str, Any]:
        """What a program of ours that needs Django printed."""
        ran = subprocess.run(
            [sys.executable, "-m", name, *arguments],
            cwd=PROJECT,
            env=self.environ,
            stdout=subprocess.PIPE,
            check=True,
        )
        found: dict[str, Any] = json.loads(ran.stdout)
        return found

    def kept(self) -> int:
        """Placements in the table."""
        query = (
            """SELECT count(*) FROM puzzle_runevent WHERE payload LIKE '{"type":"block_placed"%'"""
        )
        with psycopg.connect(self.environ["DATABASE_URL"]) as connection:
            (count,) = connection.execute(query).fetchone() or (0,)
        return int(count)


async def load(service: Service, way: str, plan: Plan, ready: list[list[bytes]]) -> Load:
    """One window; raises `RuntimeError` when a placement is refused."""
    seeded = await asyncio.to_thread(service.seed, plan.clients, plan.seeds)
    tally = Tally(open=True)
    players = [
        WAYS[way](
            tally,
            service.ports[number % len(service.ports)],
            each["token"],
            each["run"],
            ready[each["seed"]],
        )
        for number, each in enumerate(seeded)
    ]
    before = sum(service.cpu_seconds().values())
    began, own = time.perf_counter(), time.process_time()
    work = asyncio.gather(*(player.play() for player in players))
    await asyncio.sleep(plan.seconds)
    tally.open = False
    await work
    seconds, generator = time.perf_counter() - began, time.process_time() - own
    service.placed += tally.placed
    if tally.failures:
        raise RuntimeError(f"{len(tally.failures)} placements failed: {tally.failures[0]}")
    return Load(
        rate=tally.placed / seconds,
        p50_ms=quantile_of(tally.latencies, 0.5) * 1e3,
        p99_ms=quantile_of(tally.latencies, 0.99) * 1e3,
        cpu_us=(sum(service.cpu_seconds().values()) - before) * 1e6 / max(1, tally.placed),
        generator=generator / seconds,
    )


def measure(plan: Plan) -> tuple[list[str], bool]:
    """Everything, as lines; and whether all placements were kept."""
    say(f"{plan.seeds} runs of {plan.placements} placements are played beforehand")
    recorded = [list(played(LONG, seed_of(n), plan.placements)) for n in range(plan.seeds)]
    ready = [bodies([wish(sample) for sample in samples]) for samples in recorded]
    every = [sample for samples in recorded for sample in samples]
    pure: list[float] = []
    loads: dict[str, list[Load]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory(prefix="kado-bench-") as scratch:
        Path(scratch).chmod(0o711)
        service = Service(Path(scratch))
        try:
            service.start()
            for number in range(plan.rounds):
                say(f"round {number + 1} of {plan.rounds}")
                pure.append(1e6 / cost_us(Sample.play, every))
                for way in WAYS:
                    loads[way].append(asyncio.run(load(service, way, plan, ready)))
            kept = service.kept()
            sizes = ",".join(map(str, plan.sizes))
            long = service.program(
                *("benchmarks.lib.long_run", "--sizes", sizes, "--window", str(plan.window)),
                *("--rounds", str(plan.long_rounds), "--tag", f"l{secrets.token_hex(4)}"),
            )
        finally:
            service.stop()
    lines = [*load_lines(plan, pure, loads), "", *growth_lines(plan, long)]
    if kept != service.placed:
        lines.append(f"{service.placed} placements were answered, and {kept} are kept.")
    return lines, kept == service.placed


def load_lines(plan: Plan, pure: Sequence[float], loads: dict[str, list[Load]]) -> list[str]:
    """Rates and latencies, median (least–most) of the rounds."""
    lines = [
        f"### {plan.rounds} rounds, {plan.clients} clients: median (least–most)",
        "",
        "| what | placements/s | p50 ms | p99 ms | server CPU µs a placement | generator CPU share |",
        "|---|---|---|---|---|---|",
        f"| the rules alone, one process, a second of CPU | {spread(pure, 0)} | | | | |",
    ]
    for way, found in loads.items():
        lines.append(
            f"| the whole service by {way} | {spread([each.rate for each in found], 0)} "
            f"| {median(each.p50_ms for each in found):.2f} | {median(each.p99_ms for each in found):.2f} "
            f"| {median(each.cpu_us for each in found):,.0f} "
            f"| {median(each.generator for each in found):.2f} |"
        )
    rates = {way: [each.rate for each in found] for way, found in loads.items()}
    return [
        *lines,
        "",
        f"- by socket against HTTP: {ratio(rates['socket'], rates['HTTP'])}.",
        f"- the rules alone against the service by socket: {ratio(pure, rates['socket'])}.",
    ]


def growth_lines(plan: Plan, found: dict[str, dict[str, list[float]]]) -> list[str]:
    """What a placement costs by the length of the run; the exponent says how that grows."""
    lines = [
        f"### A placement by the length of its run: {plan.window} before each size, one client, {plan.long_rounds} rounds",
        "",
        f"| measure | {' | '.join(f'{size:,}' for size in plan.sizes)} | grows as length^ |",
        f"|---|{'---|' * (len(plan.sizes) + 1)}",
    ]
    for name in MEASURES:
        figures = {size: found[name][str(size)] for size in plan.sizes}
        digits = 0 if "bytes" in name else 2
        cells = " | ".join(spread(each, digits) for each in figures.values())
        power = exponent((size, median(each)) for size, each in figures.items())
        lines.append(f"| {name} | {cells} | {power:.3f} |")
    return lines


def say(text: str) -> None:
    """Progress, apart from the result."""
    print(text, file=sys.stderr, flush=True)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="short rounds and runs, for a look")
    parser.add_argument("--rounds", type=int, help="rounds (5; quick 2)")
    parser.add_argument("--clients", type=int, default=32, help="at a time (%(default)s)")
    parser.add_argument(
        "--write", action="store_true", help="append the result to benchmarks/results.md"
    )
    return parser.parse_args(arguments)


def plan_of(options: argparse.Namespace) -> Plan:
    quick = options.quick
    return Plan(
        rounds=options.rounds or (2 if quick else 5),
        seconds=2.0 if quick else 10.0,
        clients=options.clients,
        seeds=2 if quick else 8,
        placements=300 if quick else 1_500,
        sizes=(50, 150, 500) if quick else (50, 500, 5_000),
        window=40,
        long_rounds=2 if quick else 3,
    )


def main() -> int:
    """Measure, print, and write if asked to."""
    options = parse()
    plan = plan_of(options)
    lines, sound = measure(plan)
    lines = [
        f"Machine: {machine.describe()}; load {os.getloadavg()[0]:.1f} when it ended.",
        f"Versions: {machine.versions()}.",
        "",
        *lines,
    ]
    print("\n".join(lines))
    if options.write:
        say(f"appended to {report.append('Block puzzle', lines)}")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
