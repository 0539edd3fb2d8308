"""`manage.py recompute_ratings`: prove that ratings are the sum of their ledger, or make them so."""

import sys
import time
from typing import Any, Self

from django.core.management.base import CommandError, CommandParser

from accounts.rules import is_rating_key
from accounts.services.decisions import Action, note
from accounts.services.ledgers import Difference, Report, check_key, rating_keys, repair_key
from common.commands import ExampleCommand

EXAMPLES = """\
  python manage.py recompute_ratings --check                   all keys; nothing is changed or held up
  python manage.py recompute_ratings --check --key duo:blitz   one of them
  python manage.py recompute_ratings                           repair what differs; games that end meanwhile wait
"""


class Command(ExampleCommand):
    help = (
        "Replay the ledger of every rating key in order, from nothing, and compare each row and each rating with it, "
        "to the last bit. Without --check, repair what differs, in one transaction a key. Exit status: 0 if nothing "
        "differed or all is repaired, 1 if --check found a difference, 2 for a wrong call."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="compare only, change nothing")
        parser.add_argument("--key", metavar="KEY", help="of one rating, such as duo:blitz")

    def handle(self, *args: Any, check: bool, key: str | None, **options: Any) -> None:
        if key is not None and not is_rating_key(key):
            raise CommandError(f"{key!r} is not of the form variant:speed.", returncode=2)
        keys = rating_keys() if key is None else [key]
        began = time.monotonic()
        reports = [self._check(each) for each in keys]
        wrong = [report.key for report in reports if report.differences]
        if not check:
            for each in wrong:
                self._repair(each)
        lines, seconds = sum(each.lines for each in reports), time.monotonic() - began
        self.stdout.write(
            f"{len(reports)} keys, {lines:,} rows, {sum(each.games for each in reports):,} games, "
            f"{sum(each.ratings for each in reports):,} ratings, "
            f"{sum(each.differences for each in reports):,} differences; "
            f"{seconds:.1f} s, {lines / max(seconds, 1e-3):,.0f} rows/s"
        )
        if check and wrong:
            raise CommandError(
                "Ratings differ from their ledger. Without --check they are repaired.", returncode=1
            )

    def _check(self, key: str) -> Report:
        with _Progress() as progress:
            report = check_key(key, found=self._tell, watch=progress)
        self.stdout.write(str(report))
        return report

    def _repair(self, key: str) -> None:
        with _Progress() as progress:
            report = repair_key(key, watch=progress)
        note(
            Action.RATINGS_RECOMPUTED,
            by=None,
            reason="manage.py recompute_ratings",
            key=key,
            facts={"differences": report.differences, "rows": report.lines},
        )
        self.stdout.write(f"{key}: repaired")

    def _tell(self, difference: Difference) -> None:
        self.stdout.write(f"  {difference}")


class _Progress:
    """Rows a second, on a terminal's last line or, every ten seconds, in a log."""

    def __init__(self) -> None:
        self._began = self._told = time.monotonic()
        self._live = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._live:
            print("\r\x1b[K", end="", file=sys.stderr)

    def __call__(self, report: Report) -> None:
        now = time.monotonic()
        if now - self._told < (0.2 if self._live else 10.0):
            return
        self._told = now
        rate = report.lines / (now - self._began)
        begin, end = ("\r\x1b[K", "") if self._live else ("", "\n")
        text = f"{begin}{report.key}: {report.lines:,} rows, {rate:,.0f} rows/s"
        print(text, end=end, file=sys.stderr, flush=True)
