"""Players whom an admin takes off the leaderboards of ratings, and puts back. Their games are rated all the same."""

from django.db import transaction

from accounts import rules
from accounts.errors import UnknownLeaderboardError
from accounts.models import Exclusion
from accounts.selectors.leaderboards import leaderboard_rank
from accounts.services.decisions import Action, checked_reason, name_of, note
from common.clock import now_ms


def exclude_player(*, player_id: int, key: str, by: int, reason: str) -> bool:
    """Leave the player out of the leaderboard of `key`, or of all if it is empty; the ranks close up.

    False, and nothing is written, if that is so already. What is left out of `key` alone stays so when the exclusion
    from all is taken back. Raises `UnknownLeaderboardError`, `UnknownPlayerError`.
    """
    _check(player_id, key)
    with transaction.atomic():
        reason = checked_reason(reason)
        rank = leaderboard_rank(key, player_id) if key else None
        _, made = Exclusion.objects.get_or_create(
            player_id=player_id, key=key, defaults={"since": now_ms()}
        )
        if not made:
            return False
        note(
            Action.PLAYER_EXCLUDED,
            by=by,
            reason=reason,
            key=key,
            player_id=player_id,
            facts={"rank": rank},
        )
    return True


def restore_player(*, player_id: int, key: str, by: int, reason: str) -> bool:
    """Undo `exclude_player` of the same `key`; False if there is nothing to undo."""
    _check(player_id, key)
    with transaction.atomic():
        reason = checked_reason(reason)
        deleted, _ = Exclusion.objects.filter(player_id=player_id, key=key).delete()
        if deleted:
            note(Action.PLAYER_RESTORED, by=by, reason=reason, key=key, player_id=player_id)
    return bool(deleted)


def _check(player_id: int, key: str) -> None:
    name_of(player_id)
    if key and not rules.is_rating_key(key):
        raise UnknownLeaderboardError(f"{key!r} is not of the form variant:speed.")
