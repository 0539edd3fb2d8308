"""Friends, requests and blocks."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Collate, Lower

from accounts.models import Block, Friendship
from accounts.selectors.people import PlayerCard


def friend_ids(player_id: int) -> frozenset[int]:
    """Everybody who is the player's friend, but banned players."""
    return friends_of([player_id])[player_id]


def friends_of(player_ids: Iterable[int]) -> dict[int, frozenset[int]]:
    """The friends of each of these players, in two queries."""
    found: dict[int, set[int]] = {player_id: set() for player_id in player_ids}
    friends = Friendship.objects.filter(since__isnull=False)
    for one, other in (("sender", "recipient"), ("recipient", "sender")):
        rows = friends.filter(**{f"{one}__in": list(found), f"{other}__is_active": True})
        for player_id, friend_id in rows.values_list(f"{one}_id", f"{other}_id"):
            found[player_id].add(friend_id)
    return {player_id: frozenset(others) for player_id, others in found.items()}


def are_friends(player_id: int, other_id: int) -> bool:
    """Whether the two are friends; nobody is their own."""
    return _between(player_id, other_id, since__isnull=False)


def _between(player_id: int, other_id: int, **conditions: object) -> bool:
    pair = Q(sender=player_id, recipient=other_id) | Q(sender=other_id, recipient=player_id)
    return Friendship.objects.filter(pair, **conditions).exists()


def waiting_requests(player_ids: Iterable[int]) -> dict[int, int]:
    """How many requests wait for an answer of each of these players; who has none may be left out."""
    waiting = Friendship.objects.filter(
        recipient__in=set(player_ids), since=None, sender__is_active=True
    )
    return dict(waiting.values_list("recipient").annotate(Count("pk")).order_by())


def blocked_with(player_ids: Iterable[int]) -> dict[int, frozenset[int]]:
    """For each of the players all those with whom a block exists, whoever of the two has made it; in one query."""
    ids = set(player_ids)
    found: dict[int, set[int]] = {player_id: set() for player_id in ids}
    blocks = Block.objects.filter(Q(blocker__in=ids) | Q(blocked__in=ids))
    for blocker, blocked in blocks.values_list("blocker_id", "blocked_id"):
        if blocker in found:
            found[blocker].add(blocked)
        if blocked in found:
            found[blocked].add(blocker)
    return {player_id: frozenset(others) for player_id, others in found.items()}


def is_blocked_between(player_id: int, other_id: int) -> bool:
    """Whether either of the two blocks the other."""
    pair = Q(blocker=player_id, blocked=other_id) | Q(blocker=other_id, blocked=player_id)
    return Block.objects.filter(pair).exists()


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of a list: a player, and since when they stand there (milliseconds)."""

    player: PlayerCard
    at: int


@dataclass(frozen=True, slots=True)
class ListPage:
    """Lines in the order of the names; `next` is the cursor of those after them, or None."""

    lines: list[Listed]
    next: str | None


def friends_page(player_id: int, *, cursor: str, limit: int) -> ListPage:
    """The friends who may play, by name, those after the name `cursor`."""
    friends = Friendship.objects.filter(since__isnull=False)
    return _page(
        [
            *_others(friends.filter(sender=player_id), "recipient", "since", cursor, limit),
            *_others(friends.filter(recipient=player_id), "sender", "since", cursor, limit),
        ],
        limit,
    )


def requests_page(player_id: int, *, sent: bool, cursor: str, limit: int) -> ListPage:
    """Those who have asked the player, or whom the player has asked, without an answer so far."""
    pending = Friendship.objects.filter(since=None)
    if sent:
        mine, other = pending.filter(sender=player_id), "recipient"
    else:
        mine, other = pending.filter(recipient=player_id), "sender"
    return _page(_others(mine, other, "asked_at", cursor, limit), limit)


def blocks_page(player_id: int, *, cursor: str, limit: int) -> ListPage:
    """Those whom the player blocks."""
    mine = Block.objects.filter(blocker=player_id)
    return _page(_others(mine, "blocked", "at", cursor, limit), limit)


def _others(
    rows: QuerySet[Any], other: str, at: str, cursor: str, limit: int
) -> list[tuple[str, Listed]]:
    """The first lines after the cursor, each with what it is sorted by. Services keep these lists short."""
    found = rows.annotate(key=Collate(Lower(f"{other}__name"), "C")).filter(
        **{f"{other}__is_active": True, "key__gt": cursor.lower()}
    )
    columns = [f"{other}__{name}" for name in ("id", "name", "kind", "level")]
    return [
        (key, Listed(PlayerCard(*card), at=since))
        for key, since, *card in found.order_by("key").values_list("key", at, *columns)[: limit + 1]
    ]


def _page(lines: list[tuple[str, Listed]], limit: int) -> ListPage:
    lines.sort(key=lambda line: line[0])
    shown = [line for _, line in lines[:limit]]
    return ListPage(shown, shown[-1].player.name if len(lines) > limit else None)
