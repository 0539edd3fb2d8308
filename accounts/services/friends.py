"""Asking, accepting, parting and blocking.

Each of these locks the rows of both players first, in the order of their ids, then what stands between them, then at
most one inbox. So whatever two people do to each other at once happens one after the other, and nothing waits in a
circle. The locks do not hinder rows that only refer to the players, such as seats and moves.
"""

from functools import partial

from django.db import transaction
from django.db.models import Q, QuerySet

from accounts.errors import (
    CannotBefriendError,
    CannotBlockError,
    NotForGuestsError,
    PlayerBlockedError,
    RequestsClosedError,
    TooManyBlocksError,
    TooManyFriendRequestsError,
    TooManyFriendsError,
    UnknownFriendRequestError,
    UnknownPlayerError,
)
from accounts.events import FriendAccepted, FriendRequested
from accounts.models import Block, Friendship, Player
from accounts.services.inbox import notify
from accounts.services.people import hold_players
from accounts.signals import block_made, friends_changed
from common.limits import Limit, take

MOST_FRIENDS = 500
MOST_SENT = 100
MOST_RECEIVED = 1_000
"""Friends, and requests without an answer, that one player may have: every list of them stays short."""
MOST_BLOCKS = 1_000
NOTES = Limit("friend-request-note", burst=3, interval_ms=6 * 3_600_000)
"""How often one player's requests are told to the same other one; those beyond it are in the list only."""


def ask_friend(*, player_id: int, other_id: int, now: int) -> Friendship:
    """Ask somebody to be friends; whoever has been asked by them accepts by it. Saying it twice is no error.

    Raises `NotForGuestsError`, `CannotBefriendError`, `PlayerBlockedError`, `RequestsClosedError`,
    `TooManyFriendRequestsError`, `TooManyFriendsError`, `UnknownPlayerError`.
    """
    # Counted before the rows are locked, because it may have to wait for Redis.
    tell = _ties(player_id, other_id).exists() or not take(NOTES, f"{player_id}:{other_id}")
    with transaction.atomic():
        me, other = _locked(player_id, other_id)
        _check_befriends(me, other)
        tie = _ties(player_id, other_id).first()
        if tie is not None:
            return _accept(tie, me, other, now) if _asks(tie, other) else tie
        if Block.objects.filter(blocker=me, blocked=other).exists():
            raise PlayerBlockedError(f"End the block of {other.name} first.")
        closed = other.requests_from == Player.RequestsFrom.NOBODY
        if closed or Block.objects.filter(blocker=other, blocked=me).exists():
            raise RequestsClosedError
        _check_room(Friendship.objects.filter(sender=me, since=None), MOST_SENT, me)
        _check_room(Friendship.objects.filter(recipient=other, since=None), MOST_RECEIVED, other)
        _check_friends(me)
        tie = Friendship.objects.create(sender=me, recipient=other, asked_at=now)
        _tell_changed(player_id, other_id)
        if tell:
            notify(player_id=other_id, event=FriendRequested(player=me.name), at=now)
        return tie


def accept_friend(*, player_id: int, other_id: int, now: int) -> Friendship:
    """Accept somebody's request; who is a friend already stays one. `UnknownFriendRequestError` if there is none.

    Raises `NotForGuestsError`, `CannotBefriendError`, `TooManyFriendsError`, `UnknownPlayerError`.
    """
    with transaction.atomic():
        me, other = _locked(player_id, other_id)
        _check_befriends(me, other)
        tie = _ties(player_id, other_id).first()
        if tie is None or (tie.since is None and not _asks(tie, other)):
            raise UnknownFriendRequestError(f"{other.name} has not asked you, or not any more.")
        return _accept(tie, me, other, now) if tie.since is None else tie


def drop_request(*, player_id: int, other_id: int) -> None:
    """Decline somebody's request, or take one's own back; nobody is told. Without one nothing happens."""
    with transaction.atomic():
        _locked(player_id, other_id)
        _part(player_id, other_id, _ties(player_id, other_id).filter(since=None))


def remove_friend(*, player_id: int, other_id: int) -> None:
    """Be friends no more; nobody is told. Without a friendship nothing happens."""
    with transaction.atomic():
        _locked(player_id, other_id)
        _part(player_id, other_id, _ties(player_id, other_id).filter(since__isnull=False))


def block(*, player_id: int, other_id: int, now: int) -> Block:
    """Want nothing of somebody: this ends a friendship and requests, and nobody is told. Twice is no error.

    Raises `NotForGuestsError`, `CannotBlockError`, `TooManyBlocksError`, `UnknownPlayerError`.
    """
    with transaction.atomic():
        me, other = _locked(player_id, other_id)
        if me.kind == Player.Kind.GUEST:
            raise NotForGuestsError
        if me == other or other.level:
            raise CannotBlockError
        mine = Block.objects.filter(blocker=me)
        if standing := mine.filter(blocked=other).first():
            return standing
        if mine.count() >= MOST_BLOCKS:
            raise TooManyBlocksError(limit=MOST_BLOCKS)
        made = Block.objects.create(blocker=me, blocked=other, at=now)
        _part(player_id, other_id, _ties(player_id, other_id))
        told = partial(block_made.send_robust, Block, blocker_id=player_id, blocked_id=other_id)
        transaction.on_commit(told)
        return made


def unblock(*, player_id: int, other_id: int) -> None:
    """End one's own block; the other's, if there is one, stands. Without one nothing happens."""
    with transaction.atomic():
        _locked(player_id, other_id)
        Block.objects.filter(blocker=player_id, blocked=other_id).delete()


def take_requests_from(*, player_id: int, who: str) -> None:
    """Say whose friend requests one takes: everybody's or nobody's. Those that wait already stay."""
    Player.objects.filter(pk=player_id).update(requests_from=Player.RequestsFrom(who))


def _locked(player_id: int, other_id: int) -> tuple[Player, Player]:
    """Both players, nobody else doing anything between them until the end of the transaction."""
    found = hold_players([player_id, other_id])
    if player_id not in found or other_id not in found or not found[other_id].is_active:
        raise UnknownPlayerError
    return found[player_id], found[other_id]


def _ties(player_id: int, other_id: int) -> QuerySet[Friendship]:
    """What stands between the two: one row at most."""
    return Friendship.objects.filter(
        Q(sender=player_id, recipient=other_id) | Q(sender=other_id, recipient=player_id)
    )


def _asks(tie: Friendship, player: Player) -> bool:
    return tie.since is None and tie.sender_id == player.pk


def _check_befriends(me: Player, other: Player) -> None:
    if me.kind == Player.Kind.GUEST:
        raise NotForGuestsError("Sign in, then find friends.")
    if me == other or other.level or other.kind == Player.Kind.GUEST:
        raise CannotBefriendError


def _check_friends(player: Player) -> None:
    friends = Friendship.objects.filter(Q(sender=player) | Q(recipient=player))
    if friends.filter(since__isnull=False).count() >= MOST_FRIENDS:
        raise TooManyFriendsError(limit=MOST_FRIENDS, player=player.name)


def _check_room(requests: QuerySet[Friendship], most: int, player: Player) -> None:
    if requests.count() >= most:
        raise TooManyFriendRequestsError(limit=most, player=player.name)


def _accept(tie: Friendship, me: Player, other: Player, now: int) -> Friendship:
    """`other`'s request becomes a friendship, and they are told."""
    _check_friends(me)
    _check_friends(other)
    tie.since = now
    tie.save(update_fields=["since"])
    notify(player_id=other.pk, event=FriendAccepted(player=me.name), at=now)
    _tell_changed(me.pk, other.pk)
    return tie


def _part(player_id: int, other_id: int, ties: QuerySet[Friendship]) -> None:
    if ties.delete()[0]:
        _tell_changed(player_id, other_id)


def _tell_changed(*player_ids: int) -> None:
    told = partial(friends_changed.send_robust, Friendship, player_ids=player_ids)
    transaction.on_commit(told)
