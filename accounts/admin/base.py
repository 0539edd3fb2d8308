"""What the admin pages of people and standing share."""

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.admin.helpers import ActionForm
from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.models import Player
from common.admin import FastList
from common.clock import rfc3339

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
