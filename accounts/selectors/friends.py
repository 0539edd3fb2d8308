"""Friends, requests and blocks."""

from collections.abc import Iterable

from django.db.models import Q

from accounts.models import Block, Friendship


def friend_ids(player_id: int) -> frozenset[int]:
    """Everybody who is the player's friend and may be active."""
    friends = Friendship.objects.filter(since__isnull=False)
    answered = friends.filter(sender=player_id).values_list("recipient_id", flat=True)
    asked = friends.filter(recipient=player_id).values_list("sender_id", flat=True)
    return frozenset(answered.union(asked, all=True))


def are_friends(player_id: int, other_id: int) -> bool:
    """Whether the two are friends; nobody is their own."""
    return _between(player_id, other_id, since__isnull=False)


def _between(player_id: int, other_id: int, **conditions: object) -> bool:
    pair = Q(sender=player_id, recipient=other_id) | Q(sender=other_id, recipient=player_id)
    return Friendship.objects.filter(pair, **conditions).exists()


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
