"""Noting what people decide about standing: who, when, why, and what was so."""

from typing import Any

from accounts.errors import UnknownPlayerError
from accounts.models import Player, StandingDecision
from common.clock import now_ms

Action = StandingDecision.Action


def checked_reason(reason: str) -> str:
    """The reason without the space around it; nothing is decided without one (`ValueError`)."""
    if not (reason := reason.strip()):
        raise ValueError("a decision about standing has a reason")
    return reason


def name_of(player_id: int) -> str:
    """The player's name; raises `UnknownPlayerError`."""
    name = Player.objects.filter(pk=player_id).values_list("name", flat=True).first()
    if name is None:
        raise UnknownPlayerError
    return name


def note(
    action: StandingDecision.Action,
    *,
    by: int | None,
    reason: str,
    player_id: int | None = None,
    facts: dict[str, Any] | None = None,
    **about: Any,
) -> StandingDecision:
    """Write the decision down, in the caller's transaction. `about` may name `key`, `game_id` and `season_id`.

    `by` is the id of who decided, None if the calendar did.
    """
    return StandingDecision.objects.create(
        action=action,
        by_id=by,
        by_name="" if by is None else name_of(by),
        reason=checked_reason(reason),
        player_id=player_id,
        player_name="" if player_id is None else name_of(player_id),
        at=now_ms(),
        facts=facts or {},
        **about,
    )
