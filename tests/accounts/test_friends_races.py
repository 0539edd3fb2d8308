"""Friends, requests and blocks, when several people do things at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from random import Random
from threading import Barrier
from typing import Any, Self

import pytest
from django.db import connections

from accounts.errors import TooManyFriendsError, UnknownFriendRequestError
from accounts.models import Block, Friendship
from accounts.selectors.friends import friend_ids, is_blocked_between
from accounts.services import friends
from accounts.services.friends import (
    accept_friend,
    ask_friend,
    block,
    drop_request,
    remove_friend,
    unblock,
)
from common.errors import KadoError
from tests.accounts.test_friends import NOW, ask, inbox, people

Work = Callable[[], Any]
ROUNDS = 500


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
