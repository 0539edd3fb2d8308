"""Games in the admin site: lists and pages open with few queries, show the board, and change nothing."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.services.people import create_player
from games.territory.models import Game
from tests.games.territory.tables import commit_moves, registered, started

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def site() -> Client:
    client = Client()
    client.force_login(create_player(name="Boss", staff=True))
    return client


@pytest.mark.parametrize("model", ["game", "engagement"])
def test_a_list_asks_as_much_for_twenty_games_as_for_two(
    site: Client, model: str, django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        started(registered(2, f"P{number}x"))
    with django_assert_max_num_queries(9):
        page = site.get(reverse(f"admin:territory_{model}_changelist"))
    assert page.content.decode().count("/admin/territory/") >= 20


def test_games_are_found_by_player_and_by_state(site: Client) -> None:
    game, other = started(registered(2, "One")), started(registered(2, "Two"))
    name = Game.objects.get(id=game).seats.select_related("player")[0].player.name
    address = reverse("admin:territory_game_changelist")
    found = site.get(address, {"q": name}).content.decode()
    assert game in found
    assert other not in found
    assert game not in site.get(address, {"status__exact": "finished"}).content.decode()


def test_a_page_shows_the_board_and_every_event(site: Client) -> None:
    game = started(registered(2))
    commit_moves(game, 3, now=Game.objects.get(id=game).events.all()[0].at + 1_000)
    address = reverse("admin:territory_game_change", args=[game])
    page = site.get(address).content.decode()
    assert "<svg" in page
    assert page.count("move_played") == 3
    before = Game.objects.get(id=game).version
    assert site.post(address, {"version": 99}).status_code == 403
    assert Game.objects.get(id=game).version == before
