"""Games in the admin: find one, see its board, read its events. The log of a game is never edited."""

from typing import Any

from django.contrib import admin
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from accounts.selectors.people import id_named
from common.admin import FastList, ReadOnly, WordFilter
from common.clock import rfc3339
from common.ids import is_id
from games.territory import selectors
from games.territory.models import Engagement, Game, Seat
from games.territory.rules import VARIANTS, Termination


class SeatInline(ReadOnly, admin.TabularInline[Seat, Game]):
    model = Seat
    fields = ("index", "player", "level", "points", "rank")
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[Seat]:
        return super().get_queryset(request).select_related("player")


class VariantFilter(WordFilter):
    title = parameter_name = "variant"
    words = VARIANTS


class TerminationFilter(WordFilter):
    title = parameter_name = "termination"
    words = Termination


@admin.register(Game)
class GameAdmin(ReadOnly, FastList):
    list_display = (
        "id",
        "variant",
        "players",
        "pool",
        "rated",
        "status",
        "termination",
        "version",
        "created_at",
    )
    list_filter = ("status", TerminationFilter, VariantFilter, "rated", "created_at")
    search_fields = ("id", "seats__player__name")
    search_help_text = "A game's id, or a player's whole name: the latest 1,000 games."
    ordering = ("-created_at",)
    indexed = ("status__exact=started", "created_at")
    inlines = (SeatInline,)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("variant", "pool", "rated"),
                    ("status", "termination", "version"),
                    "board",
                )
            },
        ),
        (
            "Times",
            {
                "fields": (
                    ("created_at", "finished_at", "settled_at"),
                    ("clock_kind", "initial_ms", "increment_ms"),
                )
            },
        ),
        ("Events", {"fields": ("event_list",)}),
    )
    readonly_fields = ("board", "event_list")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Game]:
        seats = Seat.objects.select_related("player").order_by("index")
        return super().get_queryset(request).prefetch_related(Prefetch("seats", seats))

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        if is_id(term) and (found := rows.filter(pk=term)).exists():
            return found
        seats = Seat.objects.filter(player=id_named(term)).order_by("-id")
        return rows.filter(pk__in=list(seats.values_list("game", flat=True)[:1000]))

    @admin.display(description="players")
    def players(self, game: Game) -> str:
        return format_html_join(
            " – ",
            '<a style="white-space:nowrap" href="{}">{}</a>{}',
            (
                (
                    reverse("admin:accounts_player_overview", args=[seat.player_id]),
                    seat.player.name,
                    "" if seat.points is None else f" {seat.points}",
                )
                for seat in game.seats.all()
            ),
        )

    @admin.display(description="board")
    def board(self, game: Game) -> SafeString:
        state = selectors.load_state(game.id)
        # The picture is made by our own pure function from cells; no text of a player is in it.
        picture = mark_safe(selectors.draw(state))  # noqa: S308
        address = f"/api/v1/games/{game.id}/board.svg"
        links = format_html_join(
            " ",
            '<a href="{}?ply={}" target="board">{}</a>',
            ((address, ply, ply) for ply in range(state.ply + 1)),
        )
        return format_html(
            '<div style="width:26rem;max-width:100%">{}</div><details><summary>After each ply</summary>'
            '<p style="max-width:40rem">{}</p><iframe name="board" title="The board after a ply" '
            'src="{}?ply=0" loading="lazy" style="width:26rem;height:28rem;border:0"></iframe></details>',
            picture,
            links,
            address,
        )

    @admin.display(description="events")
    def event_list(self, game: Game) -> SafeString:
        rows = format_html_join(
            "",
            '<tr><td>{}</td><td style="white-space:nowrap">{}</td>'
            '<td style="overflow-wrap:anywhere"><code>{}</code></td></tr>',
            ((n.version, rfc3339(n.at), n.payload) for n in selectors.notes_after(game.id, 0)),
        )
        return format_html(
            "<table><tr><th>version</th><th>at</th><th>event</th></tr>{}</table>", rows
        )


@admin.register(Engagement)
class EngagementAdmin(ReadOnly, FastList):
    list_display = ("player", "game", "since")
    list_select_related = ("player", "game")
    search_fields = ("player__name", "game__id")
    search_help_text = "A player's whole name, or a game's id."

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        of_game = rows.filter(game=term)
        return of_game if of_game.exists() else rows.filter(player=id_named(term))

    @admin.display(description="since")
    def since(self, engagement: Engagement) -> str:
        return f"{engagement.game.created_at:%Y-%m-%d %H:%M:%S}"
