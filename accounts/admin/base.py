"""What the admin pages of people and standing share."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.admin.helpers import ActionForm
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from common.clock import rfc3339

if TYPE_CHECKING:  # generic for the type checker only
    OwnedModelAdmin = admin.ModelAdmin[Any]
else:
    OwnedModelAdmin = admin.ModelAdmin


class PlayerLinkAdmin(OwnedModelAdmin):
    """The base of lists of things that belong to a player."""

    list_select_related = ("player",)
    show_full_result_count = False
    ordering = ("-id",)

    @admin.display(description="player", ordering="player__name")
    def player_link(self, row: Any) -> SafeString:
        return format_html(
            '<a href="{}">{}</a>',
            reverse("admin:accounts_player_change", args=[row.player_id]),
            row.player.name,
        )

    @admin.display(description="at", ordering="at")
    def when(self, row: Any) -> str:
        return rfc3339(row.at)


class ReasonForm(ActionForm):
    reason = forms.CharField(
        max_length=500,
        required=False,
        widget=forms.TextInput({"placeholder": "Reason", "size": 40}),
    )
