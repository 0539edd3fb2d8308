"""The admin site: pages open with few queries, secrets stay out, what must not change cannot."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts import selectors
from accounts.errors import InvalidTokenError
from accounts.models import AccessToken, Player
from accounts.services.inbox import notify
from accounts.services.people import create_player
from accounts.services.ratings import rate_game
from accounts.services.tokens import issue_token
from tests.accounts.test_inbox import Greeting

pytestmark = pytest.mark.django_db

LISTS = ["player", "ratingrow", "ledgerrow", "inboxitem", "accesstoken"]


@pytest.fixture
def site() -> Client:
    client = Client()
    client.force_login(create_player(name="Boss", staff=True))
    return client


def test_staff_sign_in_with_name_and_password_and_others_do_not() -> None:
    create_player(name="Boss", staff=True, password="correct horse")
    create_player(name="Ada")
    client, address = Client(), reverse("admin:login")
    for wrong in ({"username": "Boss", "password": "x"}, {"username": "Ada", "password": ""}):
        assert client.post(address, wrong).status_code == 200
    assert client.get(reverse("admin:index")).status_code == 302
    right = {"username": "boss", "password": "correct horse"}
    assert client.post(address, right).status_code == 302
    assert client.get(reverse("admin:index")).status_code == 200


def _populate(count: int) -> None:
    players = [create_player(name=f"Player{n}") for n in range(count)]
    for number, player in enumerate(players):
        issue_token(player_id=player.pk, scopes=["play"], label=f"label{number}")
        notify(player_id=player.pk, event=Greeting(number))
    for first, second in zip(players[::2], players[1::2], strict=True):
        ranks = [(first.pk, 1), (second.pk, 2)]
        rate_game(game_id=f"game{first.pk:08}", key="duo:blitz", ranks=ranks, at=0)


@pytest.mark.parametrize("model", LISTS)
def test_a_list_asks_as_much_for_forty_rows_as_it_would_for_two(
    site: Client, model: str, django_assert_max_num_queries: Any
) -> None:
    _populate(40)
    address = reverse(f"admin:accounts_{model}_changelist")
    with django_assert_max_num_queries(8):  # two of them look for a second factor
        page = site.get(address, {"q": "player1"}).content.decode()
    assert "Player1" in page
    assert "Player2" not in page


def test_a_players_page_shows_standing_but_no_digest(site: Client) -> None:
    _populate(2)
    player = Player.objects.get(name="Player0")
    token = AccessToken.objects.get(player=player)
    page = site.get(reverse("admin:accounts_player_change", args=[player.pk])).content.decode()
    for expected in ("duo:blitz", "label0", token.hint, f"player__id__exact={player.pk}"):
        assert expected in page
    assert bytes(token.digest).hex() not in page
    for model in LISTS[2:]:
        address = reverse(f"admin:accounts_{model}_changelist")
        assert site.get(address, {"player__id__exact": player.pk}).status_code == 200


NO_INLINES = {
    f"{table}-{kind}_FORMS": 0
    for table in ("ratings", "tokens", "social_auth", "emails", "name_changes")
    for kind in ("TOTAL", "INITIAL")
}


def test_banning_a_player_in_the_admin_ends_the_tokens(site: Client) -> None:
    player = create_player(name="Cheat")
    _, secret = issue_token(player_id=player.pk, scopes=["play"])
    address = reverse("admin:accounts_player_change", args=[player.pk])
    assert site.post(address, {"name": "Cheat", **NO_INLINES}).status_code == 302
    with pytest.raises(InvalidTokenError):
        selectors.authenticate(secret)


def test_another_name_given_in_the_admin_is_noted(site: Client) -> None:
    player = create_player(name="Rude")
    address = reverse("admin:accounts_player_change", args=[player.pk])
    form = {"name": "Polite", "is_active": "on", **NO_INLINES}
    assert site.post(address, form).status_code == 302
    (change,) = selectors.name_history(player.pk)
    assert (change.old, change.new, change.cause) == ("Rude", "Polite", "operator")


@pytest.mark.parametrize("name", ["PLAYER0", "9lives"])
def test_a_name_that_cannot_be_is_refused_with_words(site: Client, name: str) -> None:
    _populate(2)
    fields = {"name": name, "usable_password": "false", "password1": "", "password2": ""}
    answer = site.post(reverse("admin:accounts_player_add"), fields)
    assert answer.status_code == 200
    assert "errorlist" in answer.content.decode()
    assert not Player.objects.filter(name=name).exists()


def test_a_player_can_be_added(site: Client) -> None:
    fields = {"name": "Ada", "usable_password": "false", "password1": "", "password2": ""}
    assert site.post(reverse("admin:accounts_player_add"), fields).status_code == 302
    assert not Player.objects.get(name="Ada").has_usable_password()


@pytest.mark.parametrize("model", ["ratingrow", "ledgerrow", "inboxitem", "accesstoken"])
def test_what_services_keep_consistent_is_read_only(site: Client, model: str) -> None:
    _populate(2)
    rows = {
        "ratingrow": "ratings",
        "ledgerrow": "rating_changes",
        "inboxitem": "inbox_items",
        "accesstoken": "tokens",
    }
    row = getattr(Player.objects.get(name="Player0"), rows[model]).get()
    before = type(row).objects.values().get(pk=row.pk)
    change = reverse(f"admin:accounts_{model}_change", args=[row.pk])
    assert site.get(change).status_code == 200
    assert site.post(change, {"mu": 9999}).status_code == 403
    assert site.post(reverse(f"admin:accounts_{model}_delete", args=[row.pk])).status_code == 403
    assert site.get(reverse(f"admin:accounts_{model}_add")).status_code == 403
    assert type(row).objects.values().get(pk=row.pk) == before


def test_tokens_are_revoked_from_their_list(site: Client) -> None:
    _, secret = issue_token(player_id=create_player(name="Ada").pk, scopes=["play"])
    token = AccessToken.objects.get()
    chosen = {"action": "revoke", "_selected_action": [token.pk]}
    assert site.post(reverse("admin:accounts_accesstoken_changelist"), chosen).status_code == 302
    with pytest.raises(InvalidTokenError):
        selectors.authenticate(secret)
