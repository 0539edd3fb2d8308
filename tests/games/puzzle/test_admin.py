"""Runs, days and bests in the admin site: boards are drawn, nothing is changed, and no seed is shown too early."""

from datetime import date
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.services.people import create_player
from games.puzzle import rules
from games.puzzle.models import Daily, Run
from games.puzzle.services import begin
from tests.games.puzzle.tables import STRICT, placed, play_out, registered, started

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def site() -> Client:
    client = Client()
    client.force_login(create_player(name="Boss", staff=True))
    return client


def page(site: Client, model: str, pk: object) -> str:
    return site.get(reverse(f"admin:puzzle_{model}_change", args=[pk])).content.decode()


@pytest.mark.parametrize(("model", "count"), [("run", 10), ("best", 10), ("daily", 10)])
def test_a_list_asks_as_much_for_twenty_as_for_two(
    site: Client, model: str, count: int, django_assert_max_num_queries: Any
) -> None:
    day = date(2026, 5, 6)
    for player in registered(20):
        placed(started(player), 2)
        started(player)
        begin.play_daily(player_id=player, day=day, clock=lambda: rules.opens_at(day))
    with django_assert_max_num_queries(count):
        listed = site.get(reverse(f"admin:puzzle_{model}_changelist"))
    assert listed.content.decode().count(f"/admin/puzzle/{model}/") >= (
        1 if model == "daily" else 20
    )


def test_a_page_shows_the_board_and_the_latest_events(site: Client) -> None:
    run = started(registered(1)[0])
    placed(run, 3)
    shown = page(site, "run", run)
    assert "<svg" in shown
    assert shown.count("block_placed") == 3
    before = Run.objects.values().get()
    address = reverse("admin:puzzle_run_change", args=[run])
    assert site.post(address, {"score": 9_999}).status_code == 403
    assert Run.objects.values().get() == before


def test_runs_are_found_by_player_and_state(site: Client) -> None:
    one, two = registered(2, "Ann")
    mine, theirs = started(one), started(two, STRICT)
    play_out(theirs)
    address = reverse("admin:puzzle_run_changelist")
    found = site.get(address, {"q": "Ann0"}).content.decode()
    assert mine in found
    assert theirs not in found
    over = site.get(address, {"status__exact": "over"}).content.decode()
    assert theirs in over
    assert mine not in over


def test_seeds_are_shown_when_they_are_public(site: Client) -> None:
    (player,) = registered(1)
    running = started(player)
    over = started(player, STRICT)
    play_out(over)
    secret = Run.objects.get(id=running).seed.hex()
    assert secret not in page(site, "run", running)
    assert Run.objects.get(id=over).seed.hex() in page(site, "run", over)
    day = date(2026, 5, 6)
    begin.play_daily(player_id=player, day=day, clock=lambda: rules.opens_at(day))
    daily = Daily.objects.get()
    assert daily.seed.hex() not in page(site, "daily", day)
    attempts = site.get(reverse("admin:puzzle_run_changelist"), {"daily__exact": str(day)})
    assert attempts.status_code == 200
    assert attempts.content.decode().count("daily</td>") == 1
    begin.practise_daily(player_id=player, day=day)
    assert daily.seed.hex() in page(site, "daily", day)
