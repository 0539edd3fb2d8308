"""Players come to be."""

import secrets

from django.db import IntegrityError, transaction

from accounts import rules
from accounts.errors import InvalidNameError, NameTakenError
from accounts.models import Player
from accounts.rules import GUEST_SCOPES
from accounts.services.tokens import issue_token

GUEST_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
GUEST_LETTERS = 8
"""31^8 names: with a million guests the next one collides once in 850,000 times, and is then drawn again."""


def create_player(
    *,
    name: str,
    staff: bool = False,
    password: str | None = None,
    kind: str = Player.Kind.REGISTERED,
) -> Player:
    """A new player. Staff get every right in the admin site and sign in there with the password.

    Raises `InvalidNameError` or `NameTakenError` (names that differ in case only are the same).
    """
    if not rules.is_name(name):
        raise InvalidNameError(
            "A name is 2 to 24 letters, digits, `_` or `-`, and begins with a letter."
        )
    if rules.is_reserved(name):
        raise InvalidNameError(
            "The server gives names that begin with `Guest-` or `CPU-`, and nobody is called `me`."
        )
    return _create(Player(name=name, kind=kind, is_staff=staff, is_superuser=staff), password)


def create_guest(*, secret: str | None = None) -> tuple[Player, str]:
    """A player without sign-in, and the secret of the token that is all the guest has.

    `secret` is given by callers that must be able to repeat their answer (accounts/idempotency.py).
    """
    while True:
        letters = "".join(secrets.choice(GUEST_ALPHABET) for _ in range(GUEST_LETTERS))
        try:
            with transaction.atomic():
                player = _create(Player(name=f"Guest-{letters}", kind=Player.Kind.GUEST), None)
                _, secret = issue_token(
                    player_id=player.pk, scopes=GUEST_SCOPES, label="guest", secret=secret
                )
                return player, secret
        except NameTakenError:
            continue


def cpu_player(level: str) -> Player:
    """The built-in player of a CPU level, made when it is first asked for."""
    existing = Player.objects.filter(level=level).first() if level else None
    if existing is not None:
        return existing
    name = rules.cpu_name(level)
    if not level or not rules.is_name(name):
        raise InvalidNameError(f"{level!r} cannot be the name of a CPU level.")
    try:
        return _create(Player(name=name, kind=Player.Kind.BOT, level=level), None)
    except NameTakenError:  # somebody else has just made it
        return Player.objects.get(level=level)


def _create(player: Player, password: str | None) -> Player:
    player.set_password(password)
    try:
        with transaction.atomic():
            player.save(force_insert=True)
    except IntegrityError as error:
        raise NameTakenError(f"The name {player.name} is taken.") from error
    return player
