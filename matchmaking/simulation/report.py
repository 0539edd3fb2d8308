"""The figures of simulations: the table of the trade-off, and how well estimates were calibrated. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from matchmaking.estimates import LATE, LIKELY
from matchmaking.simulation.run import Outcome, Told


@dataclass(frozen=True, slots=True)
class Figures:
    """One row: waits in seconds, spreads in points, shares from 0 to 1."""

    policy: str
    players: int
    matched: int
    wait_median: float
    wait_p95: float
    gave_up: float
    spread_median: float
    spread_p95: float
    chance: float
    repeats: float


def figures(players: int, outcome: Outcome) -> Figures:
    """What a rule did, in one row. A wait that was given up counts for the share of those who did, not as a wait."""
    waits = sorted(wait / 1000 for match in outcome.matches for wait in match.waits)
    spreads = sorted(match.spread for match in outcome.matches)
    ends = len(waits) + len(outcome.gave_up)
    games = max(1, len(outcome.matches))
    return Figures(
        policy=outcome.policy,
        players=players,
        matched=len(waits),
        wait_median=quantile(waits, 0.5),
        wait_p95=quantile(waits, 0.95),
        gave_up=len(outcome.gave_up) / max(1, ends),
        spread_median=quantile(spreads, 0.5),
        spread_p95=quantile(spreads, 0.95),
        chance=fmean(match.chance for match in outcome.matches) if outcome.matches else 0.0,
        repeats=sum(match.repeats > 0 for match in outcome.matches) / games,
    )


def quantile(ordered: Sequence[float], share: float) -> float:
    """A value of a sorted list; 0 of an empty one."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def table(rows: Iterable[Figures]) -> list[str]:
    """The trade-off as Markdown."""
    lines = [
        (
            "| online | rule | matched | wait median, s | wait p95, s | gave up | spread median | spread p95 "
            "| strongest's chance | repeats |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    return lines + [
        f"| {row.players:,} | {row.policy} | {row.matched:,} | {row.wait_median:.1f} | {row.wait_p95:.1f} "
        f"| {row.gave_up:.1%} | {row.spread_median:.0f} | {row.spread_p95:.0f} | {row.chance:.1%} | {row.repeats:.1%} |"
        for row in rows
    ]


def calibration(players: int, told: Sequence[Told]) -> Iterator[str]:
    """Rows: of those who never give up, how many were matched within what they had been told."""
    for waited in sorted({each.waited for each in told}):
        here = [each for each in told if each.waited == waited]
        for basis in ("waits", "arrivals"):
            some = [each for each in here if each.estimate.basis == basis]
            likely = [(each.actual, each.estimate.likely) for each in some if each.estimate.likely]
            late = [(each.actual, each.estimate.late) for each in some if each.estimate.late]
            if some:
                yield (
                    f"| {players:,} | {waited / 1000:.0f} s | {basis} | {len(some):,} | {_share(likely)} "
                    f"| {_share(late)} |"
                )


CALIBRATION_HEAD = (
    (
        f"| online | asked after | basis | told | within the likely wait (aim {LIKELY:.0%}) "
        f"| within the late wait (aim {LATE:.0%}) |"
    ),
    "|---|---|---|---|---|---|",
)


def _share(pairs: Sequence[tuple[int, int]]) -> str:
    if not pairs:
        return "–"
    return f"{sum(actual <= said for actual, said in pairs) / len(pairs):.0%} of {len(pairs):,}"
