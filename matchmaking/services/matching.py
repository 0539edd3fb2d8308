"""From a proposal to a game: claim the tickets, commit one transaction, end the claim."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random, SystemRandom

import redis
import structlog
from django.db import connection, transaction

from accounts.errors import BannedError
from accounts.selectors.friends import blocked_with
from accounts.selectors.sanctions import bans_of
from accounts.services import inbox
from accounts.services.people import hold_players
from common.ids import new_id
from games.territory.errors import EngagedError
from games.territory.services.start import SeatPlan, start_game
from matchmaking import pairing
from matchmaking.events import MatchFound
from matchmaking.pairing import Proposal
from matchmaking.pools import Claim, pools
from matchmaking.selectors import PoolCard
from matchmaking.services.recover import recover
from matchmaking.tickets import Ticket

log = structlog.get_logger(__name__)

FAIR: Random = SystemRandom()
"""The draw of seats, unless a test brings its own."""
ATTEMPTS = 3
"""How often a joining player tries for a neighbour before the next wave has to do it."""
NEIGHBOURS = 16
"""How many tickets on each side an attempt looks at."""


@dataclass(frozen=True, slots=True)
class Match:
    """A proposal that became a game; `player_ids` by seat."""

    game_id: str
    player_ids: tuple[int, ...]


class _BlockedError(Exception):
    """Somebody of these players blocks another, and their tickets do not know it yet."""


class _UnfitError(Exception):
    """These players have become bots or were banned since they joined, or the pool has been changed."""

    def __init__(self, player_ids: set[int]) -> None:
        super().__init__(player_ids)
        self.player_ids = frozenset(player_ids)


def attempt(*, pool: PoolCard, ticket: Ticket, now: int, random: Random = FAIR) -> Match | None:
    """Try to match a ticket at once with its best neighbour. None leaves it to the waves."""
    span = pairing.window(ticket, now, pool.window_limit)
    for _ in range(ATTEMPTS):
        near = pools().near(ticket, span=span, most=NEIGHBOURS)
        other = pairing.partner(ticket, near, now, pool.window_limit)
        if other is None:
            return None
        proposal = Proposal(tuple(sorted((ticket, other), key=lambda each: each.age)))
        if match := make_match(pool=pool, proposal=proposal, now=now, random=random):
            return match
    return None


def make_match(
    *, pool: PoolCard, proposal: Proposal, now: int, random: Random = FAIR
) -> Match | None:
    """Turn a proposal into a game. None if somebody else was first, a player is engaged, or something broke.

    Whatever happens, every ticket ends up matched, dropped with a reason, or waiting again: at once here, or after the
    claim's lease if this process dies or loses its servers (services/recover.py).
    """
    claim = pools().claim(new_id(), pool.key, proposal.tickets, now=now)
    if claim is None:
        return None
    seats = random.sample(proposal.tickets, len(proposal.tickets))
    try:
        game_id = _commit(pool, seats, now)
    except (EngagedError, BannedError, _UnfitError) as error:
        pools().release(claim, drop=error.player_ids, now=now)
        return None
    except _BlockedError:
        note_blocks(player_ids=claim.player_ids)
        pools().release(claim, now=now)
        return None
    except Exception:
        # It may even have been committed (a connection lost in COMMIT), so the database is asked before anybody waits.
        log.exception("match failed", pool=pool.key, claim=claim.id, players=claim.player_ids)
        _recover_or_leave(claim, now)
        return None
    _end_claim(claim, proposal, now)
    return Match(game_id, tuple(ticket.player_id for ticket in seats))


def _commit(pool: PoolCard, seats: Sequence[Ticket], now: int) -> str:
    """The one transaction: game, seats, engagements, and a notification for each player. The game's id."""
    players = [ticket.player_id for ticket in seats]
    with transaction.atomic():
        cards = hold_players(players)
        if unfit := {player for player in players if not pool.takes(cards[player].kind)}:
            raise _UnfitError(unfit)
        if banned := bans_of(players, ["queue"], now):  # of play bans, start_game tells
            raise _UnfitError(set(banned))
        if any(others & set(players) for others in blocked_with(players).values()):
            raise _BlockedError
        game_id = start_game(
            variant=pool.variant,
            time_control=pool.time_control,
            seats=[SeatPlan(player) for player in players],
            rated=pool.rated,
            pool=pool.key,
            matched=True,
            now=now,
        )
        # Inbox heads are locked in the order of player ids, here and everywhere.
        for player in sorted(players):
            others = [cards[other].name for other in players if other != player]
            event = MatchFound(
                game=game_id, pool=pool.key, seat=players.index(player), opponents=others
            )
            inbox.notify(player_id=player, event=event)
    return game_id


def note_blocks(*, player_ids: Collection[int]) -> None:
    """Let the tickets of these players know of all blocks of this moment."""
    for player_id, others in blocked_with(player_ids).items():
        pools().set_blocked(player_id, others)


def _end_claim(claim: Claim, proposal: Proposal, now: int) -> None:
    try:
        pools().end_claim(claim, claim.player_ids, now=now)
        waits = [max(0, now - ticket.joined) for ticket in proposal.tickets]
        pools().remember(claim, waits, now=now)
    except redis.RedisError as error:
        log.warning("claim left to its lease", claim=claim.id, error=str(error))


def _recover_or_leave(claim: Claim, now: int) -> None:
    if not connection.in_atomic_block:
        connection.close_if_unusable_or_obsolete()
    try:
        recover(claim=claim, now=now)
    except Exception as error:  # noqa: BLE001  # whatever it is, the lease is the answer
        log.warning("claim left to its lease", claim=claim.id, error=str(error))
