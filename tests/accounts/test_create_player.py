"""`manage.py create_player`: what it prints works, and what it refuses it explains."""

import re
from io import StringIO

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command

from accounts import selectors
from accounts.models import AccessToken, Player
from accounts.services.people import create_player

pytestmark = pytest.mark.django_db


def _run(*arguments: str) -> str:
    out = StringIO()
    call_command("create_player", *arguments, stdout=out, no_color=True)
    return out.getvalue()


def _secret(output: str) -> str:
    (secret,) = re.findall(r"^token +(kado_\S{40}) ", output, re.MULTILINE)
    return str(secret)


def test_the_printed_token_works_and_stands_in_the_example() -> None:
    output = _run("Ada", "--url", "http://localhost:9/")
    caller = selectors.authenticate(_secret(output))
    assert (caller.name, caller.kind) == ("Ada", "registered")
    assert caller.scopes == {"play", "challenge", "puzzle", "profile", "friends"}
    assert (
        f'curl -H "Authorization: Bearer {_secret(output)}" http://localhost:9/api/v1/me' in output
    )
    assert "admin" not in output


def test_a_bot_with_chosen_scopes() -> None:
    caller = selectors.authenticate(_secret(_run("Deep", "--bot", "--scopes", "play", "bot")))
    assert caller.kind == "bot"
    assert caller.scopes == {"play", "bot"}


def test_staff_get_the_password_that_is_printed() -> None:
    (password,) = re.findall(r"name Boss, password (\S+)$", _run("Boss", "--staff"), re.MULTILINE)
    boss = authenticate(username="Boss", password=password)
    assert isinstance(boss, Player)
    assert boss.is_staff


def test_a_given_password_is_not_printed() -> None:
    output = _run("Boss", "--staff", "--password", "correct horse")
    assert "correct horse" not in output
    assert authenticate(username="Boss", password="correct horse") is not None


@pytest.mark.parametrize(
    ("arguments", "explanation"),
    [
        (["ada"], "The name ada is taken"),
        (["9lives"], "2 to 24 letters"),
        (["Guest-1"], "The server gives names"),
        (["ME"], "nobody is called `me`"),
        (["Bob", "--scopes", "everything"], "invalid choice"),
        (["Bob", "--password", "x"], "--password is for --staff"),
    ],
)
def test_refusals_say_why_and_leave_nothing(arguments: list[str], explanation: str) -> None:
    create_player(name="Ada")
    with pytest.raises(CommandError, match=explanation):
        _run(*arguments)
    assert Player.objects.count() == 1
    assert not AccessToken.objects.exists()


def test_help_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        call_command("create_player", "--help")
    assert left.value.code == 0
    assert "manage.py create_player Ada --staff" in capsys.readouterr().out
