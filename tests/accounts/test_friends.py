"""Friends, requests and blocks."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from random import Random
from threading import Barrier
from typing import Any, Self

import msgspec
import pytest
from django.db import IntegrityError, connection, connections, transaction
from django.db.models import Q, QuerySet

from accounts import selectors
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
from accounts.models import Block, Friendship, Player
from accounts.selectors.friends import are_friends, blocked_with, friend_ids, is_blocked_between
from accounts.services import friends
from accounts.services.friends import (
    NOTES,
    accept_friend,
    ask_friend,
    block,
    drop_request,
    remove_friend,
    take_requests_from,
    unblock,
)
from accounts.services.own_data.friends import FriendsData, erase_friends, export_friends
from accounts.services.people import cpu_player, create_player, new_guest
from accounts.signals import block_made, friends_changed
from common.clock import to_datetime
from common.errors import KadoError

NOW = 1_800_000_000_000

Told = list[Any]
Work = Callable[[], Any]


def people(*names: str) -> list[Player]:
    return [create_player(name=name) for name in names]


def befriended(one: Player, other: Player) -> Friendship:
    return Friendship.objects.create(sender=one, recipient=other, asked_at=NOW, since=NOW)


def ask(one: Player, other: Player) -> Friendship:
    return ask_friend(player_id=one.pk, other_id=other.pk, now=NOW)


def inbox(player: Player) -> list[Any]:
    return [msgspec.json.decode(note.payload) for note in selectors.inbox_after(player.pk, 0)]


class Threads:
    """So many threads with a database connection each, which do things at once."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count)
        self._barrier = Barrier(count)
        self._count = count

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self(*[connections.close_all] * self._count)
        self._pool.shutdown()

    def __call__(self, *works: Work) -> list[Any]:
        """What each answered, or with what it was refused, when all began together."""
        return list(self._pool.map(self._run, works))

    def _run(self, work: Work) -> Any:
        self._barrier.wait()
        try:
            return work()
        except KadoError as refusal:
            return refusal


@pytest.fixture
def told() -> Iterator[Told]:
    """What the signals have said."""
    heard: Told = []

    def changed(player_ids: tuple[int, ...], **_: Any) -> None:
        heard.append(set(player_ids))

    def blocks(blocker_id: int, blocked_id: int, **_: Any) -> None:
        heard.append(("blocks", blocker_id, blocked_id))

    friends_changed.connect(changed)
    block_made.connect(blocks)
    yield heard
    friends_changed.disconnect(changed)
    block_made.disconnect(blocks)


@pytest.mark.django_db
def test_friends_are_found_from_either_side_and_requests_are_none() -> None:
    ada, bob, eve, joe = people("Ada", "Bob", "Eve", "Joe")
    befriended(ada, bob)
    befriended(eve, ada)
    Friendship.objects.create(sender=joe, recipient=ada, asked_at=NOW)
    assert friend_ids(ada.pk) == {bob.pk, eve.pk}
    assert friend_ids(joe.pk) == frozenset()
    assert are_friends(ada.pk, bob.pk)
    assert are_friends(bob.pk, ada.pk)
    assert not are_friends(ada.pk, joe.pk)
    assert not are_friends(bob.pk, eve.pk)
    assert not are_friends(ada.pk, ada.pk)


@pytest.mark.django_db
def test_blocks_are_known_to_both_sides_in_one_query(django_assert_num_queries: Any) -> None:
    ada, bob, eve, joe = people("Ada", "Bob", "Eve", "Joe")
    Block.objects.create(blocker=ada, blocked=bob, at=NOW)
    Block.objects.create(blocker=eve, blocked=ada, at=NOW)
    with django_assert_num_queries(1):
        found = blocked_with([ada.pk, bob.pk, joe.pk])
    assert found == {
        ada.pk: frozenset({bob.pk, eve.pk}),
        bob.pk: frozenset({ada.pk}),
        joe.pk: frozenset(),
    }
    assert is_blocked_between(ada.pk, bob.pk)
    assert is_blocked_between(bob.pk, ada.pk)
    assert not is_blocked_between(bob.pk, eve.pk)


@pytest.mark.django_db
def test_the_database_itself_knows_one_tie_a_pair_and_one_block_a_direction() -> None:
    ada, bob = people("Ada", "Bob")
    befriended(ada, bob)
    Block.objects.create(blocker=ada, blocked=bob, at=NOW)
    Block.objects.create(blocker=bob, blocked=ada, at=NOW)
    for refused in (
        lambda: Friendship.objects.create(sender=bob, recipient=ada, asked_at=NOW),
        lambda: Friendship.objects.create(sender=ada, recipient=bob, asked_at=NOW, since=NOW),
        lambda: Friendship.objects.create(sender=ada, recipient=ada, asked_at=NOW),
        lambda: Block.objects.create(blocker=ada, blocked=bob, at=NOW),
        lambda: Block.objects.create(blocker=ada, blocked=ada, at=NOW),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            refused()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "asked",
    [
        friends._ties(1, 2),
        Friendship.objects.filter(sender__in=[1, 2], since__isnull=False),
        Friendship.objects.filter(recipient=1, since=None),
        Friendship.objects.filter(Q(sender__in=[1]) | Q(recipient__in=[1])),
        Block.objects.filter(Q(blocker__in=[1, 2]) | Q(blocked__in=[1, 2])),
        Block.objects.filter(blocker=1, blocked=2),
    ],
)
def test_what_is_asked_all_the_time_has_an_index(asked: QuerySet[Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")  # few rows are read sooner without one
        assert "Seq Scan" not in asked.explain()


# Asking and answering


@pytest.mark.django_db(transaction=True)
def test_a_request_is_accepted_and_each_side_hears_of_the_other(told: Told) -> None:
    ada, bob = people("Ada", "Bob")
    tie = ask(ada, bob)
    assert tie.since is None
    assert friend_ids(ada.pk) == frozenset()
    assert ask(ada, bob) == tie  # said twice
    assert inbox(bob) == [{"type": "friend_requested", "player": "Ada"}]
    accepted = accept_friend(player_id=bob.pk, other_id=ada.pk, now=NOW + 1)
    assert (accepted.pk, accepted.since) == (tie.pk, NOW + 1)
    assert accept_friend(player_id=bob.pk, other_id=ada.pk, now=NOW + 2).since == NOW + 1
    assert ask(ada, bob).since == ask(bob, ada).since == NOW + 1
    assert inbox(ada) == [{"type": "friend_accepted", "player": "Bob"}]
    assert len(inbox(bob)) == 1
    assert are_friends(ada.pk, bob.pk)
    assert told == [{ada.pk, bob.pk}] * 2


@pytest.mark.django_db(transaction=True)
def test_asking_whom_one_was_asked_by_accepts(told: Told) -> None:
    ada, bob = people("Ada", "Bob")
    ask(ada, bob)
    assert ask(bob, ada).since == NOW
    assert inbox(ada) == [{"type": "friend_accepted", "player": "Bob"}]
    assert inbox(bob) == [{"type": "friend_requested", "player": "Ada"}]


@pytest.mark.django_db(transaction=True)
def test_declining_taking_back_and_parting_are_silent(told: Told) -> None:
    ada, bob = people("Ada", "Bob")
    for one, other in ((bob, ada), (ada, bob)):  # Bob declines; Ada takes back
        ask(ada, bob)
        drop_request(player_id=one.pk, other_id=other.pk)
        drop_request(player_id=one.pk, other_id=other.pk)
        with pytest.raises(UnknownFriendRequestError):
            accept_friend(player_id=bob.pk, other_id=ada.pk, now=NOW)
    befriended(ada, bob)
    drop_request(player_id=ada.pk, other_id=bob.pk)  # ends no friendship
    assert are_friends(ada.pk, bob.pk)
    remove_friend(player_id=bob.pk, other_id=ada.pk)
    remove_friend(player_id=bob.pk, other_id=ada.pk)
    assert not are_friends(ada.pk, bob.pk)
    assert inbox(ada) == []
    assert {note["type"] for note in inbox(bob)} == {"friend_requested"}
    assert told == [{ada.pk, bob.pk}] * 5


@pytest.mark.django_db
def test_nobody_accepts_their_own_request() -> None:
    ada, bob = people("Ada", "Bob")
    ask(ada, bob)
    with pytest.raises(UnknownFriendRequestError):
        accept_friend(player_id=ada.pk, other_id=bob.pk, now=NOW)


@pytest.mark.django_db
def test_who_cannot_be_asked_and_who_cannot_ask() -> None:
    (ada,) = people("Ada")
    guest, cpu = new_guest(), cpu_player("starter")
    banned = create_player(name="Gone")
    Player.objects.filter(pk=banned.pk).update(is_active=False)
    for other in (ada, guest, cpu):
        with pytest.raises(CannotBefriendError):
            ask(ada, other)
    with pytest.raises(UnknownPlayerError):
        ask(ada, banned)
    with pytest.raises(NotForGuestsError):
        ask(guest, ada)
    assert not Friendship.objects.exists()


@pytest.mark.django_db
def test_who_takes_requests_from_nobody_gets_none_and_may_still_ask() -> None:
    ada, bob, eve = people("Ada", "Bob", "Eve")
    ask(eve, bob)
    take_requests_from(player_id=bob.pk, who="nobody")
    with pytest.raises(RequestsClosedError):
        ask(ada, bob)
    assert accept_friend(player_id=bob.pk, other_id=eve.pk, now=NOW).since == NOW
    ask(bob, ada)
    assert ask(ada, bob).since == NOW  # an answer, not a request
    take_requests_from(player_id=bob.pk, who="everybody")
    assert inbox(bob) == [
        {"type": "friend_requested", "player": "Eve"},
        {"type": "friend_accepted", "player": "Ada"},
    ]


@pytest.mark.django_db
def test_requests_that_come_again_and_again_are_listed_and_no_longer_told() -> None:
    ada, bob = people("Ada", "Bob")
    for _ in range(NOTES.burst + 2):
        ask(ada, bob)
        drop_request(player_id=bob.pk, other_id=ada.pk)
    assert len(inbox(bob)) == NOTES.burst
    assert ask(ada, bob).since is None


@pytest.mark.django_db
def test_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, most in (("FRIENDS", 1), ("SENT", 2), ("RECEIVED", 2), ("BLOCKS", 1)):
        monkeypatch.setattr(friends, f"MOST_{name}", most)
    ada, bob, eve, joe, kim = people("Ada", "Bob", "Eve", "Joe", "Kim")
    ask(ada, bob)
    ask(ada, eve)
    with pytest.raises(TooManyFriendRequestsError) as sent:
        ask(ada, joe)
    assert sent.value.data == {"limit": 2, "player": "Ada"}
    ask(joe, eve)
    with pytest.raises(TooManyFriendRequestsError) as received:
        ask(kim, eve)
    assert received.value.data == {"limit": 2, "player": "Eve"}
    accept_friend(player_id=bob.pk, other_id=ada.pk, now=NOW)
    for asks, other in ((ada, joe), (eve, ada), (bob, kim)):
        with pytest.raises(TooManyFriendsError) as full:
            ask(asks, other)
        assert full.value.data == {"limit": 1, "player": "Bob" if asks == bob else "Ada"}
    block(player_id=ada.pk, other_id=kim.pk, now=NOW)
    with pytest.raises(TooManyBlocksError):
        block(player_id=ada.pk, other_id=joe.pk, now=NOW)
    block(player_id=ada.pk, other_id=kim.pk, now=NOW)


# Blocks


@pytest.mark.django_db(transaction=True)
def test_a_block_ends_everything_between_the_two_silently(told: Told) -> None:
    ada, bob, eve = people("Ada", "Bob", "Eve")
    befriended(ada, bob)
    ask(eve, ada)
    for other in (bob, eve):
        made = block(player_id=ada.pk, other_id=other.pk, now=NOW)
        assert block(player_id=ada.pk, other_id=other.pk, now=NOW + 5) == made
    assert not Friendship.objects.exists()
    assert inbox(bob) == inbox(eve) == []
    assert told == [
        {ada.pk, eve.pk},
        *({ada.pk, bob.pk}, ("blocks", ada.pk, bob.pk)),
        *({ada.pk, eve.pk}, ("blocks", ada.pk, eve.pk)),
    ]
    # The blocked one is not told why; the one who blocks is.
    with pytest.raises(RequestsClosedError):
        ask(bob, ada)
    with pytest.raises(PlayerBlockedError):
        ask(ada, bob)
    unblock(player_id=bob.pk, other_id=ada.pk)  # not Bob's to end
    assert is_blocked_between(ada.pk, bob.pk)
    unblock(player_id=ada.pk, other_id=bob.pk)
    unblock(player_id=ada.pk, other_id=bob.pk)
    assert not is_blocked_between(ada.pk, bob.pk)
    assert ask(bob, ada).since is None


@pytest.mark.django_db
def test_blocks_in_both_directions_are_two() -> None:
    ada, bob = people("Ada", "Bob")
    block(player_id=ada.pk, other_id=bob.pk, now=NOW)
    block(player_id=bob.pk, other_id=ada.pk, now=NOW)
    unblock(player_id=ada.pk, other_id=bob.pk)
    assert blocked_with([ada.pk]) == {ada.pk: {bob.pk}}


@pytest.mark.django_db
def test_who_cannot_be_blocked() -> None:
    (ada,) = people("Ada")
    for other in (ada, cpu_player("starter")):
        with pytest.raises(CannotBlockError):
            block(player_id=ada.pk, other_id=other.pk, now=NOW)
    guest = new_guest()
    with pytest.raises(NotForGuestsError):
        block(player_id=guest.pk, other_id=ada.pk, now=NOW)
    block(player_id=ada.pk, other_id=guest.pk, now=NOW)


# At once

ROUNDS = 500


@pytest.mark.django_db(transaction=True)
def test_two_who_ask_each_other_at_once_are_friends_once() -> None:
    ada, bob = people("Ada", "Bob")
    with Threads(2) as at_once:
        for _ in range(ROUNDS):
            ties = at_once(partial(ask, ada, bob), partial(ask, bob, ada))
            row = Friendship.objects.get()
            assert row.since == NOW
            assert sorted(tie.since is None for tie in ties) == [False, True]
            assert {tie.pk for tie in ties} == {row.pk}
            row.delete()
    notes = [note["type"] for player in (ada, bob) for note in inbox(player)]
    assert notes.count("friend_accepted") == ROUNDS


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("rival", ["block", "blocked", "cancel", "decline", "remove"])
def test_an_answer_against_its_opposite_leaves_one_truth(rival: str) -> None:
    ada, bob = people("Ada", "Bob")
    opposites: dict[str, Work] = {
        "block": partial(block, player_id=bob.pk, other_id=ada.pk, now=NOW),
        "blocked": partial(block, player_id=ada.pk, other_id=bob.pk, now=NOW),
        "cancel": partial(drop_request, player_id=ada.pk, other_id=bob.pk),
        "decline": partial(drop_request, player_id=bob.pk, other_id=ada.pk),
        "remove": partial(remove_friend, player_id=ada.pk, other_id=bob.pk),
    }
    accept = partial(accept_friend, player_id=bob.pk, other_id=ada.pk, now=NOW)
    with Threads(2) as at_once:
        for _ in range(40):
            Friendship.objects.create(sender=ada, recipient=bob, asked_at=NOW)
            accepted, other = at_once(accept, opposites[rival])
            assert not isinstance(other, Exception)
            refused = isinstance(accepted, UnknownFriendRequestError)
            assert refused or accepted.since == NOW
            ties = list(Friendship.objects.values_list("since", flat=True))
            if rival in ("block", "blocked"):
                assert ties == []
            elif rival == "remove":
                assert not refused
            else:
                assert ties == ([] if refused else [NOW])
            Friendship.objects.all().delete()
            Block.objects.all().delete()


@pytest.mark.django_db(transaction=True)
def test_limits_hold_when_many_are_accepted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(friends, "MOST_FRIENDS", 3)
    ada, *others = people("Ada", *(f"Bob{n}" for n in range(8)))
    for other in others:
        ask(other, ada)
    accept = partial(accept_friend, player_id=ada.pk, now=NOW)
    with Threads(8) as at_once:
        answers = at_once(*(partial(accept, other_id=other.pk) for other in others))
    assert sum(isinstance(answer, TooManyFriendsError) for answer in answers) == 5
    assert len(friend_ids(ada.pk)) == 3


@pytest.mark.django_db(transaction=True)
def test_a_crowd_that_does_everything_to_each_other_never_waits_in_a_circle() -> None:
    crowd = people(*(f"Bob{n}" for n in range(4)))
    verbs: list[Callable[[int, int], object]] = [
        lambda a, b: ask_friend(player_id=a, other_id=b, now=NOW),
        lambda a, b: accept_friend(player_id=a, other_id=b, now=NOW),
        lambda a, b: remove_friend(player_id=a, other_id=b),
        lambda a, b: block(player_id=a, other_id=b, now=NOW),
        lambda a, b: unblock(player_id=a, other_id=b),
    ]

    def live(seed: int) -> None:
        random = Random(seed)
        for _ in range(60):
            a, b = random.sample(crowd, 2)
            with suppress(KadoError):
                random.choice(verbs)(a.pk, b.pk)

    with Threads(4) as at_once:
        assert at_once(*(partial(live, seed) for seed in range(4))) == [None] * 4
    for tie in Friendship.objects.all():
        assert not is_blocked_between(tie.sender_id, tie.recipient_id)


# A person's own data


@pytest.mark.django_db(transaction=True)
def test_what_is_exported_and_what_an_erasure_leaves(told: Told) -> None:
    ada, bob, eve, joe, kim, lea = people("Ada", "Bob", "Eve", "Joe", "Kim", "Lea")
    befriended(ada, bob)
    befriended(eve, ada)
    befriended(eve, bob)
    ask(ada, joe)
    ask(kim, ada)
    block(player_id=ada.pk, other_id=lea.pk, now=NOW)
    block(player_id=lea.pk, other_id=ada.pk, now=NOW)
    take_requests_from(player_id=ada.pk, who="nobody")
    found = export_friends(ada.pk)
    lists = (found.friends, found.sent, found.received, found.blocks)
    names = [[line.player for line in lines] for lines in lists]
    assert names == [["Bob", "Eve"], ["Joe"], ["Kim"], ["Lea"]]
    assert found.requests_from == "nobody"
    assert {line.since for lines in lists for line in lines} == {to_datetime(NOW)}
    with transaction.atomic():
        erase_friends(ada.pk)
    assert export_friends(ada.pk) == FriendsData("everybody", [], [], [], [])
    assert Friendship.objects.get().sender == eve
    assert not Block.objects.exists()
    assert told[-1] == {bob.pk, eve.pk, joe.pk, kim.pk}
