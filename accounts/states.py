"""The state streams of accounts: `friends`, who of one's friends is online, and `inbox-read`, what one has read."""

from collections.abc import Collection, Iterable

import msgspec

from accounts.selectors.friends import friends_of, waiting_requests
from accounts.selectors.inbox import InboxMarks, marks_of
from accounts.selectors.people import PlayerCard, players_by_id
from accounts.selectors.presence import shown_online
from common import states

FRIENDS = "friends"
INBOX_READ = "inbox-read"
MOST_TOLD = 1_000
"""When more players come or go at once, as in a crash, their friends learn it by the comparison, seconds later."""


class FriendData(msgspec.Struct, frozen=True):
    """A friend who is online."""

    name: str
    kind: str


class FriendsData(msgspec.Struct, frozen=True):
    """All of what the stream shows: `online` are friends, in the order of their names."""

    online: list[FriendData]
    friends: int
    requests: int


class FriendsStates:
    """The owner of the streams `friends:<player id>` (see common/states.py)."""

    def admit(self, stream: str, player_id: int) -> None:
        """Everybody follows their own; the scope keeps guests out."""

    def current(self, streams: Collection[str]) -> dict[str, FriendsData]:
        """What each of these streams shows: three queries, and a question to Redis for each thousand friends."""
        owners = {stream: int(stream.partition(":")[2]) for stream in streams}
        friends = friends_of(owners.values())
        cards = players_by_id(shown_online(frozenset().union(*friends.values())))
        waiting = waiting_requests(owners.values())
        return {
            stream: FriendsData(
                online=_sorted(cards[friend] for friend in friends[owner] & cards.keys()),
                friends=len(friends[owner]),
                requests=waiting.get(owner, 0),
            )
            for stream, owner in owners.items()
        }


def _sorted(cards: Iterable[PlayerCard]) -> list[FriendData]:
    friends = [FriendData(card.name, str(card.kind)) for card in cards]
    return sorted(friends, key=lambda friend: friend.name.lower())


class InboxReadData(msgspec.Struct, frozen=True):
    """Up to which item the inbox has been read."""

    read: int


class InboxReadStates:
    """The owner of the streams `inbox-read:<player id>`."""

    def admit(self, stream: str, player_id: int) -> None:
        """Everybody follows their own."""

    def current(self, streams: Collection[str]) -> dict[str, InboxReadData]:
        """What each of these streams shows."""
        owners = {stream: int(stream.partition(":")[2]) for stream in streams}
        marks = marks_of(owners.values())
        return {
            stream: InboxReadData(marks.get(owner, InboxMarks()).read)
            for stream, owner in owners.items()
        }


def register() -> None:
    states.register(FRIENDS, FriendsStates(), personal=True, scope="friends")
    states.register(INBOX_READ, InboxReadStates(), personal=True)


def touch_marks(player_id: int) -> None:
    """The player has read more of the inbox."""
    states.touch(f"{INBOX_READ}:{player_id}")


def touch(player_ids: Iterable[int]) -> None:
    """What these players see of their friends has changed."""
    states.touch(*(f"{FRIENDS}:{player_id}" for player_id in player_ids))


def touch_friends(player_ids: Collection[int]) -> None:
    """These players came or went: their friends who are here see it."""
    if 0 < len(player_ids) <= MOST_TOLD:
        touch(shown_online(frozenset().union(*friends_of(player_ids).values())))
