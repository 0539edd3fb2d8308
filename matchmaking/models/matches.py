"""Which tickets have become games, where nothing else says so."""

from django.db import models


class MatchedTicket(models.Model):
    """A ticket of a correspondence pool that became a game. The primary key is the promise: it becomes no second one.

    Against the clock the player's engagement says the same and more. A player has many games by correspondence, so
    there it is the ticket that must not be used twice, whatever the queue believed.
    """

    ticket = models.CharField(primary_key=True, max_length=12)
    game = models.ForeignKey("territory.Game", on_delete=models.CASCADE, related_name="+")

    def __str__(self) -> str:
        return f"ticket {self.ticket} of {self.game_id}"
