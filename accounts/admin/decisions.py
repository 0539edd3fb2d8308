"""The admin's view of what was decided about standing: one list of all of it, which nobody changes."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from accounts.models import StandingDecision
from common.admin import FastList, ReadOnly
from common.clock import rfc3339
from common.ids import is_id


@admin.register(StandingDecision)
class StandingDecisionAdmin(ReadOnly, FastList):
    """Who, when, why, and what was so. The newest first."""

    list_display = (
        "when",
        "action",
        "key",
        "player_name",
        "game_id",
        "season",
        "by_name",
        "reason",
    )
    list_filter = ("action",)
    list_select_related = ("season",)
    search_fields = ("player_name",)
    search_help_text = "A key, a game's id, or the whole name of a player or an admin."
    ordering = ("-id",)
    indexed = ("player__id__exact", "key")
    fields = (*list_display, "what_was_so")

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        """Also of players who are deleted, whose names are kept: among the newest."""
        if ":" in term:
            return rows.filter(key=term)
        if is_id(term) and (of_game := rows.filter(game_id=term)).exists():
            return of_game
        by_name = Q(player_name__iexact=term) | Q(by_name__iexact=term)
        return self.among_newest(request, rows.filter(by_name))

    @admin.display(description="at", ordering="id")
    def when(self, decision: StandingDecision) -> str:
        return rfc3339(decision.at)

    @admin.display(description="what was so")
    def what_was_so(self, decision: Any) -> SafeString:
        return format_html_join("", "{}: {}<br>", decision.facts.items())
