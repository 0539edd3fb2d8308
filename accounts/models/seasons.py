"""Seasons: dated spans of rated games, and the tables that are final when they are over."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from accounts import season_rules
from accounts.models.people import Player
from common.ids import new_id


def _keys() -> "ArrayField[list[str], list[str]]":
    return ArrayField(
        models.CharField(max_length=45),
        help_text="The ratings that it covers, such as `duo:blitz, duo:rapid`.",
    )


class SeasonPlan(models.Model):
    """Seasons that follow one another by the calendar of UTC, while the operator has them switched on."""

    class Period(models.TextChoices):
        MONTH = "month"
        QUARTER = "quarter"
        YEAR = "year"

    name = models.CharField(
        max_length=40, unique=True, help_text="Begins the names of its seasons, as `Kado 2026 Q4`."
    )
    period = models.CharField(max_length=8, choices=Period)
    active = models.BooleanField(
        default=False, help_text="A season is made for the present period and for the next one."
    )
    keys = _keys()
    min_games = models.IntegerField(default=10, help_text="Rated games that one needs to count.")
    titles = models.JSONField(default=season_rules.usual_titles, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(min_games__gte=1), name="season_plan_min_games")
        ]

    def __str__(self) -> str:
        return self.name


class Season(models.Model):
    """Rated games that ended in [starts_at, ends_at), instants of UTC in milliseconds, for each of some keys.

    Who has `min_games` of them counts. The tables are in the order of the ratings after the last game of the span.
    Seasons may overlap: a year and its quarters.
    """

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    name = models.CharField(max_length=60, unique=True)
    starts_at = models.BigIntegerField(help_text="The first millisecond of it, since the epoch.")
    ends_at = models.BigIntegerField(help_text="The first millisecond after it.")
    keys = _keys()
    min_games = models.IntegerField(default=10, help_text="Rated games that one needs to count.")
    titles = models.JSONField(
        default=season_rules.usual_titles,
        blank=True,
        help_text='The first that fits is given: [{"title": "Champion", "rank": 1}, '
        '{"title": "Top 10", "rank": 10}, {"title": "Top 1 %", "percent": 1}].',
    )
    plan = models.ForeignKey(
        SeasonPlan, null=True, blank=True, editable=False, on_delete=models.SET_NULL
    )
    closed_at = models.BigIntegerField(null=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(starts_at__lt=F("ends_at"), starts_at__gte=0), name="season_span"
            ),
            models.CheckConstraint(condition=Q(min_games__gte=1), name="season_min_games"),
            models.CheckConstraint(
                condition=Q(closed_at=None) | Q(closed_at__gte=F("ends_at")),
                name="season_closed_after_its_end",
            ),
            models.UniqueConstraint(fields=["plan", "starts_at"], name="season_of_plan_once"),
        ]
        indexes = [
            models.Index(F("starts_at").desc(), F("id").desc(), name="season_newest"),
            models.Index("ends_at", name="season_open", condition=Q(closed_at=None)),
        ]
        permissions = [("manage_season", "Can make, end, close and refreeze seasons")]

    def __str__(self) -> str:
        return self.name


class SeasonTable(models.Model):
    """The final table of one key, and what became of it since."""

    season = models.ForeignKey(
        Season, on_delete=models.CASCADE, related_name="tables", db_index=False
    )
    key = models.CharField(max_length=45)
    lines = models.IntegerField()
    frozen_at = models.BigIntegerField(help_text="Milliseconds since the epoch.")
    late_changes = models.IntegerField(
        default=0,
        help_text="Games of the season that were annulled or restored after the freeze.",
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["season", "key"], name="season_table_once")]

    def __str__(self) -> str:
        return f"{self.season_id} {self.key}"


class SeasonLine(models.Model):
    """One line of a final table: `line` counts 1, 2, 3 …, while equal ratings as shown share the `rank`."""

    table = models.ForeignKey(
        SeasonTable, on_delete=models.CASCADE, related_name="entries", db_index=False
    )
    line = models.IntegerField()
    rank = models.IntegerField()
    player = models.ForeignKey(
        Player, null=True, on_delete=models.SET_NULL, related_name="season_lines", db_index=False
    )
    name = models.CharField(max_length=24, help_text="What the player was called then.")
    mu = models.FloatField()
    sigma = models.FloatField()
    games = models.IntegerField(help_text="Rated games in the season.")
    title = models.CharField(max_length=season_rules.TITLE_LENGTH, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["table", "line"], name="season_line_once"),
        ]
        indexes = [
            models.Index("player", "table", name="season_line_player"),
            models.Index("player", F("id").desc(), name="season_titles", condition=~Q(title="")),
        ]

    def __str__(self) -> str:
        return f"{self.rank} {self.name}"
