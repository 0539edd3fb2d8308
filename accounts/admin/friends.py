"""The admin's view of friendships and blocks. Players make and end them themselves."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.admin.base import named
from accounts.models import Block, Friendship, Player
from common.admin import FastList, ReadOnly
from common.clock import rfc3339


class PairAdmin(ReadOnly, FastList):
    """A list of what stands between two players: the newest first, or all of one player by a whole name."""

    sides: ClassVar[tuple[str, str]]
    search_fields = ("id",)
    search_help_text = "A player's whole name."
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.select_related(*self.sides)

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        """Where the named player stands on either side: there is an index for each."""
        ids = list(named(term).values_list("pk", flat=True))
        one, other = self.sides
        return rows.filter(Q(**{f"{one}__in": ids}) | Q(**{f"{other}__in": ids}))


def _link(player: Player) -> SafeString:
    address = reverse("admin:accounts_player_overview", args=[player.pk])
    return format_html('<a href="{}">{}</a>', address, player.name)


@admin.register(Friendship)
class FriendshipAdmin(PairAdmin):
    """Friends, and requests without an answer."""

    sides = ("sender", "recipient")
    list_display = fields = ("asked_by", "asked_of", "asked", "friends_since")
    list_filter = (("since", admin.EmptyFieldListFilter),)

    @admin.display(description="who asked")
    def asked_by(self, tie: Friendship) -> SafeString:
        return _link(tie.sender)

    @admin.display(description="who was asked")
    def asked_of(self, tie: Friendship) -> SafeString:
        return _link(tie.recipient)

    @admin.display(description="asked at")
    def asked(self, tie: Friendship) -> str:
        return rfc3339(tie.asked_at)

    @admin.display(description="friends since")
    def friends_since(self, tie: Friendship) -> str:
        return "no answer yet" if tie.since is None else rfc3339(tie.since)


@admin.register(Block)
class BlockAdmin(PairAdmin):
    """Who wants nothing of whom."""

    sides = ("blocker", "blocked")
    list_display = fields = ("who", "whom", "when")

    @admin.display(description="who blocks")
    def who(self, block: Block) -> SafeString:
        return _link(block.blocker)

    @admin.display(description="whom")
    def whom(self, block: Block) -> SafeString:
        return _link(block.blocked)

    @admin.display(description="since")
    def when(self, block: Block) -> str:
        return rfc3339(block.at)
