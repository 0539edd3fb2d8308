"""The ledger of a key as a whole: checked, repaired, and a game taken out of it or put back.

All of it is streamed: what is kept in memory is one standing a player, and a batch of rows. Why so:
docs/adr/0022-annulment-and-seasons.md.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db import connection, transaction

from accounts.models import LedgerRow, RatingRow
from accounts.replay import Line, Replayed, Standing, from_game_on, from_nothing, games_of
from accounts.rules import MU, SIGMA
from accounts.services.ratings import take_key

BATCH = 2_000
"""Rows that are fetched, and written, at once."""

# Both in one statement, so that they are of one instant. A game stands where its lowest id does: games that share no
# player may have drawn their ids by turns.
_LINES = """
SELECT 0 AS part, min(id) OVER (PARTITION BY game_id) AS place, id, game_id, player_id, sequence, rank, annulled,
    mu_before, sigma_before, mu_after, sigma_after
FROM accounts_ledgerrow WHERE key = %(key)s AND id >= %(first)s
"""
_LEDGER = f"{_LINES} ORDER BY place, id"  # texts of this module
_LEDGER_AND_RATINGS = f"""{_LINES} UNION ALL
SELECT 1, player_id, id, '', player_id, games, annulled, false, mu, sigma, mu, sigma
FROM accounts_ratingrow WHERE key = %(key)s
ORDER BY part, place, id
"""  # noqa: S608
_WRITE_LINES = """
UPDATE accounts_ledgerrow AS kept
SET mu_before = new.a, sigma_before = new.b, mu_after = new.c, sigma_after = new.d, sequence = new.sequence
FROM unnest(%s::bigint[], %s::float8[], %s::float8[], %s::float8[], %s::float8[], %s::int[])
    AS new (id, a, b, c, d, sequence)
WHERE kept.id = new.id
"""
_RENUMBER = "UPDATE accounts_ledgerrow SET sequence = -sequence WHERE key = %s AND sequence < 0"
_WRITE_RATINGS = """
UPDATE accounts_ratingrow AS kept SET mu = new.mu, sigma = new.sigma,
    games = kept.games + new.games, annulled = kept.annulled + new.annulled
FROM unnest(%s::bigint[], %s::float8[], %s::float8[], %s::int[], %s::int[])
    AS new (player_id, mu, sigma, games, annulled)
WHERE kept.key = %s AND kept.player_id = new.player_id
"""
_KEYS = "SELECT key FROM accounts_ledgerrow UNION SELECT key FROM accounts_ratingrow ORDER BY key"


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not what the replay says."""

    where: str
    kept: str
    right: str

    def __str__(self) -> str:
        return f"{self.where}: {self.kept} is kept, {self.right} is right"


@dataclass(slots=True)
class Report:
    """What a replay has seen so far, and changed: `lines` of the ledger in `games`, `ratings`, and how many differ."""

    key: str
    lines: int = 0
    games: int = 0
    ratings: int = 0
    differences: int = 0

    def __str__(self) -> str:
        return (
            f"{self.key}: {self.games:,} games in {self.lines:,} rows, {self.ratings:,} ratings, "
            f"{self.differences:,} differences"
        )


Found = Callable[[Difference], object]
Watch = Callable[[Report], object]


def _nobody(_: object) -> None:
    """Whoever does not want to be told."""


def rating_keys() -> list[str]:
    """The keys of all ratings that there are."""
    with connection.cursor() as cursor:
        cursor.execute(_KEYS)
        return [key for (key,) in cursor.fetchall()]


@transaction.atomic
def check_key(key: str, *, found: Found = _nobody, watch: Watch = _nobody) -> Report:
    """Replay the ledger of a key from nothing and compare, at one instant, while games go on being rated."""
    report, replay = Report(key), _Replay(key)
    for games in replay.games():
        for game in games:
            _count(report, game, found)
        watch(report)
    for wrong in replay.wrong_ratings():
        report.differences += 1
        found(wrong.difference)
    report.ratings = replay.ratings
    return report


@transaction.atomic
def repair_key(key: str, *, found: Found = _nobody, watch: Watch = _nobody) -> Report:
    """The same, and write what is right, while games of the key that end wait to be rated."""
    take_key(key)
    report, replay, writer = Report(key), _Replay(key), _Writer(key)
    for games in replay.games():
        for game in games:
            _count(report, game, found)
            writer.add(game)
        watch(report)
    changes: dict[int, Standing] = {}
    for wrong in replay.wrong_ratings():
        report.differences += 1
        found(wrong.difference)
        changes[wrong.player_id] = wrong.change
    writer.finish()
    write_ratings(key, changes)
    report.ratings = replay.ratings
    return report


def replay_after(key: str, first: int) -> tuple[Report, dict[int, Standing]]:
    """Rate the game whose lowest id is `first` again, and whatever follows from it; who is affected, and how now.

    The caller holds the key, and has marked the game; the ratings themselves are written by `write_ratings`.
    """
    report, writer = Report(key), _Writer(key)
    standings: dict[int, Standing] = {}
    games = games_of(_line(row) for row in _stream(_LEDGER, key, first))
    for game in from_game_on(games, standings):
        _count(report, game, _nobody)
        writer.add(game)
    writer.finish()
    report.ratings = len(standings)
    return report, standings


def write_ratings(key: str, standings: dict[int, Standing]) -> None:
    """Set mu and sigma, and add to the numbers of games. The rows are locked first, so that buckets come last."""
    ids = sorted(standings)
    RatingRow.objects.bulk_create(
        [RatingRow(player_id=player_id, key=key) for player_id in ids],
        ignore_conflicts=True,
        batch_size=BATCH,
    )
    locked = RatingRow.objects.select_for_update(no_key=True).filter(key=key, player_id__in=ids)
    list(locked.order_by("player_id").values_list("pk", flat=True))
    now = [standings[player_id] for player_id in ids]
    with connection.cursor() as cursor:
        cursor.execute(
            _WRITE_RATINGS,
            [
                ids,
                [each.mu for each in now],
                [each.sigma for each in now],
                [each.games for each in now],
                [each.annulled for each in now],
                key,
            ],
        )


def _count(report: Report, game: Sequence[Replayed], found: Found) -> None:
    report.games += 1
    report.lines += len(game)
    for each in game:
        if each.differs:
            report.differences += 1
            found(_difference(each))


def _difference(each: Replayed) -> Difference:
    line = each.line
    where = f"game {line.game_id}, player {line.player_id}, change {line.sequence}"
    if each.sequence not in (None, line.sequence):
        return Difference(where, f"number {line.sequence}", f"number {each.sequence}")
    return Difference(where, _figures(each.kept), _figures(each.figures))


def _figures(figures: Iterable[float]) -> str:
    return " ".join(f"{figure!r}" for figure in figures)


@dataclass(frozen=True, slots=True)
class _WrongRating:
    player_id: int
    difference: Difference
    change: Standing


class _Replay:
    """A key from nothing: first its games, then its ratings, out of one stream."""

    def __init__(self, key: str) -> None:
        self._rows = _stream(_LEDGER_AND_RATINGS, key, 0)
        self._rating: tuple[Any, ...] | None = None
        self._standings: dict[int, Standing] = {}
        self.ratings = 0

    def games(self) -> Iterator[list[list[Replayed]]]:
        """All games, in batches of about `BATCH` lines."""
        batch: list[list[Replayed]] = []
        lines = 0
        for game in from_nothing(games_of(self._lines()), self._standings):
            batch.append(game)
            lines += len(game)
            if lines >= BATCH:
                yield batch
                batch, lines = [], 0
        yield batch

    def _lines(self) -> Iterator[Line]:
        for row in self._rows:
            if row[0] == 1:
                self._rating = row
                return
            yield _line(row)

    def wrong_ratings(self) -> Iterator[_WrongRating]:
        """The ratings that are not the sum of their changes; after the games."""
        rows = self._rows if self._rating is None else chain([self._rating], self._rows)
        for _, _, _, _, player_id, games, annulled, _, mu, sigma, *_ in rows:
            self.ratings += 1
            kept = Standing(mu, sigma, games, annulled)
            right = self._standings.pop(player_id, None) or Standing(MU, SIGMA)
            if kept != right:
                yield _wrong(player_id, kept, right)
        for player_id, right in self._standings.items():
            self.ratings += 1
            yield _wrong(player_id, None, right)


def _wrong(player_id: int, kept: Standing | None, right: Standing) -> _WrongRating:
    counted = kept or Standing(MU, SIGMA)
    change = Standing(
        right.mu, right.sigma, right.games - counted.games, right.annulled - counted.annulled
    )
    where = f"rating of player {player_id}"
    return _WrongRating(player_id, Difference(where, str(kept), str(right)), change)


class _Writer:
    """Writes the lines that differ, in batches."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._lines: list[Replayed] = []
        self._renumbered = False

    def add(self, game: Iterable[Replayed]) -> None:
        self._lines += (each for each in game if each.differs)
        if len(self._lines) >= BATCH:
            self._flush()

    def finish(self) -> None:
        """Write the rest. New numbers were negative so far, because two lines cannot have the same one meanwhile."""
        self._flush()
        if self._renumbered:
            with connection.cursor() as cursor:
                cursor.execute(_RENUMBER, [self._key])

    def _flush(self) -> None:
        lines, self._lines = self._lines, []
        numbers = [_number(each) for each in lines]
        self._renumbered |= any(number < 0 for number in numbers)
        columns = zip(*(each.figures for each in lines), strict=True)
        if lines:
            with connection.cursor() as cursor:
                ids = [each.line.id for each in lines]
                cursor.execute(_WRITE_LINES, [ids, *map(list, columns), numbers])


def _number(each: Replayed) -> int:
    kept = each.line.sequence
    return kept if each.sequence in (None, kept) else -(each.sequence or 0)


def _line(row: tuple[Any, ...]) -> Line:
    return Line(*row[2:])


def _stream(statement: str, key: str, first: int) -> Iterator[tuple[Any, ...]]:
    """The rows of a statement from a cursor of the server, in the caller's transaction."""
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement, {"key": key, "first": first})
        while rows := cursor.fetchmany(BATCH):
            yield from rows


def first_of(game_id: str) -> tuple[str, list[LedgerRow]]:
    """The key of a rated game, and its rows in order; raises `LookupError`."""
    rows = list(LedgerRow.objects.filter(game_id=game_id).order_by("id"))
    if not rows:
        raise LookupError(f"game {game_id} was never rated")
    return rows[0].key, rows
