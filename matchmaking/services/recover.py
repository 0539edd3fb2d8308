"""What becomes of a claim whose owner died or failed: the database knows the tickets of games, others wait again."""

import structlog

from games.territory.selectors import engaged_games, games_of_tickets
from matchmaking.pools import Claim, pools
from matchmaking.selectors import is_realtime

log = structlog.get_logger(__name__)


def recover(*, claim: Claim, now: int) -> list[int]:
    """End one claim by what the database knows; the players who wait again. Doing it twice changes nothing.

    If the owner is only slow and commits after this, its own settling and the started game's signal still take the
    tickets away; the engagement forbids a second game meanwhile, and the tickets themselves where nobody is engaged.
    """
    games = games_of_tickets([ticket for _, ticket in claim.tickets])
    over = {player for player, ticket in claim.tickets if ticket in games}
    if is_realtime(claim.pool):
        over |= engaged_games(claim.player_ids).keys()
    return pools().end_claim(claim, over, now=now)


def recover_expired(*, now: int) -> list[Claim]:
    """End every claim whose lease is over, so that its tickets can be matched by the next wave; those claims."""
    claims = pools().expired_claims(now=now)
    for claim in claims:
        waiting = recover(claim=claim, now=now)
        log.warning(
            "claim recovered", claim=claim.id, players=claim.player_ids, waiting_again=waiting
        )
    return claims
