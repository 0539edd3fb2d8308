"""The admin's view of ratings, their ledger, and whom leaderboards leave out. Ratings follow from the ledger."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts import rules
from accounts.admin.base import (
    ASKED,
    DecidingAdmin,
    FewFilter,
    PlayerLinkAdmin,
    ask,
)
from accounts.models import Exclusion, LeaderboardBucket, LedgerRow, RatingRow, StandingJob
from accounts.services.exclusions import exclude_player, restore_player
from common.admin import ReadOnly
from common.clock import rfc3339
from common.ids import is_id


class _Standing(ReadOnly, DecidingAdmin, PlayerLinkAdmin):
    """What belongs to a player under a key."""

    search_fields = ("key",)  # `find` says how
    search_help_text = "A player's whole name, or a key such as duo:blitz."

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        return rows.filter(key=term) if ":" in term else super().find(request, rows, term)


class BoardFilter(admin.SimpleListFilter):
    """One leaderboard, in its order. Its keys are those that have a first bucket."""

    title = parameter_name = "leaderboard"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        boards = LeaderboardBucket.objects.filter(low=[]).order_by("board")
        keys = boards.exclude(board__startswith="puzzle:").exclude(board__startswith="daily:")
        return [(key, key) for key in keys.values_list("board", flat=True)[:200]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(key=self.value(), listed=True) if self.value() else queryset


class ExcludedFilter(FewFilter):
    title = parameter_name = column = "excluded"


@admin.register(RatingRow)
class RatingAdmin(_Standing):
    """Ratings follow from the ledger."""

    list_display = ("key", "player_link", "shown", "mu", "sigma", "games", "annulled", "state")
    list_filter = (BoardFilter, ExcludedFilter)
    indexed = ("player__id__exact", "leaderboard", "excluded")
    actions = ("exclude_here", "exclude_everywhere")

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        return ("place",) if BoardFilter.parameter_name in request.GET else ("-id",)

    def has_exclude_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.exclude_player")

    @admin.display(description="shown", ordering="mu")
    def shown(self, row: RatingRow) -> str:
        return str(rules.Rating(row.mu, row.sigma, row.games))

    @admin.display(description="state")
    def state(self, row: RatingRow) -> str:
        if row.excluded:
            return "excluded"
        if row.listed:
            return "listed"
        return "provisional" if row.sigma >= rules.PROVISIONAL_SIGMA else "not eligible"

    @admin.action(
        description="Exclude from this leaderboard, for the reason", permissions=["exclude"]
    )
    def exclude_here(self, request: HttpRequest, rows: QuerySet[RatingRow]) -> None:
        self.decide(request, rows, _exclude)

    @admin.action(
        description="Exclude from all leaderboards of ratings, for the reason",
        permissions=["exclude"],
    )
    def exclude_everywhere(self, request: HttpRequest, rows: QuerySet[RatingRow]) -> None:
        self.decide(request, rows, _exclude_everywhere)


def _exclude(row: RatingRow, by: int, reason: str) -> None:
    exclude_player(player_id=row.player_id, key=row.key, by=by, reason=reason)


def _exclude_everywhere(row: RatingRow, by: int, reason: str) -> None:
    exclude_player(player_id=row.player_id, key="", by=by, reason=reason)


@admin.register(Exclusion)
class ExclusionAdmin(_Standing):
    """Whom leaderboards of ratings leave out: here they are put back."""

    list_display = ("when", "player_link", "where")
    fields = list_display
    actions = ("restore",)

    def has_exclude_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.exclude_player")

    @admin.display(description="since", ordering="id")
    def when(self, row: Exclusion) -> str:
        return rfc3339(row.since)

    @admin.display(description="leaderboard")
    def where(self, row: Exclusion) -> str:
        return row.key or "all"

    @admin.action(description="Put back, for the reason", permissions=["exclude"])
    def restore(self, request: HttpRequest, rows: QuerySet[Exclusion]) -> None:
        self.decide(request, rows, _restore)


def _restore(row: Exclusion, by: int, reason: str) -> None:
    restore_player(player_id=row.player_id, key=row.key, by=by, reason=reason)


class AnnulledFilter(FewFilter):
    title = parameter_name = column = "annulled"


@admin.register(LedgerRow)
class LedgerAdmin(_Standing):
    """What games did to ratings. A game is annulled, or counts again, for all its players at once."""

    list_display = (
        *("when", "key", "player_link", "sequence", "rank", "before", "after", "game_id"),
        "annulled",
    )
    list_filter = (AnnulledFilter,)
    indexed = ("player__id__exact", "annulled")
    search_help_text = "A player's whole name, a game's id, or a key such as duo:blitz."
    actions = ("annul", "restore")

    def has_annul_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.annul_game")

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        of_game = rows.filter(game_id=term)
        return of_game if is_id(term) and of_game.exists() else super().find(request, rows, term)

    @admin.display(description="before")
    def before(self, row: LedgerRow) -> str:
        return row.change.before

    @admin.display(description="after")
    def after(self, row: LedgerRow) -> str:
        return row.change.after

    @admin.action(description="Annul the games, for the reason", permissions=["annul"])
    def annul(self, request: HttpRequest, rows: QuerySet[LedgerRow]) -> None:
        games = _games(rows.filter(annulled=False))
        self.decide(request, games, _annul, ASKED)

    @admin.action(description="Let the games count again, for the reason", permissions=["annul"])
    def restore(self, request: HttpRequest, rows: QuerySet[LedgerRow]) -> None:
        games = _games(rows.filter(annulled=True))
        self.decide(request, games, _count_again, ASKED)


def _games(rows: QuerySet[LedgerRow]) -> list[str]:
    most = DecidingAdmin.MOST_AT_ONCE + 1
    return sorted(set(rows.values_list("game_id", flat=True)[: 4 * most]))


def _annul(game_id: str, by: int, reason: str) -> None:
    ask(StandingJob.Kind.ANNUL, game_id, by, reason)


def _count_again(game_id: str, by: int, reason: str) -> None:
    ask(StandingJob.Kind.RESTORE, game_id, by, reason)
