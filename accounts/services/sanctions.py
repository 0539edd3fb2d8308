"""Bans: made by a moderator or by the rules, lifted by a moderator. Each says why, and the player is told.

A ban does not interrupt a game that runs. It is in force by the clock alone; only the leaderboards keep a mark of it
(`Player.off_boards`), because their counts are kept too: `end_bans` takes the mark off when the ban is over.
"""

from django.db import transaction

from accounts.errors import UnknownPlayerError
from accounts.events import BanLifted, Banned
from accounts.models import Player, Sanction
from accounts.selectors.sanctions import BanKind, bans_of
from accounts.services.inbox import notify
from accounts.signals import player_banned
from common.clock import rfc3339
from common.errors import ForbiddenError

SWEPT_AT_ONCE = 200
"""Players whom `end_bans` brings back in one transaction."""


@transaction.atomic
def ban(
    *,
    player_id: int,
    kind: BanKind,
    reason: str,
    now: int,
    until: int | None = None,
    by: int | None = None,
) -> Sanction:
    """Ban a player until an instant (milliseconds), or for good. `by` is the moderator's id; None is for the rules.

    The player's ticket goes at once, and the player is told by inbox. Raises `UnknownPlayerError`, and
    `ForbiddenError` for a built-in CPU player, oneself, and an account of staff unless a superuser bans it.
    """
    if not (reason := reason.strip()):
        raise ValueError("a ban has a reason")
    if until is not None and until <= now:
        raise ValueError("a ban ends later than it begins")
    # The order of all who lock: players, then boards (services/scores.py). New rows of boards wait for this one.
    player = Player.objects.select_for_update(no_key=True).filter(pk=player_id).first()
    if player is None:
        raise UnknownPlayerError
    moderator = _moderator(by)
    _check_may_ban(player, moderator)
    made = Sanction.objects.create(
        player=player,
        kind=kind,
        reason=reason,
        made_at=now,
        until=until,
        by=moderator,
        by_name="" if moderator is None else moderator.name,
    )
    if kind == "play" and not player.off_boards:
        player.off_boards = True
        player.save(update_fields=["off_boards"])
    end = None if until is None else rfc3339(until)
    notify(player_id=player_id, event=Banned(kind=kind, until=end, reason=reason), at=now)
    transaction.on_commit(
        lambda: player_banned.send_robust(Sanction, player_id=player_id, kind=kind)
    )
    return made


@transaction.atomic
def lift(*, sanction_id: int, reason: str, by: int, now: int) -> bool:
    """End a ban before its time; whether it was in force. The player is told by inbox."""
    if not (reason := reason.strip()):
        raise ValueError("a ban is lifted with a reason")
    found = Sanction.objects.get(pk=sanction_id)
    player = Player.objects.select_for_update(no_key=True).get(pk=found.player_id)
    found.refresh_from_db()  # another moderator may have been first
    if found.lifted_at is not None or (found.until is not None and found.until <= now):
        return False
    moderator = Player.objects.get(pk=by)
    found.lifted_at, found.lift_reason = now, reason
    found.lifted_by, found.lifted_by_name = moderator, moderator.name
    found.save(update_fields=["lifted_at", "lift_reason", "lifted_by", "lifted_by_name"])
    _bring_back([player], now)
    notify(player_id=player.pk, event=BanLifted(kind=found.kind, reason=reason), at=now)
    return True


@transaction.atomic
def end_bans(*, now: int) -> int:
    """Bring players back onto the leaderboards whose bans are over; how many. Sweepers may do this together."""
    off = Player.objects.select_for_update(no_key=True, skip_locked=True).filter(off_boards=True)
    in_force = Sanction.objects.in_force(now).filter(kind=Sanction.Kind.PLAY).values("player")
    over = off.exclude(pk__in=in_force).order_by("pk")[:SWEPT_AT_ONCE]
    return _bring_back(list(over), now)


def _bring_back(players: list[Player], now: int) -> int:
    """Put locked players back unless another ban holds them; one statement, for the sake of the boards' locks."""
    held = bans_of([player.pk for player in players], ["play"], now)
    free = [player.pk for player in players if player.off_boards and player.pk not in held]
    return Player.objects.filter(pk__in=free).update(off_boards=False) if free else 0


def _moderator(by: int | None) -> Player | None:
    if by is None:
        return None
    moderator = Player.objects.filter(pk=by).first()
    if moderator is None:
        raise UnknownPlayerError
    return moderator


def _check_may_ban(player: Player, moderator: Player | None) -> None:
    if player.level:
        raise ForbiddenError("The built-in CPU players cannot be banned.")
    if moderator == player:
        raise ForbiddenError("Nobody bans themselves.")
    if player.is_staff and moderator is not None and not moderator.is_superuser:
        raise ForbiddenError("An account of staff is banned by a superuser only.")
