"""Ledgers, replayed in the plainest way: the oracle for what the services do with them."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from django.db import transaction

from accounts import rules
from accounts.models import LedgerRow, RatingRow
from accounts.rules import Rating
from accounts.services.people import create_player
from accounts.services.ratings import rate_game
from common.ids import new_id

KEY = "duo:blitz"


def players(count: int) -> list[int]:
    return [create_player(name=f"Player{n}").pk for n in range(count)]


def rate(*ranks: tuple[int, int], game_id: str | None = None, key: str = KEY, at: int = 0) -> Any:
    with transaction.atomic():
        return rate_game(game_id=game_id or new_id(), key=key, ranks=ranks, at=at)


def replay(games: Iterable[Sequence[tuple[int, int]]]) -> Mapping[int, Rating]:
    """The ratings of everybody after `games`, each a list of (player id, rank), from nothing and in this order."""
    ratings: dict[int, Rating] = {}
    for game in games:
        before = [ratings.get(player_id, Rating()) for player_id, _ in game]
        after = rules.rate(before, [rank for _, rank in game])
        ratings.update(zip((player_id for player_id, _ in game), after, strict=True))
    return ratings


def ledger_games(key: str = KEY) -> list[list[tuple[int, int]]]:
    """The games that count, in an order in which they can be replayed."""
    games: dict[str, list[tuple[int, int]]] = {}
    for row in LedgerRow.objects.filter(key=key).order_by("id"):
        if not row.annulled:
            games.setdefault(row.game_id, []).append((row.player_id, row.rank))
    return list(games.values())


def ratings(key: str = KEY) -> dict[int, Rating]:
    """The ratings as kept, of those who have a game that counts."""
    rows = RatingRow.objects.filter(key=key, games__gt=0)
    return {row.player_id: Rating(row.mu, row.sigma, row.games) for row in rows}


def assert_ledger_is_the_rating(key: str = KEY) -> None:
    """I6: replaying the ledger gives the same figures to the last bit, and its rows join without a seam."""
    assert ratings(key) == replay(ledger_games(key))
    for row in RatingRow.objects.filter(key=key):
        ledger = list(LedgerRow.objects.filter(player=row.player_id, key=key).order_by("sequence"))
        assert [line.sequence for line in ledger] == list(range(1, len(ledger) + 1))
        assert row.games == sum(not line.annulled for line in ledger)
        assert row.annulled == sum(line.annulled for line in ledger)
        assert (ledger[0].mu_before, ledger[0].sigma_before) == (rules.MU, rules.SIGMA)
        for earlier, later in pairwise(ledger):
            assert (earlier.mu_after, earlier.sigma_after) == (later.mu_before, later.sigma_before)
        assert (ledger[-1].mu_after, ledger[-1].sigma_after) == (row.mu, row.sigma)
        total = sum(line.mu_after - line.mu_before for line in ledger)
        assert rules.MU + total == pytest.approx(row.mu)
