"""What has become of tickets."""

from collections.abc import Collection

from games.territory.selectors import engaged_games
from matchmaking.models import MatchedTicket
from matchmaking.pools import Claim
from matchmaking.selectors.pools import engages


def matched_tickets(ticket_ids: Collection[str]) -> dict[str, str]:
    """The games of those tickets of correspondence pools that have become one: ticket id to game id."""
    found = MatchedTicket.objects.filter(ticket__in=ticket_ids)
    return dict(found.values_list("ticket", "game_id"))


def matched_players(claim: Claim) -> set[int]:
    """Whose tickets in a claim are of no use any more: they are engaged, or the ticket has become a game."""
    matched = matched_tickets([ticket for _, ticket in claim.tickets])
    spent = {player for player, ticket in claim.tickets if ticket in matched}
    return spent | engaged_games(claim.player_ids).keys() if engages(claim.pool) else spent
