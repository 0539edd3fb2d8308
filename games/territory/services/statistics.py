"""Each player's games and what they come to, kept in the transactions that start and settle a game.

An undo after the end takes the result back and marks the statistics as stale (the journal does, in its statement).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.db import transaction

from games.territory.models import Game, PlayerGame, Seat, Statistic
from games.territory.players import FIGURES, as_tally, keys_with_games, tally_of
from games.territory.rules import TimeControl, TimeKind, variant
from games.territory.tally import Chair, Played, Tally, keys_of, played

CHUNK = 500


@dataclass(frozen=True, slots=True)
class Recounted:
    """What a recount has found: how many rows there are, and what was not as it should be."""

    rows: int
    differences: list[str]


def note_start(game: Game, key: str, chairs: Sequence[Chair]) -> None:
    """List a game that has just been written, for each of its players."""
    PlayerGame.objects.bulk_create(
        PlayerGame(
            player_id=player_id,
            game_id=game.id,
            variant=game.variant,
            key=key,
            rated=game.rated,
            started_at=game.created_at,
            levels=list(one.levels),
        )
        for player_id, one in played(variant(game.variant), chairs, status="started").items()
    )


def note_end(
    *, game_id: str, key: str, status: str, ended_at: datetime, chairs: Sequence[Chair]
) -> None:
    """Count a game that is being settled, in that transaction; locks rows by player, key and level."""
    on = variant(key.partition(":")[0])
    results = played(on, chairs, status=status)
    for player_id, one in results.items():
        PlayerGame.objects.filter(player_id=player_id, game_id=game_id).update(
            **_columns(one, ended_at)
        )
    people = {chair.player for chair in chairs if not chair.level}
    counted = {who: one for who, one in sorted(results.items()) if one.counted and who in people}
    wanted = {(who, *k) for who, one in counted.items() for k in keys_of(on.key, key, one.levels)}
    rows = _locked(sorted(wanted))
    for row in rows:
        one = counted[row.player_id]
        tally = as_tally(row)
        in_order = tally.add(
            one.result, one.points or 0, perfect=one.perfect, ended=(ended_at, game_id)
        )
        if row.stale or not in_order:
            tally = tally_of(row.player_id, row.key, row.level)
        _put(row, tally)
    Statistic.objects.bulk_update(rows, [*FIGURES, "last_ended_at", "last_game", "stale"])


def _columns(one: Played, ended_at: datetime | None) -> dict[str, object]:
    counted = one.counted
    return {
        "result": one.result,
        "points": one.points if counted else None,
        "perfect": one.perfect if counted else False,
        "ended_at": ended_at if counted else None,
    }


def _locked(wanted: Sequence[tuple[int, str, str]]) -> list[Statistic]:
    """The rows of statistics, made if missing, locked in order. All are inserted before one is locked."""
    if not wanted:
        return []
    Statistic.objects.bulk_create(
        [Statistic(player_id=who, key=key, level=level) for who, key, level in wanted],
        ignore_conflicts=True,
    )
    rows = Statistic.objects.select_for_update(no_key=True).filter(
        player_id__in={who for who, _, _ in wanted}, key__in={key for _, key, _ in wanted}
    )
    these = set(wanted)
    in_order = rows.order_by("player_id", "key", "level")
    return [row for row in in_order if (row.player_id, row.key, row.level) in these]


def _put(row: Statistic, tally: Tally) -> None:
    for name in FIGURES:
        setattr(row, name, getattr(tally, name))
    row.last_ended_at, row.last_game = tally.last or (None, "")
    row.stale = False


# Counting anew


def recount_games(*, repair: bool) -> Iterator[Recounted]:
    """Compare the list of games with the games and their seats, `CHUNK` games at a time; put it right if asked to."""
    last = ""
    while True:
        games = list(Game.objects.filter(id__gt=last).order_by("id")[:CHUNK])
        if not games:
            return
        last = games[-1].id
        yield _recount(games, repair=repair)


@transaction.atomic
def _recount(games: Sequence[Game], *, repair: bool) -> Recounted:
    ids = [game.id for game in games]
    if repair:  # nobody settles or reopens them meanwhile
        games = list(Game.objects.select_for_update(no_key=True).filter(id__in=ids).order_by("id"))
    rows = {(row.game_id, row.player_id): row for row in PlayerGame.objects.filter(game_id__in=ids)}
    expected = dict(_expected(games))
    wrong = [key for key in expected if _facts(rows.get(key)) != _facts(expected[key])]
    extra = sorted(rows.keys() - expected.keys())
    if repair:
        PlayerGame.objects.filter(
            pk__in=[rows[key].pk for key in [*extra, *wrong] if key in rows]
        ).delete()
        PlayerGame.objects.bulk_create(expected[key] for key in wrong)
    return Recounted(
        len(expected), [f"game {game} of player {player}" for game, player in [*wrong, *extra]]
    )


def _expected(games: Sequence[Game]) -> Iterator[tuple[tuple[str, int], PlayerGame]]:
    by_id = {game.id: game for game in games}
    seats = Seat.objects.filter(game_id__in=by_id).order_by("game_id", "index")
    for game_id, group in groupby(seats, key=lambda seat: seat.game_id):
        game = by_id[game_id]
        control = TimeControl(TimeKind(game.clock_kind), game.initial_ms, game.increment_ms)
        chairs = [Chair(seat.player_id, seat.level, seat.points, seat.rank) for seat in group]
        status = game.status if game.settled_at else "started"
        for player_id, one in played(variant(game.variant), chairs, status=status).items():
            yield (
                (game_id, player_id),
                PlayerGame(
                    player_id=player_id,
                    game_id=game_id,
                    variant=game.variant,
                    key=f"{game.variant}:{control.speed.value}",
                    rated=game.rated,
                    started_at=game.created_at,
                    levels=list(one.levels),
                    **_columns(one, game.finished_at),
                ),
            )


def _facts(row: PlayerGame | None) -> tuple[object, ...] | None:
    if row is None:
        return None
    return (
        *(row.variant, row.key, row.rated, row.started_at, row.levels),
        *(row.result, row.points, row.perfect, row.ended_at),
    )


@transaction.atomic
def recount_statistics(player_id: int, *, repair: bool) -> Recounted:
    """Compare a player's statistics with the list of their games; put them right if asked to."""
    wanted = sorted(keys_with_games(player_id))
    if repair:
        _locked([(player_id, *key) for key in wanted])
    kept = {(row.key, row.level): row for row in Statistic.objects.filter(player_id=player_id)}
    differences = []
    for key in sorted({*wanted, *kept}):
        tally, row = tally_of(player_id, *key), kept.get(key)
        if row is not None and not row.stale and as_tally(row) == tally:
            continue
        if row is None or not row.stale:  # a stale one is known to be wrong, and read aright
            differences.append(f"{key[0]} {key[1]}".strip() + f" of player {player_id}")
        if repair and row is not None:
            _put(row, tally)
            row.save()
    return Recounted(len(kept), differences)


def players_with_games() -> list[int]:
    """The ids of all players who have had a seat and are no CPUs."""
    people = Seat.objects.filter(level="").order_by("player_id")
    return list(people.values_list("player_id", flat=True).distinct())
