"""Ratings, and the ledger that they are the sum of."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Floor

from accounts import rules
from accounts.models.people import Player
from accounts.models.places import Place, _all


class RatingRow(models.Model):
    """A player's rating in one variant and speed. It is the sum of the ledger and may be rebuilt from it."""

    player = models.ForeignKey(
        Player, on_delete=models.CASCADE, related_name="ratings", db_index=False
    )
    key = models.CharField(max_length=45)
    mu = models.FloatField(default=rules.MU)
    sigma = models.FloatField(default=rules.SIGMA)
    games = models.IntegerField(default=0)
    annulled = models.IntegerField(
        default=0, help_text="Games that were rated once and do not count any more."
    )
    excluded = models.BooleanField(
        default=False, help_text="Taken off the leaderboard by an admin; the database sets it."
    )
    eligible = models.BooleanField(
        default=True,
        help_text="The player is active, not banned from play and no bot; the database sets it.",
    )
    listed = models.GeneratedField(
        expression=_all(Q(eligible=True, excluded=False, sigma__lt=rules.PROVISIONAL_SIGMA)),
        output_field=models.BooleanField(),
        db_persist=True,
    )
    place = models.GeneratedField(
        expression=Place(Floor(F("mu") + 0.5) * -1, F("mu") * -1, F("sigma"), F("player_id")),
        output_field=ArrayField(models.FloatField()),
        db_persist=True,
    )

    class Meta:
        verbose_name = "rating"
        constraints = [
            models.UniqueConstraint(fields=["player", "key"], name="rating_once"),
            models.CheckConstraint(
                condition=Q(games__gte=0, annulled__gte=0), name="rating_games_not_below_0"
            ),
        ]
        indexes = [
            models.Index("key", "place", name="rating_place", condition=Q(listed=True)),
            models.Index("id", name="rating_excluded", condition=Q(excluded=True)),
        ]
        permissions = [("recompute_ratings", "Can recompute and check ratings")]

    def __str__(self) -> str:
        return f"{self.key} {rules.Rating(self.mu, self.sigma, self.games)}"


class LedgerRow(models.Model):
    """One game's effect on one rating. Never deleted; changed only when the game, or one before it, is annulled.

    `sequence` numbers a rating's changes 1, 2, 3 …; the ids put whole games in an order in which they can be replayed,
    because they are drawn while the ratings are locked. Two games that share no player may draw theirs by turns, so a
    game stands where its lowest id does. `annulled`: the game does not count, and this row leaves the rating as it was.
    `game_id` is no foreign key: games are kept elsewhere. A player who has rows here cannot be deleted, because the
    ratings of others follow from them.
    """

    game_id = models.CharField(max_length=12)
    player = models.ForeignKey(
        Player, on_delete=models.PROTECT, related_name="rating_changes", db_index=False
    )
    key = models.CharField(max_length=45)
    sequence = models.IntegerField()
    rank = models.SmallIntegerField()
    mu_before = models.FloatField()
    sigma_before = models.FloatField()
    mu_after = models.FloatField()
    sigma_after = models.FloatField()
    at = models.BigIntegerField(help_text="When the game ended, in milliseconds since the epoch.")
    annulled = models.BooleanField(default=False)

    class Meta:
        verbose_name = "rating change"
        indexes = [
            models.Index("key", "id", name="ledger_key"),
            models.Index("id", name="ledger_annulled", condition=Q(annulled=True)),
        ]
        permissions = [("annul_game", "Can annul rated games and restore them")]
        constraints = [
            models.UniqueConstraint(fields=["game_id", "player"], name="ledger_game_once"),
            models.UniqueConstraint(fields=["player", "key", "sequence"], name="ledger_sequence"),
        ]

    def __str__(self) -> str:
        return f"{self.key} {self.change.before} → {self.change.after}"

    @property
    def change(self) -> rules.RatingChange:
        """This row as a value."""
        return rules.RatingChange(
            player_id=self.player_id,
            rank=self.rank,
            mu_before=self.mu_before,
            sigma_before=self.sigma_before,
            mu_after=self.mu_after,
            sigma_after=self.sigma_after,
        )
