"""Players come to be: names, guests, CPU players."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth import authenticate
from django.db import IntegrityError, connections, transaction
from django.utils import timezone

from accounts import selectors
from accounts.errors import (
    AlreadyRatedError,
    InvalidNameError,
    NameChangedLatelyError,
    NameTakenError,
    NotForGuestsError,
    UnknownPlayerError,
)
from accounts.models import NameChange, Player
from accounts.rules import GUEST_SCOPES
from accounts.services.people import (
    BETWEEN_CHANGES,
    become_bot,
    change_name,
    cpu_player,
    create_guest,
    create_player,
)
from accounts.services.ratings import rate_game
from accounts.signals import player_became_bot
from common.errors import ForbiddenError

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


# Names


def test_a_name_is_changed_and_the_old_one_stays_reserved() -> None:
    ada, eve = create_player(name="Ada"), create_player(name="Eve")
    assert change_name(player_id=ada.pk, name="Countess").name == "Countess"
    for taken in ("Ada", "ADA", "countess"):
        with pytest.raises(NameTakenError):
            change_name(player_id=eve.pk, name=taken)
        with pytest.raises(NameTakenError):
            create_player(name=taken)
    assert Player.objects.filter(name__in=["Countess", "Eve"]).count() == 2
    (change,) = selectors.name_history(ada.pk)
    assert (change.old, change.new, change.cause) == ("Ada", "Countess", "chosen")


def test_a_name_may_be_had_back_but_not_at_once() -> None:
    ada = create_player(name="Ada")
    change_name(player_id=ada.pk, name="Countess")
    assert change_name(player_id=ada.pk, name="Countess").name == "Countess", "no change"
    with pytest.raises(NameChangedLatelyError) as refused:
        change_name(player_id=ada.pk, name="Ada")
    month = BETWEEN_CHANGES // timedelta(milliseconds=1)
    assert month - 60_000 < refused.value.data["retry_after_ms"] <= month + 1
    NameChange.objects.update(at=timezone.now() - BETWEEN_CHANGES)
    assert change_name(player_id=ada.pk, name="Ada").name == "Ada"
    assert [change.old for change in selectors.name_history(ada.pk)] == ["Countess", "Ada"]


def test_who_may_not_change_what() -> None:
    ada = create_player(name="Ada")
    guest, _ = create_guest()
    with pytest.raises(NotForGuestsError):
        change_name(player_id=guest.pk, name="Somebody")
    for name in ("", "x", "Guest-1", "CPU-Ada", "Ad a", "x" * 25, "Ada\n"):
        with pytest.raises(InvalidNameError):
            change_name(player_id=ada.pk, name=name)
    assert selectors.name_history(ada.pk) == []


@pytest.mark.django_db(transaction=True)
def test_a_name_given_up_and_taken_at_once_stays_with_its_owner() -> None:
    """The one who takes it waits for the other's commit, and then sees that it is kept."""
    for number in range(10):
        first, second = (create_player(name=f"{each}{number}") for each in ("First", "Second"))
        barrier = threading.Barrier(2)

        def change(player_id: int, name: str, barrier: threading.Barrier = barrier) -> bool:
            barrier.wait()
            try:
                change_name(player_id=player_id, name=name)
            except NameTakenError:
                return False
            finally:
                connections.close_all()
            return True

        with ThreadPoolExecutor(2) as pool:
            given_up = pool.submit(change, first.pk, f"Third{number}")
            taken = pool.submit(change, second.pk, f"First{number}")
            assert given_up.result()
            assert not taken.result()


# What somebody is


@pytest.mark.django_db(transaction=True)
def test_an_account_becomes_a_bots_for_ever() -> None:
    heard: list[int] = []

    def hear(sender: object, player_id: int, **_: object) -> None:
        heard.append(player_id)

    player_became_bot.connect(hear)
    try:
        ada = create_player(name="Ada")
        assert become_bot(player_id=ada.pk).kind == "bot"
        assert become_bot(player_id=ada.pk).kind == "bot"
    finally:
        player_became_bot.disconnect(hear)
    assert heard == [ada.pk]
    with pytest.raises(IntegrityError), transaction.atomic():
        Player.objects.filter(pk=ada.pk).update(kind="registered")


def test_who_cannot_become_a_bot() -> None:
    guest, _ = create_guest()
    with pytest.raises(NotForGuestsError):
        become_bot(player_id=guest.pk)
    root = create_player(name="Root", staff=True, password="x")
    with pytest.raises(ForbiddenError):
        become_bot(player_id=root.pk)
    ada, ben = create_player(name="Ada"), create_player(name="Ben")
    rate_game(game_id="g", key="duo:blitz", ranks=[(ada.pk, 1), (ben.pk, 2)], at=0)
    with pytest.raises(AlreadyRatedError):
        become_bot(player_id=ada.pk)
    kinds = set(Player.objects.values_list("kind", flat=True))
    assert kinds == {"guest", "registered"}


@pytest.mark.parametrize(
    ("before", "after"),
    [("bot", "registered"), ("bot", "guest"), ("registered", "guest"), ("guest", "bot")],
)
def test_the_database_keeps_kinds_going_one_way(before: str, after: str) -> None:
    player = create_player(name="Ada", kind=before)
    with pytest.raises(IntegrityError, match=f"a {before} cannot become a {after}"):
        Player.objects.filter(pk=player.pk).update(kind=after)


def test_only_staff_sign_in_with_a_password() -> None:
    create_player(name="Root", staff=True, password="correct horse")
    create_player(name="Ada", password="correct horse")
    assert authenticate(username="root", password="correct horse") is not None
    assert authenticate(username="Root", password="wrong") is None
    assert authenticate(username="Ada", password="correct horse") is None
    Player.objects.update(is_active=False)
    assert authenticate(username="Root", password="correct horse") is None
