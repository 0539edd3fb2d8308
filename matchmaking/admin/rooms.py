"""The operator's view of rooms and challenges. They are not edited: what is wrong with one ends by itself."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from common.admin import FastList, ReadOnly
from matchmaking.models import Challenge, ChallengeSeat, Room, RoomSeat


class RoomSeatInline(ReadOnly, admin.TabularInline[RoomSeat, Room]):
    model = RoomSeat
    fields = ("index", "player", "level", "ready")
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[RoomSeat]:
        return super().get_queryset(request).select_related("player")


@admin.register(Room)
class RoomAdmin(ReadOnly, FastList):
    """Rooms, the newest first."""

    list_display = (
        "code", "status", "host", "variant", "kind", "rated", "undo", "game_id", "created_at", "expires_at",
    )  # fmt: skip
    list_select_related = ("host",)
    search_fields = ("=code",)
    search_help_text = "A room's code."
    ordering = ("-id",)
    raw_id_fields = ("game",)
    inlines = (RoomSeatInline,)


class ChallengeSeatInline(ReadOnly, admin.TabularInline[ChallengeSeat, Challenge]):
    model = ChallengeSeat
    fields = ("index", "player", "level", "agreed")
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[ChallengeSeat]:
        return super().get_queryset(request).select_related("player")


@admin.register(Challenge)
class ChallengeAdmin(ReadOnly, FastList):
    """Challenges and rematches, the newest first."""

    list_display = (
        "id", "status", "challenger", "target", "rematch_of_id", "variant", "kind", "rated", "reason", "game_id",
        "created_at",
    )  # fmt: skip
    list_select_related = ("challenger", "target")
    search_fields = ("=id",)
    search_help_text = "A challenge's id."
    ordering = ("-created_at", "id")
    raw_id_fields = ("game", "rematch_of")
    inlines = (ChallengeSeatInline,)
