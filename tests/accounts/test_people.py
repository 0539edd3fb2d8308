"""Players come to be: names, guests, CPU players."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth import authenticate
from django.db import IntegrityError, connections, transaction

from accounts import selectors
from accounts.errors import InvalidNameError, NameTakenError, UnknownPlayerError
from accounts.models import Player
from accounts.rules import GUEST_SCOPES
from accounts.services.people import cpu_player, create_guest, create_player

pytestmark = pytest.mark.django_db


def test_a_player_has_no_password_and_no_rights() -> None:
    player = create_player(name="Ada")
    player.refresh_from_db()
    assert not player.has_usable_password()
    assert (player.kind, player.level) == ("registered", "")
    assert (player.is_staff, player.is_superuser, player.is_active) == (False, False, True)


def test_staff_sign_in_with_the_password_and_the_name_in_any_case() -> None:
    create_player(name="Boss", staff=True, password="correct horse")
    boss = authenticate(username="bOSS", password="correct horse")
    assert boss is not None
    assert boss.get_username() == "Boss"
    assert boss.has_perm("accounts.change_player")
    assert authenticate(username="Boss", password="wrong") is None


@pytest.mark.parametrize("name", ["", "x", "9a", "Guest-abc", "CPU-Starter", "a b", "a" * 25])
def test_names_that_nobody_can_take(name: str) -> None:
    with pytest.raises(InvalidNameError):
        create_player(name=name)
    assert not Player.objects.exists()


def test_names_differ_in_more_than_case() -> None:
    create_player(name="Ada")
    with pytest.raises(NameTakenError) as refused:
        create_player(name="ADA")
    assert refused.value.problem()["code"] == "name-taken"
    assert [p.name for p in Player.objects.all()] == ["Ada"]


@pytest.mark.parametrize("name", ["ADA", "x", "no good"])
def test_the_database_itself_refuses_bad_and_taken_names(name: str) -> None:
    create_player(name="Ada")
    with pytest.raises(IntegrityError), transaction.atomic():
        Player.objects.create(name=name)


@pytest.mark.django_db(transaction=True)
def test_a_name_wanted_twenty_times_at_once_goes_to_one() -> None:
    def attempt(number: int) -> bool:
        try:
            create_player(name="ada" if number % 2 else "ADA")
        except NameTakenError:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(attempt, range(20)))
    assert won.count(True) == 1
    assert Player.objects.count() == 1


def test_a_guest_has_a_token_with_few_scopes() -> None:
    player, secret = create_guest()
    caller = selectors.authenticate(secret)
    assert (caller.player_id, caller.name, caller.kind) == (player.pk, player.name, "guest")
    assert caller.scopes == GUEST_SCOPES
    assert player.name.startswith("Guest-")
    assert not player.has_usable_password()


@pytest.mark.django_db(transaction=True)
def test_the_player_of_a_cpu_level_is_made_once() -> None:
    def ask(_: int) -> int:
        try:
            return cpu_player("starter").pk
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(16)))) == 1
    player = Player.objects.get()
    assert (player.name, player.kind, player.level) == ("CPU-Starter", "bot", "starter")


@pytest.mark.parametrize("level", ["", "no such level", "x" * 21])
def test_a_level_that_can_be_no_name_is_refused(level: str) -> None:
    with pytest.raises(InvalidNameError):
        cpu_player(level)


def test_cards_tell_what_clients_may_know(django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    ada, cpu = create_player(name="Ada"), cpu_player("club")
    with django_assert_num_queries(1):
        cards = selectors.players_by_id([ada.pk, cpu.pk, 0])
    assert cards == {
        ada.pk: selectors.PlayerCard(ada.pk, "Ada", "registered", ""),
        cpu.pk: selectors.PlayerCard(cpu.pk, "CPU-Club", "bot", "club"),
    }


def test_players_are_found_in_any_case_and_banned_ones_are_not() -> None:
    ada = create_player(name="Ada")
    assert selectors.player_named("aDA").pk == ada.pk
    Player.objects.update(is_active=False)
    for name in ("Ada", "nobody", "a\0b"):
        with pytest.raises(UnknownPlayerError):
            selectors.player_named(name)
