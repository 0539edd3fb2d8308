"""The admin's view of ratings. They follow from the ledger."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.admin.base import PlayerLinkAdmin
from accounts.models import (
    LedgerRow,
    RatingRow,
)
from accounts.rules import Rating
from common.admin import ReadOnly, WordFilter
from common.ids import is_id


@admin.register(RatingRow)
class RatingAdmin(ReadOnly, PlayerLinkAdmin):
    """Ratings follow from the ledger."""

    list_display = ("key", "player_link", "shown", "mu", "sigma", "games")
    search_fields = ("player__name",)
    list_filter = (("player__kind", admin.ChoicesFieldListFilter),)

    @admin.display(description="shown", ordering="mu")
    def shown(self, row: RatingRow) -> str:
        return str(Rating(row.mu, row.sigma, row.games))


class RankFilter(WordFilter):
    title = parameter_name = "rank"
    words = "1234"


@admin.register(LedgerRow)
class LedgerAdmin(ReadOnly, PlayerLinkAdmin):
    list_display = ("when", "key", "player_link", "sequence", "rank", "before", "after", "game_id")
    search_fields = ("player__name", "game_id")
    search_help_text = "A player's whole name, or a game's id."
    list_filter = (RankFilter,)

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        of_game = rows.filter(game_id=term)
        return of_game if is_id(term) and of_game.exists() else super().find(request, rows, term)

    @admin.display(description="before")
    def before(self, row: LedgerRow) -> str:
        return row.change.before

    @admin.display(description="after")
    def after(self, row: LedgerRow) -> str:
        return row.change.after
