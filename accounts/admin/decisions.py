"""The admin's view of what was decided about standing: one list of all of it, which nobody changes."""

from typing import Any

from django.contrib import admin
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from accounts.admin.base import OwnedModelAdmin
from accounts.models import StandingDecision
from common.admin import BoundedPaginator, ReadOnly
from common.clock import rfc3339


@admin.register(StandingDecision)
class StandingDecisionAdmin(ReadOnly, OwnedModelAdmin):
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
    search_fields = ("=player_name", "=by_name", "=key", "=game_id")
    ordering = ("-id",)
    paginator = BoundedPaginator
    show_full_result_count = False
    fields = (*list_display, "what_was_so")

    @admin.display(description="at", ordering="id")
    def when(self, decision: StandingDecision) -> str:
        return rfc3339(decision.at)

    @admin.display(description="what was so")
    def what_was_so(self, decision: Any) -> SafeString:
        return format_html_join("", "{}: {}<br>", decision.facts.items())
