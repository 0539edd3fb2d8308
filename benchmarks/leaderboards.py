"""Leaderboards: what a page, the lines around a player, friends, a rank and a submit cost, and how that grows.
And what it takes to replay a ledger of as many rows, to annul a game, and to freeze the table of a season.

    python benchmarks/leaderboards.py            10,000, 100,000 and 1,000,000 lines, about eight minutes
    python benchmarks/leaderboards.py --quick    1,000, 10,000 and 100,000 lines

Costs are time on the wall of one call of the selector or service, in a process of its own against PostgreSQL with its
files flushed as in production; a submit is a whole transaction. No time is asserted: the exit status is 1 only if a
rank differs from what counting gives.
"""

import argparse
import os
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import Any

sys.path.insert(
    0, str(Path(__file__).resolve().parents[1])
)  # run as a file, the project is not on the path

from benchmarks.lib import machine, report
from benchmarks.lib.rounds import exponent
from config.embedded import embedded_services

THREADS = 8
BARS = "Bars at 1,000,000 lines for a page, around me and a submit: goal < 5 ms, first acceptable < 20 ms."


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured: boards of so many lines, so many calls of each kind, so many submits at once."""

    sizes: tuple[int, ...]
    calls: int
    crowd: int
    seed: int


@dataclass(frozen=True, slots=True)
class Spent:
    """Milliseconds that calls took."""

    p50: float
    p95: float

    @classmethod
    def by(cls, work: Callable[[Any], object], arguments: Sequence[Any]) -> "Spent":
        took = []
        for argument in arguments:
            began = time.perf_counter()
            work(argument)
            took.append((time.perf_counter() - began) * 1e3)
        cuts = quantiles(took, n=20)
        return cls(cuts[9], cuts[18])

    def __str__(self) -> str:
        return f"{self.p50:.2f} / {self.p95:.2f}"


def reads(key: str, players: Sequence[int]) -> dict[str, Spent]:
    """Every question that a board answers, about these players in turn."""
    from accounts import selectors
    from accounts.selectors.friends_board import friends_board

    around = [selectors.leaderboard_around(key, player, limit=1) for player in players]
    cursors = [page.next for page in around if page.next]
    return {
        "top page, 50 lines": Spent.by(lambda _: selectors.leaderboard_page(key), players),
        "page anywhere, 50 lines": Spent.by(
            lambda cursor: selectors.leaderboard_page(key, cursor=cursor), cursors
        ),
        "around a player, 9 lines": Spent.by(
            lambda player: selectors.leaderboard_around(key, player, limit=9), players
        ),
        "50 friends": Spent.by(
            lambda player: friends_board(key, circle_of(player, players)), players
        ),
        "a player's rank": Spent.by(
            lambda player: selectors.leaderboard_rank(key, player), players
        ),
    }


def circle_of(player: int, players: Sequence[int]) -> Sequence[int]:
    """A player and 50 others, anywhere on the board."""
    return [player, *Random(player).sample(players, 50)]


def submits(key: str, players: Sequence[int], dice: Random) -> dict[str, Spent]:
    """Players who beat their score, and players who do not."""
    return {
        "submit, better": Spent.by(
            lambda player: submit(key, player, 20_000 + dice.randrange(10_000)), players
        ),
        "submit, not better": Spent.by(lambda player: submit(key, player, 1), players),
    }


def submit(key: str, player: int, score: int) -> None:
    """One score in a transaction of its own."""
    from django.db import transaction

    from accounts.services.scores import submit_score

    with transaction.atomic():
        submit_score(
            board=key,
            player_id=player,
            score=score,
            placements=100,
            finished_at=1_800_000_000_000,
            source="bench",
        )


def crowd_rate(key: str, players: Sequence[int], scores: Sequence[int]) -> float:
    """Submits a second of several threads at once, each on a connection of its own."""
    from django.db import connection

    ready = threading.Barrier(THREADS + 1)

    def work(number: int) -> None:
        try:
            connection.ensure_connection()
            ready.wait()
            for turn in range(number, len(players), THREADS):
                submit(key, players[turn], scores[turn])
        finally:
            connection.close()

    with ThreadPoolExecutor(THREADS) as pool:
        done = [pool.submit(work, number) for number in range(THREADS)]
        ready.wait()
        began = time.perf_counter()
        for each in done:
            each.result()
        return len(players) / (time.perf_counter() - began)


def crowd_lines(plan: Plan, largest: str, ids: Sequence[int], dice: Random) -> list[str]:
    """Many players at once: spread over a large board, and all on one that is new."""
    rates = []
    for key, top in ((largest, 8_000), ("daily:2026-11-30", 3_000), ("daily:2026-12-01", 1)):
        players = dice.sample(ids, plan.crowd)
        scores = [dice.randrange(top) for _ in players]
        rates.append(crowd_rate(key, players, scores))
    return [
        (
            f"Submits a second, {THREADS} connections at once, {plan.crowd:,} players: {rates[0]:,.0f} on the largest "
            f"board, {rates[1]:,.0f} on a new one, {rates[2]:,.0f} on a new one where all have the same score."
        )
    ]


def table(head: Sequence[str], costs: dict[int, dict[str, Spent]]) -> list[str]:
    """A row for each kind of call, a column for each size, and the exponent of the growth of the p50."""
    lines = [head, ["---"] * len(head)]
    for what in next(iter(costs.values())):
        grown = exponent((size, cost[what].p50) for size, cost in costs.items())
        lines.append([what, *(str(cost[what]) for cost in costs.values()), f"{grown:.2f}"])
    return [f"| {' | '.join(row)} |" for row in lines]


def ledger_lines(rows: int) -> list[str]:
    """A ledger of so many rows, replayed from nothing, and from a game on."""
    from accounts.models import LedgerRow, RatingRow
    from accounts.services.annulment import annul_game
    from accounts.services.ledgers import check_key, repair_key
    from accounts.services.people import create_player
    from benchmarks.lib.ledgers import fill_games

    key, boss = "ledger:blitz", create_player(name="Boss").pk
    fill_games(key, rows=rows, players=rows // 20)
    say(f"a ledger of {rows:,} rows")
    repair, report = timed(lambda: repair_key(key))
    check, _ = timed(lambda: check_key(key))
    listed = RatingRow.objects.filter(key=key, listed=True).count()
    lines = [
        f"{report.games:,} games in {rows:,} rows, {report.ratings:,} ratings, {listed:,} of them listed.",
        "",
        f"- all rows and ratings wrong, repaired: {repair:.1f} s, {rows / repair:,.0f} rows/s",
        f"- checked, nothing differs: {check:.1f} s, {rows / check:,.0f} rows/s",
    ]
    games = LedgerRow.objects.filter(key=key).order_by("-id")
    for name, place in (
        ("the latest game", 0),
        ("a game 1,000 rows ago", 1_000),
        ("the first", rows - 1),
    ):
        annul = partial(annul_game, game_id=games[place].game_id, by=boss, reason="bench")
        took, done = timed(annul)
        lines.append(
            f"- {name} annulled: {took:.2f} s, {done.games - 1:,} games rated again, {done.ratings:,} ratings changed"
        )
    return lines


def season_lines(key: str, rows: int) -> list[str]:
    """The table of a season in which everybody of a leaderboard has played, frozen; and read."""
    from accounts.models import Season, SeasonTable
    from accounts.selectors.seasons import table_around, table_page
    from accounts.services.seasons import close_season
    from benchmarks.lib.ledgers import fill_season

    fill_season(key)
    say(f"a season of {rows:,} players")
    season = Season.objects.create(name="Bench", starts_at=0, ends_at=10, keys=[key], min_games=2)
    took, _ = timed(lambda: close_season(season_id=season.pk, now=10**12))
    lines = SeasonTable.objects.get().lines
    players = list(
        season.tables.get().entries.values_list("player_id", flat=True)[:: lines // 100 + 1]
    )
    cursors = [str(lines * part // 100) for part in range(100)]
    page = Spent.by(lambda at: table_page(season.pk, key, cursor=at, limit=50), cursors)
    around = Spent.by(lambda player: table_around(season.pk, key, player, limit=9), players)
    return [
        f"{lines:,} lines from {2 * rows:,} ledger rows frozen in {took:.1f} s.",
        f"Then, p50 / p95: a page anywhere {page} ms, around a player {around} ms.",
    ]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came of it."""
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def measure(plan: Plan) -> tuple[list[str], bool]:
    """The result's lines, and whether all ranks that were compared are right."""
    from benchmarks.lib.boards import counted_rank, fill, shape

    dice = Random(plan.seed)
    keys = {size: (f"puzzle:bench-{size}", f"bench-{size}:blitz") for size in plan.sizes}
    say(f"filling boards of {', '.join(f'{size:,}' for size in plan.sizes)} lines")
    ids = fill(max(plan.sizes), keys)
    costs: dict[str, dict[int, dict[str, Spent]]] = {"scores": {}, "ratings": {}}
    wrong, shapes = 0, []
    for size, (scores, ratings) in keys.items():
        say(f"{size:,} lines")
        players = dice.sample(ids[:size], plan.calls)
        wrong += sum(differs(scores, player) for player in players[:20])
        counted = Spent.by(partial(counted_rank, scores), players[:40])
        costs["ratings"][size] = reads(ratings, players)
        costs["scores"][size] = {
            **reads(scores, players),
            **submits(scores, players, dice),
            "a rank by COUNT(*), for comparison": counted,
        }
        wrong += sum(differs(scores, player) for player in players[:20])
        buckets, least, most = shape(scores)
        shapes.append(f"{size:,} lines in {buckets:,} buckets of {least:,} to {most:,}")
    head = ["p50 / p95, ms", *(f"{size:,} lines" for size in plan.sizes), "exponent"]
    lines = [
        f"### Scores ({plan.calls} calls each, of players anywhere on the board)",
        "",
        *table(head, costs["scores"]),
        "",
        BARS,
        f"Boards: {'; '.join(shapes)}.",
        "",
        *crowd_lines(plan, keys[max(plan.sizes)][0], ids, dice),
        "",
        "### Ratings",
        "",
        *table(head, costs["ratings"]),
        "",
        f"Ranks that differ from counting, of {40 * len(plan.sizes)}: {wrong}.",
        "",
        "### A season",
        "",
        *season_lines(keys[max(plan.sizes)][1], max(plan.sizes)),
        "",
        "### The ledger",
        "",
        *ledger_lines(max(plan.sizes)),
    ]
    return lines, wrong == 0


def differs(key: str, player: int) -> bool:
    """Whether the buckets and counting tell another rank."""
    from accounts import selectors
    from benchmarks.lib.boards import counted_rank

    return selectors.leaderboard_rank(key, player) != counted_rank(key, player)


def say(text: str) -> None:
    """Progress, apart from the result."""
    print(text, file=sys.stderr, flush=True)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="smaller boards, fewer calls")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other players (1)")
    parser.add_argument(
        "--write", action="store_true", help="append the result to benchmarks/results.md"
    )
    return parser.parse_args(arguments)


def main() -> int:
    """Start PostgreSQL in a folder of its own, measure, print, and write if asked to."""
    options = parse()
    plan = (
        Plan((1_000, 10_000, 100_000), 100, 400, options.seed)
        if options.quick
        else Plan((10_000, 100_000, 1_000_000), 1_000, 4_000, options.seed)
    )
    with tempfile.TemporaryDirectory(prefix="kado-bench-") as folder:
        data = Path(folder)
        data.chmod(0o711)  # PostgreSQL's own user passes through it
        with embedded_services(data / "data", environ={}) as services:
            os.environ.update(
                services.addresses(),
                KADO_SECRET_KEY=secrets.token_urlsafe(48),
                KADO_DATA=str(data / "data"),
                KADO_DEBUG="0",
                DJANGO_SETTINGS_MODULE="config.settings",
            )
            import django
            from django.core.management import call_command
            from django.db import connections

            django.setup()
            call_command("migrate", verbosity=0)
            lines, sound = measure(plan)
            connections.close_all()
    lines = [
        f"Machine: {machine.describe()}; load {os.getloadavg()[0]:.1f} when it ended.",
        f"Versions: {machine.versions()}.",
        "",
        *lines,
    ]
    print("\n".join(lines))
    if options.write:
        say(f"appended to {report.append('Leaderboards', lines)}")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
