"""The operator's view of rooms and challenges. They are not edited: what is wrong with one ends by itself."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from common.admin import BoundedPaginator, ReadOnly
from matchmaking.models import Challenge, ChallengeSeat, ChallengeTaking, Room, RoomSeat


class RoomSeatInline(ReadOnly, admin.TabularInline[RoomSeat, Room]):
    model = RoomSeat
    fields = ("index", "player", "level", "ready")
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[RoomSeat]:
        return super().get_queryset(request).select_related("player")


@admin.register(Room)
class RoomAdmin(ReadOnly, admin.ModelAdmin[Room]):
    """Rooms, the newest first."""

    list_display = (
        "code", "status", "host", "variant", "kind", "rated", "undo", "game_id", "created_at", "expires_at",
    )  # fmt: skip
    list_select_related = ("host",)
    search_fields = ("=code",)
    search_help_text = "A room's code."
    ordering = ("-id",)
    paginator = BoundedPaginator
    show_full_result_count = False
    list_per_page = 50
    raw_id_fields = ("game",)
    inlines = (RoomSeatInline,)


class ChallengeSeatInline(ReadOnly, admin.TabularInline[ChallengeSeat, Challenge]):
    model = ChallengeSeat
    fields = ("index", "player", "level", "agreed")
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[ChallengeSeat]:
        return super().get_queryset(request).select_related("player")


@admin.register(Challenge)
class ChallengeAdmin(ReadOnly, admin.ModelAdmin[Challenge]):
    """Challenges and rematches, the newest first."""

    list_display = (
        "id", "status", "challenger", "target", "rematch_of_id", "variant", "kind", "rated", "reason", "game_id",
        "created_at",
    )  # fmt: skip
    list_select_related = ("challenger", "target")
    search_fields = ("=id",)
    search_help_text = "A challenge's id."
    ordering = ("-created_at",)
    paginator = BoundedPaginator
    show_full_result_count = False
    list_per_page = 50
    raw_id_fields = ("game", "rematch_of")
    inlines = (ChallengeSeatInline,)


@admin.register(ChallengeTaking)
class ChallengeTakingAdmin(ReadOnly, admin.ModelAdmin[ChallengeTaking]):
    """Whose challenges players take who have said so."""

    list_display = ("player", "whose")
    list_select_related = ("player",)
    search_fields = ("=player__name",)
    ordering = ("-player",)
    paginator = BoundedPaginator
    show_full_result_count = False
