"""Ratings and scores, and what admins decided about them."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Q
from msgspec import Struct

from accounts.models import LedgerRow, RatingRow, ScoreDecision, ScoreEntry
from accounts.names import Renaming
from common.clock import to_datetime


class RatingData(Struct, frozen=True):
    key: str
    mu: float
    sigma: float
    games: int


class RatingChangeData(Struct, frozen=True):
    game: str
    key: str
    rank: int
    mu_before: float
    sigma_before: float
    mu_after: float
    sigma_after: float
    at: datetime


class RatingsData(Struct, frozen=True):
    now: list[RatingData]
    changes: list[RatingChangeData]


class DecisionData(Struct, frozen=True):
    action: str
    at: datetime
    reason: str


class ScoreData(Struct, frozen=True):
    """A best score; `decisions` of admins to take it off the board or put it back."""

    board: str
    score: int
    placements: int
    finished_at: datetime
    listed: bool
    decisions: list[DecisionData]


def export_ratings(player_id: int) -> RatingsData:
    rows = RatingRow.objects.filter(player_id=player_id).order_by("key")
    changes = LedgerRow.objects.filter(player_id=player_id).order_by("pk")
    return RatingsData(
        now=[RatingData(row.key, row.mu, row.sigma, row.games) for row in rows],
        changes=[
            RatingChangeData(
                game=row.game_id,
                key=row.key,
                rank=row.rank,
                mu_before=row.mu_before,
                sigma_before=row.sigma_before,
                mu_after=row.mu_after,
                sigma_after=row.sigma_after,
                at=to_datetime(row.at),
            )
            for row in changes
        ],
    )


def erase_ratings(player_id: int) -> None:
    """They stay, without a name: whoever is not active is on no leaderboard, which the database sees to itself."""


def export_scores(player_id: int) -> Iterator[ScoreData]:
    decided: dict[str, list[DecisionData]] = {}
    for decision in ScoreDecision.objects.filter(player_id=player_id).order_by("pk"):
        data = DecisionData(decision.action, to_datetime(decision.at), decision.reason)
        decided.setdefault(decision.board_id, []).append(data)
    for entry in ScoreEntry.objects.filter(player_id=player_id).order_by("pk"):
        yield ScoreData(
            board=entry.board_id,
            score=entry.score,
            placements=entry.placements,
            finished_at=to_datetime(entry.finished_at),
            listed=entry.listed,
            decisions=decided.get(entry.board_id, []),
        )


def erase_scores(player_id: int) -> None:
    """Off every board, frozen ones too: the ranks close up."""
    ScoreEntry.objects.filter(player_id=player_id).delete()


def rename_in_decisions(renaming: Renaming) -> None:
    about = Q(player_id=renaming.player_id) | Q(by_id=renaming.player_id)
    for old in renaming.olds:
        about |= Q(reason__icontains=old)
    for decision in ScoreDecision.objects.filter(about).iterator(chunk_size=500):
        decision.reason = renaming.in_words(decision.reason)
        if decision.player_id == renaming.player_id:
            decision.player_name = renaming.new
        if decision.by_id == renaming.player_id:
            decision.by_name = renaming.new
        decision.save(update_fields=["reason", "player_name", "by_name"])
