"""The admin's view of sanctions: bans are made and lifted here, each with its reason, and never edited or deleted."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from accounts.admin.base import PlayerLinkAdmin, ReasonForm, named, own_id
from accounts.models import Player, Sanction
from accounts.services.sanctions import ban, lift
from common.admin import ReadOnly
from common.clock import now_ms, rfc3339
from common.errors import KadoError

HOUR_MS = 3_600_000
SPANS = {
    "1h": ("an hour", HOUR_MS),
    "1d": ("a day", 24 * HOUR_MS),
    "3d": ("three days", 72 * HOUR_MS),
    "7d": ("a week", 168 * HOUR_MS),
    "30d": ("30 days", 720 * HOUR_MS),
    "365d": ("a year", 365 * 24 * HOUR_MS),
    "ever": ("for good", None),
}
"""How long a ban may last: its words, and milliseconds."""

if TYPE_CHECKING:
    Rows = QuerySet[Sanction]


class BanForm(forms.Form):
    """What a ban is made of; the work list has it too."""

    kind = forms.ChoiceField(choices=Sanction.Kind.choices)
    span = forms.ChoiceField(
        choices=[(key, words) for key, (words, _) in SPANS.items()], label="For", initial="7d"
    )
    reason = forms.CharField(
        max_length=500,
        widget=forms.Textarea({"rows": 2}),
        help_text="The player reads it.",
    )

    def until(self, now: int) -> int | None:
        """When the chosen span ends, in milliseconds; None for good."""
        span = SPANS[self.cleaned_data["span"]][1]
        return None if span is None else now + span


class BanSomebodyForm(BanForm):
    """The same, for the player of a name."""

    player = forms.CharField(max_length=24, help_text="The player's name.")
    field_order = ("player", "kind", "span", "reason")

    def clean_player(self) -> Player:
        found = named(self.cleaned_data["player"]).first()
        if found is None:
            raise forms.ValidationError("Nobody has this name.")
        return found


class ForceFilter(admin.SimpleListFilter):
    """Bans that are in force now."""

    title = "in force"
    parameter_name = "in_force"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("1", "in force"), ("0", "over or lifted")]

    def queryset(self, request: HttpRequest, queryset: "Rows") -> "Rows":
        now = now_ms()
        if self.value() == "1":
            return queryset.filter(Q(until=None) | Q(until__gt=now), lifted_at=None)
        if self.value() == "0":
            return queryset.exclude(Q(until=None) | Q(until__gt=now), lifted_at=None)
        return queryset


@admin.register(Sanction)
class SanctionAdmin(ReadOnly, PlayerLinkAdmin):
    list_display = ("player_link", "kind", "made", "ends", "reason", "made_by", "state")
    list_filter = ("kind", ForceFilter)
    search_fields = ("player__name",)
    fields = (
        *("player_link", "kind", "reason", "made", "ends", "made_by"),
        *("state", "lift_reason"),
    )
    readonly_fields = fields
    actions = ("lift_bans",)
    action_form = ReasonForm

    def has_add_permission(self, *args: Any) -> bool:
        return bool(args[0].user.has_perm("accounts.add_sanction"))

    def has_lift_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.change_sanction")

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Ban a player, by the service that everybody uses."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = BanSomebodyForm(request.POST or None, initial=_asked(request))
        if request.method == "POST" and form.is_valid():
            now = now_ms()
            try:
                made = ban(
                    player_id=form.cleaned_data["player"].pk,
                    kind=form.cleaned_data["kind"],
                    reason=form.cleaned_data["reason"],
                    until=form.until(now),
                    now=now,
                    by=own_id(request),
                )
            except KadoError as error:
                form.add_error(None, error.detail)
            else:
                self.log_addition(request, made, [{"added": {}}])
                messages.success(request, f"{form.cleaned_data['player']} is banned.")
                return redirect("admin:accounts_player_overview", made.player_id)
        context = {**self.admin_site.each_context(request), "title": "Ban a player", "form": form}
        return render(request, "accounts/admin/ban.html", {**context, "opts": self.opts})

    @admin.action(description="Lift the selected bans", permissions=["lift"])
    def lift_bans(self, request: HttpRequest, rows: QuerySet[Sanction]) -> None:
        reason = str(request.POST.get("reason", "")).strip()
        if not reason:
            messages.error(request, "Nothing was done: write the reason beside the action.")
            return
        lifted = 0
        for row in rows:
            if lift(sanction_id=row.pk, reason=reason, by=own_id(request), now=now_ms()):
                self.log_change(request, row, f"Lifted: {reason}")
                lifted += 1
        messages.success(
            request, f"{lifted} bans lifted; those that are over are left as they are."
        )

    @admin.display(description="made")
    def made(self, row: Sanction) -> str:
        return rfc3339(row.made_at)

    @admin.display(description="until")
    def ends(self, row: Sanction) -> str:
        return "for good" if row.until is None else rfc3339(row.until)

    @admin.display(description="by")
    def made_by(self, row: Sanction) -> str:
        return row.by_name or "the rules"

    @admin.display(description="state")
    def state(self, row: Sanction) -> str:
        if row.lifted_at is not None:
            return f"lifted by {row.lifted_by_name}, {rfc3339(row.lifted_at)}"
        return "over" if row.until is not None and row.until <= now_ms() else "in force"


def _asked(request: HttpRequest) -> dict[str, str]:
    """The player whose page led here."""
    asked = request.GET.get("player", "")
    if not (asked.isascii() and asked.isdigit()) or len(asked) > 18:
        return {}
    name = Player.objects.filter(pk=int(asked)).values_list("name", flat=True).first()
    return {"player": name or ""}
