"""The admin's view of leaderboards of scores."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery, Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts import selectors
from accounts.admin.base import DecidingAdmin, PlayerLinkAdmin
from accounts.models import (
    LeaderboardBucket,
    ScoreBoard,
    ScoreEntry,
)
from accounts.services.scores import freeze_board_now, remove_score, restore_score
from common.admin import ReadOnly
from common.clock import now_ms, rfc3339


@admin.register(ScoreBoard)
class ScoreBoardAdmin(ReadOnly, DecidingAdmin):
    """Boards of scores, and how many lines they list, by the counts that are kept of them."""

    list_display = ("key", "listed", "final_since", "see_also")
    search_fields = ("key",)
    search_help_text = "How a board's key begins."
    list_filter = (("frozen_at", admin.EmptyFieldListFilter),)
    ordering = ("key",)
    fields = ("key", "listed", "final_since", "see_also")
    actions = ("freeze",)

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        return rows.filter(key__startswith=term)

    def has_freeze_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.freeze_board")

    @admin.action(description="Freeze the selected boards, for the reason", permissions=["freeze"])
    def freeze(self, request: HttpRequest, boards: QuerySet[ScoreBoard]) -> None:
        self.decide(request, boards.filter(frozen_at=None), _freeze)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ScoreBoard]:
        buckets = LeaderboardBucket.objects.filter(board=OuterRef("key")).values("board")
        listed = Subquery(buckets.annotate(sum=Sum("entries")).values("sum"))
        boards: QuerySet[ScoreBoard] = super().get_queryset(request)
        return boards.annotate(listed=listed)

    @admin.display(description="lines")
    def listed(self, board: Any) -> int:
        return board.listed or 0

    @admin.display(description="frozen at", ordering="frozen_at")
    def final_since(self, board: ScoreBoard) -> str:
        return "" if board.frozen_at is None else rfc3339(board.frozen_at)

    @admin.display(description="See also")
    def see_also(self, board: ScoreBoard) -> SafeString:
        return format_html(
            '<a href="{}?{}">lines</a> · <a href="{}?{}">decisions</a>',
            reverse("admin:accounts_scoreentry_changelist"),
            urlencode({"board__exact": board.pk}),
            reverse("admin:accounts_standingdecision_changelist"),
            urlencode({"key": board.pk}),
        )


class ListedFilter(admin.SimpleListFilter):
    """The lines that are listed, unless one asks for the others: there is an index for each."""

    title = "listed"
    parameter_name = "unlisted"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("1", "No: removed, or not eligible")]

    def choices(self, changelist: Any) -> Any:
        """Django's, but that nothing chosen is not "All"."""
        first, *others = super().choices(changelist)
        return [{**first, "display": "Yes"}, *others]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(listed=self.value() is None)


@admin.register(ScoreEntry)
class ScoreEntryAdmin(ReadOnly, DecidingAdmin, PlayerLinkAdmin):
    """Lines of boards. The board list leads to those of one board, in its order."""

    list_display = ("board_id", "player_link", "score", "placements", "finished", "source", "state")
    list_filter = (ListedFilter,)
    search_fields = ("player__name",)
    search_help_text = "A player's whole name, or a board's key."
    indexed = ("player__id__exact", "board__exact", "unlisted")
    fields = (*list_display, "rank")
    actions = ("remove", "restore")

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """One board in its order; else the newest first: each is the order of an index."""
        return ("place",) if "board__exact" in request.GET else ("-id",)

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        """A name or a key as a whole, which the indexes find."""
        return rows.filter(board=term) if ":" in term else super().find(request, rows, term)

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.change_scoreentry")

    @admin.display(description="finished at", ordering="finished_at")
    def finished(self, entry: ScoreEntry) -> str:
        return rfc3339(entry.finished_at)

    @admin.display(description="state")
    def state(self, entry: ScoreEntry) -> str:
        return "removed" if entry.removed else "listed" if entry.listed else "not eligible"

    @admin.display(description="rank")
    def rank(self, entry: ScoreEntry) -> str:
        rank = selectors.leaderboard_rank(entry.board_id, entry.player_id)
        return "–" if rank is None else f"{rank:,}"

    @admin.action(description="Remove the selected lines, for the reason", permissions=["decide"])
    def remove(self, request: HttpRequest, entries: QuerySet[ScoreEntry]) -> None:
        self.decide(request, entries.filter(removed=False), _remove)

    @admin.action(description="Restore the selected lines, for the reason", permissions=["decide"])
    def restore(self, request: HttpRequest, entries: QuerySet[ScoreEntry]) -> None:
        self.decide(request, entries.filter(removed=True), _restore)


def _freeze(board: ScoreBoard, by: int, reason: str) -> None:
    freeze_board_now(board=board.pk, by=by, reason=reason, at=now_ms())


def _remove(entry: ScoreEntry, by: int, reason: str) -> None:
    remove_score(board=entry.board_id, player_id=entry.player_id, by=by, reason=reason)


def _restore(entry: ScoreEntry, by: int, reason: str) -> None:
    restore_score(board=entry.board_id, player_id=entry.player_id, by=by, reason=reason)
