"""What the admin pages of people and standing share."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts import tasks
from accounts.models import Player
from accounts.services.standing_jobs import ask_job
from common.admin import FastList
from common.clock import rfc3339
from common.errors import KadoError

if TYPE_CHECKING:  # generic for the type checker only
    OwnedModelAdmin = admin.ModelAdmin[Any]
else:
    OwnedModelAdmin = admin.ModelAdmin


class PlayerLinkAdmin(FastList):
    """The base of lists of things that belong to a player, who is searched by the whole name."""

    list_select_related: ClassVar[tuple[str, ...]] = ("player",)
    ordering = ("-id",)
    search_help_text: ClassVar[str] = "A player's whole name."

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        return rows.filter(player__in=named(term))

    @admin.display(description="player", ordering="player__name")
    def player_link(self, row: Any) -> SafeString:
        return format_html(
            '<a href="{}">{}</a>',
            reverse("admin:accounts_player_overview", args=[row.player_id]),
            row.player.name,
        )

    @admin.display(description="at", ordering="at")
    def when(self, row: Any) -> str:
        return rfc3339(row.at)


def named(name: str) -> QuerySet[Player]:
    """The player of a whole name, in any case; the unique index finds it."""
    players = Player.objects.annotate(lower_name=Lower("name"))
    return players.filter(lower_name=name.strip().replace("\0", "").lower())


def own_id(request: HttpRequest) -> int:
    """The id of the person at the page."""
    assert request.user.pk is not None
    return int(request.user.pk)


class ReasonForm(ActionForm):
    reason = forms.CharField(
        max_length=500,
        required=False,
        widget=forms.TextInput({"placeholder": "Reason", "size": 40}),
    )


class DecidingAdmin(FastList):
    """The base of lists whose actions are decisions: each has a reason, and who may only look takes none."""

    action_form = ReasonForm
    MOST_AT_ONCE = 200

    def decide(
        self,
        request: HttpRequest,
        rows: Iterable[Any],
        work: Callable[[Any, int, str], object],
        done: str = "Done with {} lines; see the decisions.",
    ) -> None:
        """Call `work` with each row, the admin's id and the reason; what it refuses is told, and the rest is done."""
        reason = request.POST.get("reason", "").strip()[:500]
        chosen = list(rows[: self.MOST_AT_ONCE + 1] if isinstance(rows, QuerySet) else rows)
        by = request.user.pk
        if not reason or by is None:
            messages.error(request, "Nothing was done: write the reason beside the action.")
            return
        if len(chosen) > self.MOST_AT_ONCE:
            messages.error(request, f"Nothing was done: choose {self.MOST_AT_ONCE} at most.")
            return
        count = 0
        for row in chosen:
            try:
                work(row, by, reason)
                count += 1
            except KadoError as error:
                messages.error(request, f"{row}: {error}")
        messages.success(request, done.format(count))


def ask(kind: str, subject: str, by: int, reason: str) -> None:
    """Have a worker do it. A task that is lost is made up for by the schedule."""
    ask_job(kind=kind, subject=subject, by=by, reason=reason)
    transaction.on_commit(tasks.do_jobs.delay, robust=True)


ASKED = "{} jobs asked for; the list of jobs says how far they are."


class FewFilter(admin.SimpleListFilter):
    """One side of a column that is true for few rows, which have an index."""

    column = ""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("1", "Yes")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{self.column: True}) if self.value() else queryset
