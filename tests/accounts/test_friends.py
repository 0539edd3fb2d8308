"""Friends, requests and blocks."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from accounts.models import Block, Friendship, Player
from accounts.selectors.friends import are_friends, blocked_with, friend_ids, is_blocked_between
from accounts.services.people import create_player

NOW = 1_800_000_000_000


def people(*names: str) -> list[Player]:
    return [create_player(name=name) for name in names]


def befriended(one: Player, other: Player) -> Friendship:
    return Friendship.objects.create(sender=one, recipient=other, asked_at=NOW, since=NOW)


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
