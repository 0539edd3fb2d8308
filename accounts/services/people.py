"""Players come to be, and change their names."""

import secrets
from collections.abc import Iterable
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts import rules
from accounts.errors import (
    AlreadyRatedError,
    InvalidNameError,
    NameChangedLatelyError,
    NameTakenError,
    NotForGuestsError,
)
from accounts.models import LedgerRow, NameChange, Player
from accounts.rules import GUEST_SCOPES
from accounts.selectors.people import is_kept_for_another, is_reserved
from accounts.services.tokens import issue_token
from accounts.signals import player_became_bot
from common.errors import ForbiddenError

GUEST_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
GUEST_LETTERS = 8
"""31^8 names: with a million guests the next one collides once in 850,000 times, and is then drawn again."""

BETWEEN_CHANGES = timedelta(days=30)
"""From one name that a player chose to the next. What the server gave at sign-in may be changed at once."""


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
    _check_name(name)
    return _create(Player(name=name, kind=kind, is_staff=staff, is_superuser=staff), password)


def new_guest() -> Player:
    """A player without sign-in."""
    while True:
        letters = "".join(secrets.choice(GUEST_ALPHABET) for _ in range(GUEST_LETTERS))
        try:
            return _create(Player(name=f"Guest-{letters}", kind=Player.Kind.GUEST), None)
        except NameTakenError:
            continue


def create_guest(*, secret: str | None = None) -> tuple[Player, str]:
    """A guest, and the secret of the token that is all the guest has.

    `secret` is given by callers that must be able to repeat their answer (accounts/idempotency.py).
    """
    with transaction.atomic():
        player = new_guest()
        _, secret = issue_token(
            player_id=player.pk, scopes=GUEST_SCOPES, label="guest", secret=secret
        )
        return player, secret


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


def change_name(*, player_id: int, name: str) -> Player:
    """The player gets another name; the old one stays reserved for them, and they may have it back.

    Another case of the same letters is a change too. The name that one has is no change. Raises `InvalidNameError`,
    `NameTakenError`, `NotForGuestsError`, and `NameChangedLatelyError` within 30 days of the last chosen one.
    """
    _check_name(name)
    with transaction.atomic():
        player = Player.objects.select_for_update().get(pk=player_id)
        if player.kind == Player.Kind.GUEST:
            raise NotForGuestsError("Sign in, then choose a name.")
        if player.name == name:
            return player
        since = timezone.now() - BETWEEN_CHANGES
        last = player.name_changes.filter(cause=NameChange.Cause.CHOSEN, at__gt=since).first()
        if last is not None:
            wait = last.at - since
            raise NameChangedLatelyError(
                f"The next change is possible in {wait.days + 1} days.",
                retry_after_ms=wait // timedelta(milliseconds=1) + 1,
            )
        rename(player, name, cause=NameChange.Cause.CHOSEN)
        return player


def become_bot(*, player_id: int) -> Player:
    """A program makes this player's moves from now on. There is no way back (the database refuses it).

    Doing it twice is no error. Raises `NotForGuestsError`, and `AlreadyRatedError` for a player with rated games; an
    account of staff stays a person's, `ForbiddenError`.
    """
    with transaction.atomic():
        player = Player.objects.select_for_update().get(pk=player_id)
        if player.kind == Player.Kind.BOT:
            return player
        if player.kind == Player.Kind.GUEST:
            raise NotForGuestsError("Sign in, then make the account a bot.")
        if player.is_staff:
            raise ForbiddenError("An account of staff cannot become a bot.")
        if LedgerRow.objects.filter(player=player).exists():
            raise AlreadyRatedError("Take a fresh account for the bot.")
        player.kind = Player.Kind.BOT
        player.save(update_fields=["kind"])
        transaction.on_commit(
            lambda: player_became_bot.send(Player, player_id=player_id), robust=True
        )
    return player


def hold_players(player_ids: Iterable[int]) -> dict[int, Player]:
    """These players, of whom nobody changes or blocks another until the transaction ends; ids of nobody are left out.

    Everybody locks players before all else, and in the order of their ids.
    """
    rows = Player.objects.select_for_update(no_key=True).filter(pk__in=set(player_ids))
    return {player.pk: player for player in rows.order_by("pk")}


def rename(player: Player, name: str, *, cause: str) -> None:
    """Give a locked player another name and note the old one. Raises `NameTakenError`."""
    old, player.name = player.name, name
    try:
        _save(player)
    except NameTakenError:
        player.name = old
        raise
    NameChange.objects.create(player=player, old=old, new=name, cause=cause)


def _check_name(name: str) -> None:
    if not rules.is_name(name):
        raise InvalidNameError(
            "A name is 2 to 24 letters, digits, `_` or `-`, and begins with a letter."
        )
    if rules.is_reserved(name):
        raise InvalidNameError(
            "The server gives names that begin with `Guest-`, `CPU-` or `Erased-`, and nobody is called `me`."
        )


def _create(player: Player, password: str | None) -> Player:
    player.set_password(password)
    _save(player)
    return player


def _save(player: Player) -> None:
    """Save it if its name is free. Who gives a name up at this moment holds it to their commit, and keeps it then."""
    try:
        with transaction.atomic():
            player.save()
            # Only now: an insert waits for the one who has just given the name up, and sees what they noted.
            if is_kept_for_another(player.name, player_id=player.pk) or is_reserved(player.name):
                raise NameTakenError(f"The name {player.name} was somebody else's.")
    except IntegrityError as error:
        raise NameTakenError(f"The name {player.name} is taken.") from error
