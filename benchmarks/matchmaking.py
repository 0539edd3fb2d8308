"""Matchmaking: from a player's wish until both are told, over real sockets, against Colyseus in the same run.

    python benchmarks/matchmaking.py            three rounds, about five minutes
    python benchmarks/matchmaking.py --quick    one short round

The product runs as it is distributed: two web processes, a wave, a worker, the sweeper, PostgreSQL with its files
flushed, Valkey. A match of the product is committed with game, seats, engagements and both inbox items before anybody
is told; Colyseus keeps rooms in memory. No time is asserted: the exit status is 1 only if somebody was never told.
"""

import argparse
import asyncio
import gc
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import uvloop

sys.path.insert(
    0, str(Path(__file__).resolve().parents[1])
)  # run as a file, the project is not on the path

from benchmarks.lib import machine, meeting, report
from benchmarks.lib.colyseus_rooms import ColyseusRooms
from benchmarks.lib.contender import UnavailableError
from benchmarks.lib.kado_pools import KadoPools
from benchmarks.lib.meeting import Meter
from benchmarks.lib.rounds import ratio, spread

BARS = (
    "Bars: p50 of a match at a pace goal < 2 ms, first acceptable < 10 ms; goal ≥ 1,000 matches/s."
)
Hosts = type[KadoPools] | type[ColyseusRooms]


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured: players of the closed loop, so many at once; players at a pace, in seconds."""

    rounds: int
    crowd: int
    at_once: int
    paced: int
    pace: float


@dataclass(slots=True)
class Results:
    """Windows by host, a figure a round."""

    closed: dict[str, list[Meter]] = field(default_factory=dict)
    paced: dict[str, list[Meter]] = field(default_factory=dict)
    cpu: dict[str, str] = field(default_factory=dict)
    versions: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def measure(plan: Plan, hosts: Sequence[Hosts], scratch: Path) -> Results:
    """Rounds alternate between the hosts, so that load from elsewhere meets all."""
    results = Results()
    away: set[Hosts] = set()
    for number in range(plan.rounds):
        for kind in hosts:
            if kind in away:
                continue
            say(f"round {number + 1} of {plan.rounds}: {kind.name}")
            try:
                _round(kind, plan, results, scratch / f"{kind.__name__}-{number}")
            except UnavailableError as error:
                away.add(kind)
                results.notes.append(f"{kind.name}: not measured, {error}.")
    return results


def _round(kind: Hosts, plan: Plan, results: Results, scratch: Path) -> None:
    host = kind(scratch)
    version = host.install()
    if version and version not in results.versions:
        results.versions.append(version)
    try:
        host.start()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_windows(host, plan, results))
    finally:
        host.stop()


async def _windows(host: KadoPools | ColyseusRooms, plan: Plan, results: Results) -> None:
    await _window(host, 40, lambda w, m: meeting.closed_loop(w, m, at_once=4))  # warm
    meter = await _window(host, plan.paced, lambda w, m: meeting.paced(w, m, pace=plan.pace))
    results.paced.setdefault(host.name, []).append(meter)
    say(f"  paced: p50 {meter.latency_ms(0.5):.2f} ms, p99 {meter.latency_ms(0.99):.2f} ms")
    before: dict[str, float] = {}

    async def crowd(wishers: Sequence[meeting.Wisher], meter: Meter) -> None:
        before.update(host.cpu_seconds())
        await meeting.closed_loop(wishers, meter, at_once=plan.at_once)

    meter = await _window(host, plan.crowd, crowd)
    results.closed.setdefault(host.name, []).append(meter)
    matches = max(1, len(meter.latencies))
    results.cpu[host.name] = ", ".join(
        f"{part} {(used - before.get(part, 0.0)) * 1e6 / matches:,.0f}"
        for part, used in host.cpu_seconds().items()
    )
    say(f"  closed loop: {meter.rate:,.0f} matches/s, p50 {meter.latency_ms(0.5):.2f} ms")
    for each in (results.paced, results.closed):
        if why := each[host.name][-1].failures:
            results.notes.append(f"{host.name}: {len(why)} failures, the first: {why[0]}.")


async def _window(
    host: KadoPools | ColyseusRooms,
    count: int,
    drive: Callable[[Sequence[meeting.Wisher], Meter], Awaitable[None]],
) -> Meter:
    meter = Meter()
    wishers = await host.wishers(count, meter)
    await asyncio.sleep(0.5)
    gc.collect()
    gc.disable()
    try:
        await drive(wishers, meter)
    finally:
        gc.enable()
    host.leave()
    await asyncio.sleep(0.5)
    return meter


def lines_of(plan: Plan, results: Results) -> list[str]:
    """The result's tables and ratios."""
    lines = [
        f"### One joins every {plan.pace * 1000:g} ms ({plan.paced} players)",
        "",
        *_table(results.paced),
        "",
        BARS,
        "",
        f"### {plan.crowd:,} players, {plan.at_once} wishing at a time",
        "",
        *_table(results.closed),
        "",
        "CPU, µs a match by part: "
        + "; ".join(f"{name}: {parts}" for name, parts in results.cpu.items())
        + ".",
        "",
    ]
    ours, theirs = (results.closed.get(kind.name, []) for kind in (KadoPools, ColyseusRooms))
    if ours and len(ours) == len(theirs):
        rates = ratio([m.rate for m in ours], [m.rate for m in theirs])
        lines.append(f"- Kado / Colyseus joinOrCreate, matches/s: {rates}.")
        for share in (0.5, 0.99):
            paces = ratio(
                [m.latency_ms(share) for m in results.paced[KadoPools.name]],
                [m.latency_ms(share) for m in results.paced[ColyseusRooms.name]],
            )
            lines.append(f"- Kado / Colyseus joinOrCreate, p{share * 100:g} at a pace: {paces}.")
    return [*lines, *(f"- {note}" for note in results.notes)]


def _table(rows: dict[str, list[Meter]]) -> list[str]:
    lines = [
        "| host | rounds | matches | matches/s | p50 ms | p99 ms | worst ms | failures |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, meters in rows.items():
        cells = [
            name,
            str(len(meters)),
            str(sum(len(meter.latencies) for meter in meters)),
            spread([meter.rate for meter in meters], 0),
            *(spread([m.latency_ms(share) for m in meters], 2) for share in (0.5, 0.99)),
            f"{median(meter.latency_ms(1.0) for meter in meters):.2f}",
            str(sum(len(meter.failures) for meter in meters)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def say(text: str) -> None:
    """Progress, apart from the result."""
    print(text, file=sys.stderr, flush=True)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--no-peers", action="store_true", help="the product alone")
    parser.add_argument(
        "--write", action="store_true", help="append the result to benchmarks/results.md"
    )
    return parser.parse_args(arguments)


def main() -> int:
    """Start the servers in folders of their own, measure, print, and write if asked to."""
    options = parse()
    plan = Plan(1, 120, 16, 60, 0.02) if options.quick else Plan(3, 2_000, 32, 600, 0.02)
    hosts: list[Hosts] = [KadoPools] if options.no_peers else [KadoPools, ColyseusRooms]
    # Below a folder that is open to all: run as root, PostgreSQL has a system user that must pass through.
    base = Path("/var/lib") if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="kado-bench-", dir=base) as folder:
        Path(folder).chmod(0o711)
        results = measure(plan, hosts, Path(folder))
    lines = [
        f"Machine: {machine.describe()}; load {os.getloadavg()[0]:.1f} when it ended.",
        f"Versions: {'; '.join([machine.versions(), *results.versions])}.",
        "",
        *lines_of(plan, results),
    ]
    print("\n".join(lines))
    if options.write:
        say(f"appended to {report.append('Matchmaking', lines)}")
    failed = any(
        meter.failures
        for part in (results.paced, results.closed)
        for ms in part.values()
        for meter in ms
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
