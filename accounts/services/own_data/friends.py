"""The person's friends, requests and blocks. Who blocks the person is nobody's business but the other's."""

from collections.abc import Iterable
from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import Q
from msgspec import Struct

from accounts.models import Block, Friendship, Player
from accounts.signals import friends_changed
from common.clock import to_datetime


class OtherData(Struct, frozen=True):
    """Another player, and since when it is so."""

    player: str
    since: datetime


class FriendsData(Struct, frozen=True):
    """`requests_from` says whose requests the person takes."""

    requests_from: str
    friends: list[OtherData]
    sent: list[OtherData]
    received: list[OtherData]
    blocks: list[OtherData]


def export_friends(player_id: int) -> FriendsData:
    ties = Friendship.objects.select_related("sender", "recipient").order_by("pk")
    sent, received = ties.filter(sender=player_id), ties.filter(recipient=player_id)
    friends = [(tie.recipient, tie.since) for tie in sent if tie.since is not None]
    friends += [(tie.sender, tie.since) for tie in received if tie.since is not None]
    blocks = Block.objects.filter(blocker=player_id).select_related("blocked").order_by("pk")
    return FriendsData(
        requests_from=Player.objects.get(pk=player_id).requests_from,
        friends=_others(friends),
        sent=_others((tie.recipient, tie.asked_at) for tie in sent if tie.since is None),
        received=_others((tie.sender, tie.asked_at) for tie in received if tie.since is None),
        blocks=_others((block.blocked, block.at) for block in blocks),
    )


def _others(lines: Iterable[tuple[Player, int]]) -> list[OtherData]:
    return [OtherData(player.name, to_datetime(at)) for player, at in lines]


def erase_friends(player_id: int) -> None:
    """All that stands between the person and others, on either side; friends see one less."""
    ties = Friendship.objects.filter(Q(sender=player_id) | Q(recipient=player_id))
    others = {
        other
        for tie in ties.values_list("sender_id", "recipient_id")
        for other in tie
        if other != player_id
    }
    ties.delete()
    Block.objects.filter(Q(blocker=player_id) | Q(blocked=player_id)).delete()
    Player.objects.filter(pk=player_id).update(requests_from=Player.RequestsFrom.EVERYBODY)
    told = partial(friends_changed.send_robust, Friendship, player_ids=tuple(others))
    transaction.on_commit(told)
