"""The admin's lists of friendships and blocks."""

from itertools import pairwise
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Block, Friendship, Player
from accounts.services.people import create_player
from tests.accounts.test_admin import site  # noqa: F401  (a fixture)
from tests.accounts.test_friends import NOW, ask, befriended

pytestmark = pytest.mark.django_db


def _populate(count: int) -> list[Player]:
    """In pairs: friends, a request, a block each."""
    players = [create_player(name=f"Player{n}") for n in range(count)]
    for number, (first, second) in enumerate(pairwise(players)):
        befriended(first, second) if number % 2 else ask(first, second)
        Block.objects.create(blocker=second, blocked=players[0], at=NOW)
    return players


@pytest.mark.parametrize("model", ["friendship", "block"])
def test_lists_show_a_player_on_either_side_in_few_queries(
    site: Client,  # noqa: F811
    model: str,
    django_assert_max_num_queries: Any,
) -> None:
    _populate(30)
    address = reverse(f"admin:accounts_{model}_changelist")
    with django_assert_max_num_queries(8):
        assert "Player29" in site.get(address).content.decode()
    page = site.get(address, {"q": "pLAYER1"}).content.decode()
    assert ">Player1</a>" in page
    assert ">Player0</a>" in page
    assert ">Player3</a>" not in page
    assert "Player1" not in site.get(address, {"q": "Player"}).content.decode()


def test_requests_are_told_from_friends(site: Client) -> None:  # noqa: F811
    _populate(3)
    address = reverse("admin:accounts_friendship_changelist")
    pending = site.get(address, {"since__isempty": "1"}).content.decode()
    assert "no answer yet" in pending
    assert "Player2" not in pending
    assert "no answer yet" not in site.get(address, {"since__isempty": "0"}).content.decode()


@pytest.mark.parametrize("model", [Friendship, Block])
def test_nothing_is_changed_here(site: Client, model: type[Any]) -> None:  # noqa: F811
    _populate(2)
    row, name = model.objects.get(), model._meta.model_name
    change = reverse(f"admin:accounts_{name}_change", args=[row.pk])
    assert site.get(change).status_code == 200
    assert site.post(change, {"since": 1}).status_code == 403
    assert site.post(reverse(f"admin:accounts_{name}_delete", args=[row.pk])).status_code == 403
    assert site.get(reverse(f"admin:accounts_{name}_add")).status_code == 403


def test_the_players_page_leads_there(site: Client) -> None:  # noqa: F811
    player, _ = _populate(2)
    page = site.get(reverse("admin:accounts_player_change", args=[player.pk])).content.decode()
    for name in ("friendship", "block"):
        address = reverse(f"admin:accounts_{name}_changelist", query={"q": player.name})
        assert f'href="{address}"' in page
        assert "Player1" in site.get(address).content.decode()
