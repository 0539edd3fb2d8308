"""The live path: durable moves a second and latency of the whole product, against peers in the same run.

    python benchmarks/live_path.py                 three rounds, all peers, about ten minutes
    python benchmarks/live_path.py --quick         one short round
    python benchmarks/live_path.py --peers none    the product and the generator's ceiling only

Closed loop: 200 games, the opponent answers at once. Paced: 1,000 games, a move every 2 s each. The product plays
recorded legal games to their ends on two web processes with PostgreSQL and Valkey; each peer plays the same moves in
one endless match a pair. Rounds alternate between the servers. No time is asserted:
the exit status tells whether the product was measured and kept every move.
"""

import argparse
import asyncio
import gc
import os
import resource
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(
    0, str(Path(__file__).resolve().parents[1])
)  # run as a file, the project is not on the path

import uvloop

from benchmarks.lib import hotspots, machine, report
from benchmarks.lib.boardgameio import BoardgameIo
from benchmarks.lib.colyseus import Colyseus
from benchmarks.lib.contender import Contender, UnavailableError
from benchmarks.lib.kado import Kado
from benchmarks.lib.live_options import Plan, parse, plan_of
from benchmarks.lib.load import Meter, Window, closed_loop, paced
from benchmarks.lib.processes import StartError
from benchmarks.lib.relay import Relay

PEERS: dict[str, type[Contender]] = {"colyseus": Colyseus, "boardgameio": BoardgameIo}
PACE_SECONDS = 2.0


class Run:
    """The rounds and what they measured."""

    def __init__(self, plan: Plan, options: argparse.Namespace, scratch: Path) -> None:
        self.plan = plan
        self.options = options
        self.scratch = scratch
        self.closed: dict[str, list[Window]] = {}
        self.paced: dict[str, list[Window]] = {}
        self.keeps: dict[str, str] = {}
        self.versions: list[str] = []
        self.notes: list[str] = []
        self.sound = True
        """Whether the product was measured in every round, and kept every move that it acknowledged."""
        self.profile: hotspots.Profile | str | None = None

    def contenders(self) -> list[type[Contender]]:
        """Whom to measure, the ceiling first."""
        known: dict[str, type[Contender]] = {"relay": Relay, "kado": Kado, **PEERS}
        peers = list(PEERS) if self.options.peers == "all" else self.options.peers.split(",")
        wanted = self.options.only.split(",") if self.options.only else ["relay", "kado", *peers]
        return [known[name] for name in wanted if name in known]

    def play(self) -> None:
        """All rounds. A server that cannot be measured is noted and left out."""
        kinds = self.contenders()
        for number in range(self.plan.rounds):
            for kind in list(kinds):
                say(f"round {number + 1} of {self.plan.rounds}: {kind.name}")
                try:
                    self._round(kind, first=number == 0)
                except (UnavailableError, StartError, OSError, TimeoutError) as error:
                    self.notes.append(
                        f"{kind.name} was not measured in round {number + 1}: {error}"
                    )
                    say(self.notes[-1])
                    kinds.remove(kind)
                    self.sound &= kind is not Kado

    def _round(self, kind: type[Contender], *, first: bool) -> None:
        contender = kind(self.scratch / kind.__name__.lower())
        version = contender.install()
        if first and version:
            self.versions.append(version)
        self.keeps[kind.name] = kind.keeps
        try:
            contender.start()
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(self._windows(contender, first=first))
        finally:
            contender.stop()

    async def _windows(self, contender: Contender, *, first: bool) -> None:
        plan, name = self.plan, contender.name
        window = await self._closed_window(contender)
        self.closed.setdefault(name, []).append(window)
        say(f"  closed loop: {window.rate:,.0f} moves/s, p99 {window.latency_ms(0.99):.2f} ms")
        if plan.paced_games and not isinstance(contender, Relay):
            window = await self._paced_window(contender)
            self.paced.setdefault(name, []).append(window)
            say(
                f"  paced: p50 {window.latency_ms(0.5):.2f} ms, p99 {window.latency_ms(0.99):.2f} ms"
            )
        if first and self.options.profile and isinstance(contender, Kado):
            await self._profile(contender)

    async def _closed_window(self, contender: Contender) -> Window:
        plan, meter = self.plan, Meter()
        tables = await contender.tables(plan.games, meter, games=plan.prepared)
        window = await closed_loop(
            tables, meter, contender, warm_up=plan.warm_up, seconds=plan.seconds
        )
        self._finish(contender, window, meter)
        return window

    async def _paced_window(self, contender: Contender) -> Window:
        plan, meter = self.plan, Meter()
        tables = await contender.tables(plan.paced_games, meter, games=2)
        window = await paced(
            tables,
            meter,
            contender,
            pace=PACE_SECONDS,
            warm_up=2 * PACE_SECONDS,
            seconds=plan.paced_seconds,
        )
        self._finish(contender, window, meter)
        return window

    def _finish(self, contender: Contender, window: Window, meter: Meter) -> None:
        contender.processes.check()
        if wrong := contender.verify(meter.total):
            self.notes.append(f"{contender.name}: {wrong}.")
            self.sound = False
        if window.failures:
            self.notes.append(
                f"{contender.name}: {window.failures} tables stopped in a window; the first because "
                f"{window.first_failure}."
            )
        contender.leave()
        gc.collect()

    async def _profile(self, contender: Kado) -> None:
        plan, meter = self.plan, Meter()
        tables = await contender.tables(plan.games, meter, games=plan.prepared)
        output = self.scratch / "profile.raw"
        sampling = asyncio.create_task(
            asyncio.to_thread(
                hotspots.record,
                contender.first_web,
                plan.seconds,
                output,
                native=self.options.native,
            )
        )
        window = await closed_loop(
            tables,
            meter,
            contender,
            warm_up=plan.warm_up,
            seconds=max(1.0, plan.seconds - plan.warm_up),
        )
        self._finish(contender, window, meter)
        self.profile = await sampling

    # Words

    def lines(self) -> list[str]:
        """The whole report."""
        plan = self.plan
        lines = [
            f"Machine: {machine.describe()}.",
            f"Versions: {'; '.join([machine.versions(), *self.versions])}.",
            "",
        ]
        lines += [
            f"### {plan.games} games, each answers at once ({plan.seconds:.0f} s windows)",
            "",
        ]
        lines += report.closed_table(self.closed, self.keeps)
        if self.paced:
            lines += [
                "",
                f"### {plan.paced_games:,} games, a move every {PACE_SECONDS:.0f} s each",
                "",
            ]
            lines += report.paced_table(self.paced)
            lines += [
                "",
                "Bars for the paced p99: goal below every durable peer and below Colyseus; first < 15 ms.",
            ]
        lines += ["", *self._ratios()]
        lines += ["", *(report.parts_line(name, windows) for name, windows in self.closed.items())]
        if Relay.name in self.closed and Kado.name in self.closed:
            lines += ["", report.ceiling_line(self.closed[Relay.name], self.closed[Kado.name])]
        if self.profile is not None:
            lines += [
                "",
                "### Where one web process spends its time",
                "",
                *report.profile_lines(self.profile),
            ]
        if self.notes:
            lines += ["", "### Notes", "", *(f"- {note}" for note in dict.fromkeys(self.notes))]
        return lines

    def _ratios(self) -> list[str]:
        ours = self.closed.get(Kado.name, [])
        bars = {Colyseus: "goal ≥ 1.0×, first ≥ 0.35×", BoardgameIo: "goal ≥ 50×, first ≥ 20×"}
        return [
            report.ratio_line(
                f"Kado / {peer.name}, moves/s", ours, self.closed.get(peer.name, []), bar
            )
            for peer, bar in bars.items()
        ]


def say(text: str) -> None:
    """Progress, apart from the result."""
    print(text, file=sys.stderr, flush=True)


def scratch_folder() -> Path:
    """A fresh folder for the servers' data; as root below one that PostgreSQL's own user can pass through."""
    base = Path("/var/lib") if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="kado-bench-", dir=base))
    folder.chmod(0o711)
    return folder


def main() -> int:
    """Measure, print, and write if asked to; 1 if the product could not be measured or lost a move."""
    options = parse(__doc__ or "", list(PEERS))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(
        resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else max(soft, 65536), hard)
    )
    scratch = scratch_folder()
    run = Run(plan_of(options), options, scratch)
    try:
        run.play()
        lines = run.lines()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print("\n".join(lines))
    if options.write:
        say(f"appended to {report.append('Live path', lines)}")
    return 0 if run.sound else 1


if __name__ == "__main__":
    sys.exit(main())
