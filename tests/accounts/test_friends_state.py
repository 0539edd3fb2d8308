"""The state stream `friends`."""

from collections.abc import Iterator
from typing import Any

import pytest
from redis import Redis

from accounts.models import Friendship, Player
from accounts.presence import GRACE_MS, Presence, presence
from accounts.services.friends import block
from accounts.services.people import create_player
from accounts.services.presence import attend
from accounts.states import MOST_TOLD, FriendData, FriendsData, FriendsStates
from tests.accounts.test_friends import NOW, ask, befriended, people


@pytest.fixture
def touched(redis: Redis) -> Iterator[Any]:
    """The ids of the players whose streams were said to have changed, since it was last asked."""
    presence.cache_clear()
    listener = redis.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
    listener.psubscribe("kado-state:friends:*")
    listener.get_message(timeout=2)

    def since_then() -> set[int]:
        found = set()
        while message := listener.get_message(timeout=0.2):
            found.add(int(message["channel"].rpartition(b":")[2]))
        return found

    yield since_then
    listener.close()


def state(*players: Player) -> list[FriendsData]:
    shown = FriendsStates().current([f"friends:{player.pk}" for player in players])
    return [shown[f"friends:{player.pk}"] for player in players]


@pytest.mark.django_db
def test_it_shows_friends_who_are_online_and_nobody_else(
    redis: Redis, django_assert_num_queries: Any
) -> None:
    presence.cache_clear()
    ada, bob, eve, joe, kim = people("Ada", "Bob", "eve", "Joe", "Kim")
    for other in (bob, eve, joe):
        befriended(ada, other)
    ask(kim, ada)
    Presence(redis).enter("one", [ada.pk, bob.pk, eve.pk, kim.pk], now=NOW)
    Player.objects.filter(pk=joe.pk).update(is_active=False)
    with django_assert_num_queries(4):
        found = state(ada, bob, kim)
    bob_and_eve = [FriendData("Bob", "registered"), FriendData("eve", "registered")]
    assert found == [
        FriendsData(online=bob_and_eve, friends=2, requests=1),
        FriendsData(online=[FriendData("Ada", "registered")], friends=1, requests=0),
        FriendsData(online=[], friends=0, requests=0),
    ]
    block(player_id=eve.pk, other_id=ada.pk, now=NOW)
    block(player_id=ada.pk, other_id=kim.pk, now=NOW)
    assert state(ada, eve) == [
        FriendsData(online=bob_and_eve[:1], friends=1, requests=0),
        FriendsData(online=[], friends=0, requests=0),
    ]


@pytest.mark.django_db(transaction=True)
def test_who_is_told_of_what(redis: Redis, touched: Any) -> None:
    ada, bob, eve, joe = people("Ada", "Bob", "Eve", "Joe")
    ask(ada, bob)
    assert touched() == {ada.pk, bob.pk}
    befriended(ada, eve)
    befriended(joe, ada)
    here = frozenset({eve.pk})
    attend(process="one", before=frozenset(), players=here, now=NOW)
    assert touched() == set()  # none of Eve's friends is here
    attend(process="one", before=here, players=here | {ada.pk}, now=NOW)
    assert touched() == {eve.pk}  # Joe is not here, and Bob no friend
    attend(process="one", before=here | {ada.pk}, players=here, now=NOW)
    attend(process="one", before=here, players=here, now=NOW + GRACE_MS)
    assert touched() == {eve.pk}


@pytest.mark.django_db(transaction=True)
def test_a_crowd_that_comes_at_once_is_left_to_the_comparison(touched: Any) -> None:
    ada, bob = people("Ada", "Bob")
    befriended(ada, bob)
    crowd = frozenset(range(10**6, 10**6 + MOST_TOLD)) | {ada.pk, bob.pk}
    attend(process="one", before=frozenset(), players=crowd, now=NOW)
    assert touched() == set()
    assert state(ada)[0].online == [FriendData("Bob", "registered")]


@pytest.mark.django_db
def test_the_streams_of_many_are_read_together(
    redis: Redis, django_assert_num_queries: Any
) -> None:
    presence.cache_clear()
    crowd = [create_player(name=f"Bob{n}") for n in range(30)]
    Friendship.objects.bulk_create(
        Friendship(sender=one, recipient=other, asked_at=NOW, since=NOW)
        for number, one in enumerate(crowd)
        for other in crowd[:number]
    )
    Presence(redis).enter("one", [player.pk for player in crowd], now=NOW)
    with django_assert_num_queries(4):
        assert all(len(shown.online) == 29 for shown in state(*crowd))
