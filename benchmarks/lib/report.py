"""The benchmark's words: Markdown tables, ratios with their spread, and the page they are appended to."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from benchmarks.lib.hotspots import Profile
from benchmarks.lib.load import Window, quantile_of

RESULTS = Path(__file__).resolve().parents[1] / "results.md"


def closed_table(rows: Mapping[str, Sequence[Window]], keeps: Mapping[str, str]) -> list[str]:
    """One line a server: medians over its rounds."""
    lines = [
        (
            "| server | keeps moves | rounds | moves/s (least–most) | p50 ms | p99 ms | server CPU µs a move "
            "| generator CPU share | generator µs a move | games ended | failures |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, windows in rows.items():
        rates = [window.rate for window in windows]
        lines.append(
            f"| {name} | {keeps[name]} | {len(windows)} | {median(rates):,.0f} ({min(rates):,.0f}–{max(rates):,.0f}) "
            f"| {_median(windows, 0.5)} | {_median(windows, 0.99)} "
            f"| {median(w.server_us for w in windows):,.0f} | {median(w.generator_share for w in windows):.2f} "
            f"| {median(w.generator_us for w in windows):.0f} | {sum(w.finished for w in windows)} "
            f"| {sum(w.failures for w in windows)} |"
        )
    return lines


def paced_table(rows: Mapping[str, Sequence[Window]]) -> list[str]:
    """Latencies at a fixed pace: medians over rounds."""
    lines = [
        (
            "| server | rounds | moves/s | p50 ms | p99 ms | p99.9 ms | worst ms | server CPU µs a move "
            "| generator CPU share | generator's timer lag p99 ms | stalled | games ended | failures |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, windows in rows.items():
        lag = median(quantile_of(window.lags, 0.99) * 1e3 for window in windows)
        lines.append(
            f"| {name} | {len(windows)} | {median(w.rate for w in windows):,.0f} | {_median(windows, 0.5)} "
            f"| {_median(windows, 0.99)} | {_median(windows, 0.999)} | {_median(windows, 1.0)} "
            f"| {median(w.server_us for w in windows):,.0f} | {median(w.generator_share for w in windows):.2f} "
            f"| {lag:.2f} | {sum(w.stalled for w in windows)} | {sum(w.finished for w in windows)} "
            f"| {sum(w.failures for w in windows)} |"
        )
    return lines


def parts_line(name: str, windows: Sequence[Window]) -> str:
    """CPU a move by part of one server."""
    parts = windows[0].cpu_us
    shares = ", ".join(
        f"{part} {median(w.cpu_us.get(part, 0.0) for w in windows):.0f}" for part in parts
    )
    return f"{name}, server CPU µs a move by part: {shares}."


def ratio_line(label: str, ours: Sequence[Window], theirs: Sequence[Window], goal: str) -> str:
    """The ratio of rates, round by round, so that load from elsewhere meets both."""
    ratios = [
        mine.rate / other.rate for mine, other in zip(ours, theirs, strict=False) if other.rate
    ]
    if not ratios:
        return f"- {label}: not measured."
    spread = f"{min(ratios):.2f}–{max(ratios):.2f}"
    return (
        f"- {label}: **{median(ratios):.2f}×** (median of {len(ratios)} rounds, {spread}); {goal}."
    )


def ceiling_line(ceiling: Sequence[Window], ours: Sequence[Window]) -> str:
    """Why the generator is not what was measured."""
    cost = median(window.generator_us for window in ceiling)
    top, rate = median(w.rate for w in ceiling), median(w.rate for w in ours)
    return (
        f"The generator drives the bare relay at {top:,.0f} moves/s, {top / rate:.1f} times the product's rate, with "
        f"{cost:.0f} µs of its own CPU a move (a whole core would do {1e6 / cost:,.0f} moves/s); "
        f"under the product it used {median(w.generator_share for w in ours):.2f} of a core."
    )


def profile_lines(profile: Profile | str, *, most: int = 14) -> list[str]:
    """Groups and functions by share of samples."""
    if isinstance(profile, str):
        return [f"No profile: {profile}"]
    lines = [
        f"Samples of one web process: {profile.samples}.",
        "",
        "| layer | own time |",
        "|---|---|",
    ]
    lines += [f"| {name} | {share:.1%} |" for name, share in profile.groups]
    lines += ["", "| function | own time |", "|---|---|"]
    lines += [f"| `{name}` | {share:.1%} |" for name, share in profile.own[:most]]
    lines += ["", "| function, with what it calls | time |", "|---|---|"]
    lines += [f"| `{name}` | {share:.1%} |" for name, share in profile.total[:most]]
    return lines


def append(title: str, lines: Sequence[str]) -> Path:
    """Add a dated section to the results page."""
    heading = f"## {title}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    known = (
        RESULTS.read_text()
        if RESULTS.exists()
        else "# Results\n\nNewest last. Compare only inside one section.\n"
    )
    RESULTS.write_text("\n".join([known.rstrip("\n"), "", heading, "", *lines, ""]))
    return RESULTS


def _median(windows: Sequence[Window], quantile: float) -> str:
    return f"{median(window.latency_ms(quantile) for window in windows):.2f}"
