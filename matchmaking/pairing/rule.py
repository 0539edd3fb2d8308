"""The published rule: how far a ticket's window reaches, and which two tickets may meet. Pure."""

from dataclasses import dataclass
from typing import Final

from matchmaking.tickets import Ticket


@dataclass(frozen=True, slots=True)
class Rule:
    """The figures of the rule. Those of `RULE` are published; the simulator tries others."""

    start: float = 50.0
    """Points of rating difference that a fresh ticket accepts."""
    rate: float = 6.0
    """Points that every window gains for each second of waiting."""
    sigma_share: float = 40.0
    """The window gains sigma divided by this for each second on top of `rate`: 12.5 points a second at sigma 500."""
    repeat_patience: int = 5_000
    """Milliseconds that two recent opponents must both have waited before they may meet again."""
    repeat_cost: float = 200.0
    """Two recent opponents count as this many points further apart when groups are compared."""


RULE: Final = Rule()


def window(ticket: Ticket, now: int, limit: float, rule: Rule = RULE) -> float:
    """The rating difference that `ticket` accepts at `now` (milliseconds); never above `limit`."""
    waited = max(0, now - ticket.joined) / 1000
    return min(limit, rule.start + (rule.rate + ticket.sigma / rule.sigma_share) * waited)


def compatible(a: Ticket, b: Ticket, now: int, limit: float, rule: Rule = RULE) -> bool:
    """Whether `a` and `b` may meet at `now`. Symmetric; it may turn from False to True by waiting, never back."""
    reach = min(window(a, now, limit, rule), window(b, now, limit, rule))
    return abs(a.mu - b.mu) <= reach and may_meet(a, b, now, rule)


def may_meet(a: Ticket, b: Ticket, now: int, rule: Rule) -> bool:
    """The part of compatibility that is not about ratings."""
    if a.player_id == b.player_id or a.player_id in b.blocked or b.player_id in a.blocked:
        return False
    return not met(a, b) or now - max(a.joined, b.joined) >= rule.repeat_patience


def met(a: Ticket, b: Ticket) -> bool:
    """Whether two have met a short while ago."""
    return b.player_id in a.recent or a.player_id in b.recent
