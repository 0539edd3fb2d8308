"""The admin's view of ratings. They follow from the ledger."""

from django.contrib import admin

from accounts.admin.base import PlayerLinkAdmin
from accounts.models import (
    LedgerRow,
    RatingRow,
)
from accounts.rules import Rating
from common.admin import ReadOnly


@admin.register(RatingRow)
class RatingAdmin(ReadOnly, PlayerLinkAdmin):
    """Ratings follow from the ledger."""

    list_display = ("key", "player_link", "shown", "mu", "sigma", "games")
    search_fields = ("^player__name", "=key")
    list_filter = (("player__kind", admin.ChoicesFieldListFilter),)

    @admin.display(description="shown", ordering="mu")
    def shown(self, row: RatingRow) -> str:
        return str(Rating(row.mu, row.sigma, row.games))


@admin.register(LedgerRow)
class LedgerAdmin(ReadOnly, PlayerLinkAdmin):
    list_display = ("when", "key", "player_link", "sequence", "rank", "before", "after", "game_id")
    search_fields = ("^player__name", "=game_id", "=key")
    list_filter = ("rank",)

    @admin.display(description="before")
    def before(self, row: LedgerRow) -> str:
        return row.change.before

    @admin.display(description="after")
    def after(self, row: LedgerRow) -> str:
        return row.change.after
