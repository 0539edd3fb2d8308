"""Hints and analyses in the admin: who had which, what is still looked for, and the curves. Nothing is edited."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from accounts.selectors.people import id_named
from bots import selectors
from bots.analysis import SIGNS, sentence
from bots.curve import curve_svg
from bots.errors import AnalysisNotReadyError, NoAnalysisError
from bots.models import Analysis, AnalysisWish, Hint, RunHint
from common.admin import FastList, ReadOnly
from games.territory.errors import NotFinishedError


@admin.register(Hint)
class HintAdmin(ReadOnly, FastList):
    list_display = ("game", "player", "number", "ply", "colour", "move", "given_at")
    list_select_related = ("game", "player")
    search_fields = ("game__id", "player__name")
    search_help_text = "A game's id, or a player's whole name (among the newest 10,000)."
    ordering = ("-id",)

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        of_game = rows.filter(game=term)
        if of_game.exists():
            return of_game
        return self.among_newest(request, rows.filter(player=id_named(term)))


@admin.register(RunHint)
class RunHintAdmin(ReadOnly, FastList):
    list_display = ("run", "player", "turn", "slot", "rotation", "at", "given_at")
    list_select_related = ("run", "player")
    search_fields = ("run__id",)
    search_help_text = "A run's id."
    ordering = ("-run",)

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        return rows.filter(run=term)


class WishInline(ReadOnly, admin.TabularInline[AnalysisWish, Analysis]):
    """Who is told when it is done."""

    model = AnalysisWish
    fields = ("player",)
    extra = 0


@admin.register(Analysis)
class AnalysisAdmin(ReadOnly, FastList):
    list_display = (
        "game",
        "status",
        "progress",
        "simulations",
        "engine",
        "asked_at",
        "finished_at",
    )
    list_select_related = ("game",)
    list_filter = ("status",)
    search_fields = ("game__id", "wishes__player__name")
    search_help_text = "A game's id, or the whole name of a player who asked."
    ordering = ("-id",)
    inlines = (WishInline,)
    fields = (
        "game",
        ("status", "progress", "tries"),
        ("simulations", "engine", "version"),
        ("asked_at", "finished_at"),
        "curve",
        "mistakes",
    )
    readonly_fields = ("progress", "curve", "mistakes")

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        of_game = rows.filter(game=term)
        if of_game.exists():
            return of_game
        wishes = AnalysisWish.objects.filter(player=id_named(term))
        return rows.filter(pk__in=list(wishes.values_list("analysis", flat=True)[:1000]))

    @admin.display(description="progress")
    def progress(self, analysis: Analysis) -> str:
        return f"{analysis.done} of {analysis.plies}"

    @admin.display(description="curve")
    def curve(self, analysis: Analysis) -> SafeString | str:
        found = _reviewed(analysis)
        if found is None:
            return "–"
        # The picture is made by our own pure function, which escapes the names that are in it.
        picture = mark_safe(curve_svg(found.review))  # noqa: S308
        return format_html('<div style="width:40rem;max-width:100%">{}</div>', picture)

    @admin.display(description="mistakes")
    def mistakes(self, analysis: Analysis) -> SafeString | str:
        found = _reviewed(analysis)
        if found is None:
            return "–"
        rows = format_html_join(
            "",
            "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
            (
                (ply.step.ply, SIGNS[ply.mark], sentence(ply, found.review.variant))
                for ply in found.review.plies
                if ply.mark in SIGNS
            ),
        )
        return format_html("<table><tr><th>ply</th><th></th><th></th></tr>{}</table>", rows)


def _reviewed(analysis: Analysis) -> selectors.Reviewed | None:
    """The analysis if it is whole, and still of the game's present end."""
    try:
        return selectors.reviewed(analysis.game_id)
    except (AnalysisNotReadyError, NoAnalysisError, NotFinishedError):
        return None
