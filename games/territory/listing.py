"""The games that are being played now, the strongest first."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from accounts.errors import InvalidCursorError
from common import database, replica
from common.clock import now_ms, rfc3339
from games.territory import events as ev
from games.territory.watchers import watchers

CURSOR = re.compile(r"(-?\d{1,5})\.([0-9A-Za-z]{12})")

LIVE = """
SELECT g.strength, e.at, e.payload
FROM territory_game g JOIN territory_event e ON e.game_id = g.id AND e.version = 1
WHERE g.status = 'started' AND g.strength IS NOT NULL{conditions}
ORDER BY g.strength DESC, g.id LIMIT %s
"""


class LiveGameView(Struct, frozen=True):
    """A game that is being played: what `game_started` said of it, its strength, and how many look on."""

    game: str
    variant: str
    rated: bool
    pool: str | None
    time_control: ev.TimeControlData
    seats: list[ev.SeatData]
    strength: int
    started_at: str
    watchers: int


@dataclass(frozen=True, slots=True)
class LivePage:
    """Some of the games; `next` is the cursor of those after them, if there are any."""

    games: list[LiveGameView]
    next: str | None


def live_games(
    *,
    variant: str | None = None,
    min_rating: int | None = None,
    rated: bool | None = None,
    cursor: str | None = None,
    limit: int,
) -> LivePage:
    """The strongest games now, or those after a cursor. Raises `InvalidCursorError`."""
    conditions: list[tuple[str, Any]] = []
    if variant is not None:
        conditions.append(("g.variant = %s", [variant]))
    if min_rating is not None:
        conditions.append(("g.strength >= %s", [min_rating]))
    if rated is not None:
        conditions.append(("g.rated = %s", [rated]))
    if cursor is not None:
        if (match := CURSOR.fullmatch(cursor)) is None:
            raise InvalidCursorError
        strength, game = int(match[1]), match[2]
        # The first half lets the index begin at the place; the second leaves out what was shown.
        after = "g.strength <= %s AND (g.strength < %s OR g.id > %s)"
        conditions.append((after, [strength, strength, game]))
    views = _views(conditions, limit + 1)
    shown = views[:limit]
    more = len(views) > limit
    return LivePage(shown, f"{shown[-1].strength}.{shown[-1].game}" if more else None)


live_games_page = replica.may_lag(live_games)
"""The same for those who only look: the list may be some seconds old."""


def still_live(game_ids: Collection[str]) -> dict[str, LiveGameView]:
    """Those of these games that are still being played."""
    views = _views([("g.id = ANY(%s)", [list(game_ids)])], len(game_ids)) if game_ids else []
    return {view.game: view for view in views}


def _views(conditions: Sequence[tuple[str, Any]], limit: int) -> list[LiveGameView]:
    text = "".join(f" AND {condition}" for condition, _ in conditions)
    parameters = [parameter for _, given in conditions for parameter in given]
    statement = LIVE.format(conditions=text)
    rows = database.prepared(statement, [*parameters, limit], using=replica.alias())
    games = []
    for strength, at, payload in rows:
        started = ev.decode(payload)
        assert isinstance(started, ev.GameStarted)
        games.append((started, strength, at))
    counts = watchers([started.game for started, _, _ in games], now=now_ms())
    return [
        LiveGameView(
            game=started.game,
            variant=started.variant,
            rated=started.rated,
            pool=started.pool,
            time_control=started.time_control,
            seats=started.seats,
            strength=strength,
            started_at=rfc3339(at),
            watchers=counts[started.game],
        )
        for started, strength, at in games
    ]
