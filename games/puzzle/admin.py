"""Runs, days and bests in the admin: find one, see its board, read its events. A seed is shown when it is public."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from accounts.selectors.people import id_named
from common.admin import FastList, ReadOnly, WordFilter
from common.clock import rfc3339
from common.ids import is_id
from games.puzzle import rules, selectors
from games.puzzle.models import Best, Daily, Run

EVENTS = 200
"""The latest events on a run's page; `GET /puzzles/runs/{id}/record` has the whole run."""


class LevelFilter(WordFilter):
    title = parameter_name = "level"
    words = rules.LEVELS


class BoardFilter(WordFilter):
    title = parameter_name = "board"
    words = rules.BOARDS


@admin.register(Run)
class RunAdmin(ReadOnly, FastList):
    list_display = (
        "id",
        "player",
        "key",
        "date",
        "counted",
        "status",
        "score",
        "turn",
        "started_at",
    )
    list_filter = ("status", LevelFilter, BoardFilter, "counted", "started_at")
    list_select_related = ("player",)
    search_fields = ("id", "player__name")
    search_help_text = "A run's id, or a player's whole name."
    ordering = ("-started_at",)
    indexed = ("started_at",)
    fields = (
        ("player", "key", "date", "counted"),
        ("status", "revealed", "turn", "version"),
        ("score", "placements", "squares"),
        ("lines", "largest_clear", "longest_streak"),
        ("started_at", "finished_at"),
        "board_drawn",
        "seed_hash",
        "public_seed",
        "event_list",
    )
    readonly_fields = ("date", "board_drawn", "public_seed", "event_list")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        return super().get_queryset(request).defer("seed")

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        if is_id(term) and (found := rows.filter(pk=term)).exists():
            return found
        return rows.filter(player=id_named(term))

    @admin.display(description="date", ordering="daily")
    def date(self, run: Run) -> str:
        return "–" if run.daily_id is None else f"{run.daily_id}"

    @admin.display(description="seed")
    def public_seed(self, run: Run) -> str:
        return bytes(run.seed).hex() if run.revealed else "not public yet"

    @admin.display(description="board")
    def board_drawn(self, run: Run) -> SafeString:
        # The picture is made by our own pure function from cells; no text of a player is in it.
        picture = mark_safe(rules.board_svg(selectors.state_of_row(run)))  # noqa: S308
        return format_html('<div style="width:22rem;max-width:100%">{}</div>', picture)

    @admin.display(description="events")
    def event_list(self, run: Run) -> SafeString:
        notes = selectors.notes_after(run.id, max(0, run.version - EVENTS))
        rows = format_html_join(
            "",
            '<tr><td>{}</td><td style="white-space:nowrap">{}</td>'
            '<td style="overflow-wrap:anywhere"><code>{}</code></td></tr>',
            ((note.version, rfc3339(note.at), note.payload) for note in notes),
        )
        return format_html(
            "<table><tr><th>version</th><th>at</th><th>event</th></tr>{}</table>", rows
        )


@admin.register(Daily)
class DailyAdmin(ReadOnly, admin.ModelAdmin[Daily]):
    list_display = ("date", "closed_at", "frozen_at", "attempts")
    list_filter = ("date",)
    date_hierarchy = "date"
    fields = ("date", ("closed_at", "frozen_at"), "attempts", "seed_hash", "public_seed")
    readonly_fields = ("attempts", "public_seed")
    list_per_page = 31

    @admin.display(description="attempts")
    def attempts(self, daily: Daily) -> SafeString:
        address = reverse("admin:puzzle_run_changelist")
        return format_html(
            '<a href="{}?daily__exact={}&amp;counted__exact=1">attempts</a>', address, daily.date
        )

    @admin.display(description="seed")
    def public_seed(self, daily: Daily) -> str:
        return selectors.seed_of(daily) or "not public yet"


@admin.register(Best)
class BestAdmin(ReadOnly, FastList):
    list_display = ("player", "key", "score", "placements", "runs", "run", "finished_at")
    list_select_related = ("player", "run")
    search_fields = ("player__name",)
    search_help_text = "A player's whole name."
    ordering = ("-pk",)

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        return rows.filter(player=id_named(term))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Best]:
        return super().get_queryset(request).defer("run__seed", "run__state")
