"""Who may not play, or not wait in pools, at an instant. A ban ends by the clock; nothing has to run for that."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from accounts.errors import BannedError, QueueBannedError
from accounts.models import Sanction
from common import database
from common.clock import rfc3339

BanKind = Literal["play", "queue"]
"""`play`: may not start or join any game; what runs is played to its end. `queue`: may not wait in pools."""

_IN_FORCE = """
SELECT DISTINCT ON (player_id) player_id, id, kind, made_at, until, reason, by_name FROM accounts_sanction
WHERE player_id = ANY(%s) AND kind = ANY(%s) AND lifted_at IS NULL AND (until IS NULL OR until > %s)
ORDER BY player_id, until DESC NULLS FIRST, id
"""


@dataclass(frozen=True, slots=True)
class Ban:
    """A ban that is in force. Times are milliseconds since the epoch; `until` None is for good.

    `by` is the name of the person who made it, empty for the rules.
    """

    id: int
    kind: str
    made_at: int
    until: int | None
    reason: str
    by: str


def bans_of(player_ids: Collection[int], kinds: Collection[BanKind], now: int) -> dict[int, Ban]:
    """For each of these players who has a ban of these kinds in force, the one that ends last."""
    rows = database.prepared(_IN_FORCE, [list(player_ids), list(kinds), now])
    return {player_id: Ban(*rest) for player_id, *rest in rows}


def ban_of(player_id: int, kind: BanKind, now: int) -> Ban | None:
    """The player's ban of this kind that is in force, the one that ends last; None without one."""
    return bans_of([player_id], [kind], now).get(player_id)


def require_may_play(player_ids: Collection[int], now: int) -> None:
    """Raises `BannedError` if one of these players may not start or join a game.

    Why, and until when, is for the banned alone, so it is told only where a game has no other people.
    """
    bans = bans_of(player_ids, ["play"], now)
    if not bans:
        return
    if len(set(player_ids)) > 1:
        raise BannedError("One of the players may not play now.", player_ids=frozenset(bans))
    (ban,) = bans.values()
    raise BannedError(
        _words("You may not start or join games", ban),
        player_ids=frozenset(bans),
        until=_instant(ban),
        reason=ban.reason,
    )


def require_may_queue(player_id: int, now: int) -> None:
    """Raises `BannedError` or `QueueBannedError` if the player may not wait in pools."""
    require_may_play([player_id], now)
    if ban := ban_of(player_id, "queue", now):
        raise QueueBannedError(
            _words("You may not wait in pools", ban), until=_instant(ban), reason=ban.reason
        )


def sanctions_of(player_id: int, limit: int = 50) -> list[Sanction]:
    """The player's sanctions, those that are over too, the newest first."""
    return list(Sanction.objects.filter(player_id=player_id).order_by("-id")[:limit])


def _instant(ban: Ban) -> str | None:
    return None if ban.until is None else rfc3339(ban.until)


def _words(what: str, ban: Ban) -> str:
    end = "" if ban.until is None else f" until {rfc3339(ban.until)}"
    return f"{what}{end}: {ban.reason}"
