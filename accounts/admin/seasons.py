"""Seasons, the plans that make them, and their final tables."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from accounts import rules, season_rules
from accounts.admin.base import ASKED, DecidingAdmin, ask, named
from accounts.models import Season, SeasonLine, SeasonPlan, StandingJob
from accounts.rules import Rating
from accounts.services.decisions import Action, note
from accounts.services.seasons import end_season
from common.admin import FastList, ReadOnly
from common.clock import from_datetime, now_ms, rfc3339, to_datetime

if TYPE_CHECKING:  # generic for the type checker only
    SeasonModelForm = forms.ModelForm[Season]
    PlanModelForm = forms.ModelForm[SeasonPlan]
else:
    SeasonModelForm = PlanModelForm = forms.ModelForm

MANAGE = "accounts.manage_season"


class _Reasoned(forms.Form):
    """What a form of seasons and plans checks."""

    reason = forms.CharField(max_length=500, help_text="It is kept with the decision.")

    def clean_keys(self) -> list[str]:
        keys: list[str] = [key.strip() for key in self.cleaned_data["keys"]]
        if not 0 < len(keys) <= season_rules.MOST_KEYS or len(set(keys)) < len(keys):
            raise ValidationError(f"1 to {season_rules.MOST_KEYS} keys, each once.")
        if wrong := [key for key in keys if not rules.is_rating_key(key)]:
            raise ValidationError(f"Not of the form variant:speed: {', '.join(wrong)}.")
        return keys

    def clean_titles(self) -> Any:
        titles = self.cleaned_data["titles"] or []
        try:
            season_rules.titles_of(titles)
        except season_rules.InvalidTitlesError as error:
            raise ValidationError(str(error)) from error
        return titles


class SeasonForm(_Reasoned, SeasonModelForm):
    begins = forms.DateTimeField(help_text="UTC. The first instant of it.")
    ends = forms.DateTimeField(help_text="UTC. The first instant after it.")

    class Meta:
        model = Season
        fields = ("name", "keys", "min_games", "titles")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.starts_at is not None:
            self.initial["begins"] = to_datetime(self.instance.starts_at)
            self.initial["ends"] = to_datetime(self.instance.ends_at)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        begins, ends = cleaned.get("begins"), cleaned.get("ends")
        if begins and ends:
            if begins >= ends:
                raise ValidationError("It ends after it begins.")
            self.instance.starts_at = from_datetime(begins)
            self.instance.ends_at = from_datetime(ends)
        return cleaned


class PlanForm(_Reasoned, PlanModelForm):
    class Meta:
        model = SeasonPlan
        fields = ("name", "period", "active", "keys", "min_games", "titles")


class _Managed(FastList):
    """For those who may manage seasons; others with the right to look may look."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(MANAGE)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm(MANAGE)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may: bool = super().has_view_permission(request, obj)
        return may or request.user.has_perm(MANAGE)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        changed = [name for name in form.changed_data if name != "reason"]
        note(
            Action.SEASON_CHANGED if change else Action.SEASON_MADE,
            by=request.user.pk,
            reason=form.cleaned_data["reason"],
            season_id=obj.pk if isinstance(obj, Season) else None,
            facts={"what": str(obj), **{name: str(form.cleaned_data[name]) for name in changed}},
        )


@admin.register(Season)
class SeasonAdmin(_Managed, DecidingAdmin):
    """Made and changed here until they are closed; ended, closed and frozen again by actions, with a reason."""

    form = SeasonForm
    list_display = ("name", "begin", "end", "state", "lines")
    list_filter = (("closed_at", admin.EmptyFieldListFilter),)
    ordering = ("-starts_at", "-id")
    actions = ("end_now", "close", "refreeze")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Season]:
        seasons: QuerySet[Season] = super().get_queryset(request)
        return seasons.prefetch_related("tables")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        open_ = obj is None or obj.closed_at is None
        return open_ and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        upcoming = obj is not None and obj.starts_at > now_ms()
        return upcoming and request.user.has_perm(MANAGE)

    def has_manage_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(MANAGE)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is not None and obj.closed_at is not None:
            return ("name", "begin", "end", "state", "keys", "min_games", "titles", "lines")
        return ("name", "begins", "ends", "keys", "min_games", "titles", "reason")

    @admin.display(description="begins", ordering="starts_at")
    def begin(self, season: Season) -> str:
        return rfc3339(season.starts_at)

    @admin.display(description="ends")
    def end(self, season: Season) -> str:
        return rfc3339(season.ends_at)

    @admin.display(description="state")
    def state(self, season: Season) -> str:
        if season.closed_at is not None:
            return f"closed {rfc3339(season.closed_at)}"
        now = now_ms()
        if now < season.starts_at:
            return "upcoming"
        return "running" if now < season.ends_at else "over, to be closed"

    @admin.display(description="final tables")
    def lines(self, season: Any) -> SafeString:
        address = reverse("admin:accounts_seasonline_changelist")
        return format_html_join(
            "",
            '<a href="{}?table__id__exact={}">{}: {} lines</a>, made {}, {} late changes<br>',
            (
                (
                    address,
                    table.pk,
                    table.key,
                    table.lines,
                    rfc3339(table.frozen_at),
                    table.late_changes,
                )
                for table in season.tables.all()
            ),
        )

    @admin.action(description="End now, for the reason", permissions=["manage"])
    def end_now(self, request: HttpRequest, seasons: QuerySet[Season]) -> None:
        self.decide(request, seasons, _end)

    @admin.action(description="Close, for the reason", permissions=["manage"])
    def close(self, request: HttpRequest, seasons: QuerySet[Season]) -> None:
        self.decide(request, seasons.filter(closed_at=None), _close, ASKED)

    @admin.action(description="Freeze the tables again, for the reason", permissions=["manage"])
    def refreeze(self, request: HttpRequest, seasons: QuerySet[Season]) -> None:
        self.decide(request, seasons.filter(closed_at__isnull=False), _refreeze, ASKED)


def _end(season: Season, by: int, reason: str) -> None:
    end_season(season_id=season.pk, by=by, reason=reason, now=now_ms())


def _close(season: Season, by: int, reason: str) -> None:
    ask(StandingJob.Kind.CLOSE, season.pk, by, reason)


def _refreeze(season: Season, by: int, reason: str) -> None:
    ask(StandingJob.Kind.REFREEZE, season.pk, by, reason)


@admin.register(SeasonPlan)
class SeasonPlanAdmin(_Managed):
    """Seasons that follow one another by the calendar, while they are switched on."""

    form = PlanForm
    list_display = ("name", "period", "active", "keys", "min_games")
    ordering = ("name",)


@admin.register(SeasonLine)
class SeasonLineAdmin(ReadOnly, FastList):
    """Final tables. The list of seasons leads to each, in its order."""

    list_display = ("rank", "name", "rating", "games", "title", "table")
    list_select_related = ("table__season",)
    search_fields = ("name",)  # `find` says how
    search_help_text = "The whole name that a player has today."
    indexed = ("player__id__exact", "table__id__exact")
    fields = (*list_display, "line", "mu", "sigma")

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """One table in its order; else the newest first: each is the order of an index."""
        return ("line",) if "table__id__exact" in request.GET else ("-id",)

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        return rows.filter(player__in=named(term))

    @admin.display(description="rating")
    def rating(self, line: SeasonLine) -> str:
        return str(Rating(line.mu, line.sigma))
