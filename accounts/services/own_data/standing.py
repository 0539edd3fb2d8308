"""Ratings, scores and seasons, and what admins decided about them."""

from collections.abc import Iterator
from datetime import datetime

import msgspec
from django.db.models import Q, QuerySet
from msgspec import Struct

from accounts.models import (
    Exclusion,
    InboxItem,
    LedgerRow,
    RatingRow,
    ScoreEntry,
    SeasonLine,
    StandingDecision,
    StandingJob,
)
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
    annulled: bool


class DecisionData(Struct, frozen=True):
    action: str
    key: str
    at: datetime
    reason: str


class RatingsData(Struct, frozen=True):
    """`excluded` are the leaderboards that leave the player out (empty: all); `decisions` are of admins about that."""

    now: list[RatingData]
    changes: list[RatingChangeData]
    excluded: list[str]
    decisions: list[DecisionData]


class SeasonLineData(Struct, frozen=True):
    """A line of a season's final table."""

    season: str
    key: str
    rank: int
    name: str
    mu: float
    sigma: float
    games: int
    title: str


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
                annulled=row.annulled,
            )
            for row in changes
        ],
        excluded=[row.key for row in Exclusion.objects.filter(player_id=player_id).order_by("pk")],
        decisions=[
            _decision(row) for row in _decisions(player_id) if row.action.startswith("player-")
        ],
    )


def _decisions(player_id: int) -> QuerySet[StandingDecision]:
    return StandingDecision.objects.filter(player_id=player_id).order_by("pk")


def _decision(row: StandingDecision) -> DecisionData:
    return DecisionData(row.action, row.key, to_datetime(row.at), row.reason)


def erase_ratings(player_id: int) -> None:
    """They stay, without a name: whoever is not active is on no leaderboard, which the database sees to itself."""
    Exclusion.objects.filter(player_id=player_id).delete()


def export_seasons(player_id: int) -> Iterator[SeasonLineData]:
    lines = SeasonLine.objects.filter(player_id=player_id).select_related("table__season")
    for line in lines.order_by("pk"):
        yield SeasonLineData(
            season=line.table.season.name,
            key=line.table.key,
            rank=line.rank,
            name=line.name,
            mu=line.mu,
            sigma=line.sigma,
            games=line.games,
            title=line.title,
        )


def erase_seasons(player_id: int) -> None:
    """Final tables keep their lines, under another name: the ranks of others follow from them."""


def rename_in_seasons(renaming: Renaming) -> None:
    SeasonLine.objects.filter(player_id=renaming.player_id).update(name=renaming.new)


def export_scores(player_id: int) -> Iterator[ScoreData]:
    decided: dict[str, list[DecisionData]] = {}
    for row in _decisions(player_id):
        decided.setdefault(row.key, []).append(_decision(row))
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
    words = Q(by_id=renaming.player_id)
    for old in renaming.olds:
        about |= Q(reason__icontains=old)
        words |= Q(reason__icontains=old)
    for decision in StandingDecision.objects.filter(about).iterator(chunk_size=500):
        said, decision.reason = decision.reason, renaming.in_words(decision.reason)
        if said != decision.reason:
            _rename_in_inboxes(decision, said)
        if decision.player_id == renaming.player_id:
            decision.player_name = renaming.new
        if decision.by_id == renaming.player_id:
            decision.by_name = renaming.new
        decision.save(update_fields=["reason", "player_name", "by_name"])
    for job in StandingJob.objects.filter(words).iterator(chunk_size=500):
        job.reason = renaming.in_words(job.reason)
        if job.by_id == renaming.player_id:
            job.by_name = renaming.new
        job.save(update_fields=["reason", "by_name"])


def _rename_in_inboxes(decision: StandingDecision, said: str) -> None:
    """The players of an annulled game were told the reason."""
    old, new = (msgspec.json.encode(text).decode() for text in (said, decision.reason))
    told = InboxItem.objects.filter(
        player_id__in=[int(player) for player in decision.facts.get("ranks", {})],
        payload__contains=f'"reason":{old}',
    )
    for item in told:
        item.payload = item.payload.replace(f'"reason":{old}', f'"reason":{new}')
        item.save(update_fields=["payload"])
