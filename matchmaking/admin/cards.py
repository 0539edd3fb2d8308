"""Cards about queues: who waits where and how long, and the ticket of one player."""

from common.cards import Card, dashboard, player_page
from common.clock import rfc3339
from games.territory.figures import matches_since
from matchmaking.pools import pools
from matchmaking.selectors import pool_cards, ticket_view

LATELY_MS = 5 * 60_000
LONG_MS = 10 * 60_000
"""A ticket that has waited for so long is worth a look."""


@dashboard.card("Queues", order=5, permission="accounts.view_dashboard")
def queues(now: int) -> Card:
    """Every pool: how many wait, the longest wait, and the matches of the last minutes."""
    cards = pool_cards()
    store = pools()
    keys = [pool.key for pool in cards]
    sizes, oldest = store.sizes(keys), store.oldest(keys)
    matches = matches_since(now - LATELY_MS)
    waits = [max(0, now - joined) for joined in oldest.values() if joined is not None]
    return Card(
        figures=[
            ("waiting", sum(sizes.values())),
            ("longest wait", _span(max(waits, default=None))),
            ("matches in 5 minutes", sum(matches.values())),
        ],
        columns=("pool", "waiting", "longest wait", "matches"),
        rows=[
            (
                pool.key if pool.open else f"{pool.key} (closed)",
                sizes[pool.key],
                _span(None if (joined := oldest[pool.key]) is None else max(0, now - joined)),
                matches.get(pool.key, 0),
            )
            for pool in cards
        ],
        alarm=max(waits, default=0) > LONG_MS,
    )


@player_page.card("Ticket", order=12, permission="accounts.view_player")
def ticket(player_id: int, now: int) -> Card:
    """What the player waits for."""
    view = ticket_view(player_id=player_id, now=now)
    if view.state != "waiting" or view.joined is None:
        return Card(note="Waits in no pool.")
    return Card(
        figures=[
            ("pool", view.pool),
            ("waits for", _span(view.waited_ms)),
            ("place", f"{view.position} of {view.waiting}"),
            ("window", view.window),
            ("compatible now", view.compatible),
        ],
        note=f"Joined {rfc3339(view.joined)}.",
    )


def _span(ms: int | None) -> str:
    if ms is None:
        return "–"
    return f"{ms // 60_000} min {ms % 60_000 // 1000} s" if ms >= 60_000 else f"{ms / 1000:.0f} s"
