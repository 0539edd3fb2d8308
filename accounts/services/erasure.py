"""Erasing a person: what says who somebody was goes, and what belongs to others too stays, without the name.

In three steps, each of which may be repeated, so that one that a dead process left is gone on with by the next
(`accounts.finish_erasures`, every few minutes):

1. `begin_erasure`, one transaction: the account is closed, its credentials end, its name gives way to another one.
2. Each section leaves what goes on: games, queues (accounts/personal.py).
3. One transaction removes the person's own data, and replaces the names where others see them.
"""

import secrets

import structlog
from django.db import transaction
from django.utils import timezone

from accounts import personal
from accounts.errors import BuiltInPlayerError, UnknownPlayerError
from accounts.models import Erasure, NameChange, Player, ReservedName
from accounts.names import Renaming
from accounts.rules import ERASED_PREFIX
from accounts.selectors.people import reserved_digest
from accounts.services.tokens import revoke_all_tokens
from accounts.signals import player_erased

logger = structlog.get_logger(__name__)

LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"


def erase_player(*, player_id: int, reason: str = "", by_name: str = "") -> str:
    """Erase somebody, all of it, and return the name that stands in their place.

    With a `reason` it is an operator's doing, else the person's own wish. Raises what `begin_erasure` does.
    """
    name = begin_erasure(player_id=player_id, reason=reason, by_name=by_name)
    finish_erasure(player_id=player_id)
    return name


@transaction.atomic
def begin_erasure(*, player_id: int, reason: str = "", by_name: str = "") -> str:
    """Close the account for good and return its new name; `finish_erasure` does the rest. Twice is no error.

    Raises `UnknownPlayerError`, and `BuiltInPlayerError` for a CPU player.
    """
    player = Player.objects.select_for_update().filter(pk=player_id).first()
    if player is None:
        raise UnknownPlayerError
    if player.level:
        raise BuiltInPlayerError
    if Erasure.objects.filter(player=player).exists():
        return player.name
    names = {player.name}
    for change in NameChange.objects.filter(player=player):
        names |= {change.old, change.new}
    Erasure.objects.create(
        player=player,
        cause=Erasure.Cause.OPERATOR if reason else Erasure.Cause.WISH,
        reason=reason,
        by_name=by_name,
        names=sorted(names),
    )
    reserved = [ReservedName(digest=reserved_digest(name)) for name in names]
    ReservedName.objects.bulk_create(reserved, ignore_conflicts=True)
    _close(player)
    revoke_all_tokens(player_id=player_id)
    _announce(player_id)
    return player.name


def _close(player: Player) -> None:
    """Nobody comes in any more: another unusable password ends the sessions, which carry a digest of it."""
    player.name = ERASED_PREFIX + "".join(secrets.choice(LETTERS) for _ in range(8))
    player.is_active = player.is_staff = player.is_superuser = False
    player.set_unusable_password()
    player.save()


def finish_erasure(*, player_id: int) -> None:
    """Do the rest of an erasure that was begun. Done already, it changes nothing."""
    if not Erasure.objects.filter(player_id=player_id, done_at=None).exists():
        return
    sections = list(personal.sections())
    for section in reversed(sections):  # first the queues, then the games that they lead to
        if section.leave is not None:
            section.leave(player_id)
    with transaction.atomic():
        pending = Erasure.objects.select_for_update().filter(player_id=player_id, done_at=None)
        erasure = pending.first()
        if erasure is None:
            return
        for section in sections:
            section.erase(player_id)
        name = Player.objects.values_list("name", flat=True).get(pk=player_id)
        renaming = Renaming.of(player_id, erasure.names, name)
        for section in sections:
            if section.rename is not None:
                section.rename(renaming)
        erasure.names, erasure.done_at = [], timezone.now()
        erasure.save()
        _announce(player_id)
    logger.info("player_erased", player=player_id, cause=erasure.cause)


def finish_erasures() -> int:
    """Go on with all that were begun; how many. One that fails is logged and does not stop the others."""
    done = 0
    pending = Erasure.objects.filter(done_at=None).order_by("pk")
    for player_id in list(pending.values_list("player_id", flat=True)):
        try:
            finish_erasure(player_id=player_id)
            done += 1
        except Exception:
            logger.exception("erasure_failed", player=player_id)
    return done


def _announce(player_id: int) -> None:
    transaction.on_commit(lambda: player_erased.send(None, player_id=player_id), robust=True)
