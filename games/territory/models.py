"""The tables of corner-to-corner games. The events are the game; everything else here is an index of them.

A move changes one row of `Game` and adds rows to `Event`, by the journal alone. Only `version` changes on every move,
and no index holds it, so that the update stays on its page (a HOT update; see docs/adr/0003-journal.md).
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import CompositePrimaryKey, F, Q

from common.ids import new_id
from games.territory.tally import COUNTED, Result


class Game(models.Model):
    """One contest. `wake_at` (milliseconds) is never later than the next instant at which its clock, a lost CPU
    move or an overdue first move wants attention: the sweeper looks then, and sets it anew.
    """

    class Status(models.TextChoices):
        STARTED = "started"
        FINISHED = "finished"
        ABORTED = "aborted"

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    variant = models.CharField(max_length=16)
    pool = models.CharField(max_length=40, blank=True)
    rated = models.BooleanField()
    clock_kind = models.CharField(max_length=16)
    initial_ms = models.BigIntegerField()
    increment_ms = models.BigIntegerField()
    status = models.CharField(max_length=8, choices=Status, default=Status.STARTED)
    termination = models.CharField(max_length=12, blank=True)
    version = models.IntegerField()
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    settled_at = models.DateTimeField(null=True)
    wake_at = models.BigIntegerField(null=True)
    strength = models.IntegerField(
        null=True,
        help_text="The players' mean rating at the start, if it is listed as now playing.",
    )
    spectators = models.BooleanField(
        default=True, db_default=True, help_text="Others than its players may read it."
    )

    class Meta:
        indexes = [
            models.Index(
                models.F("strength").desc(),
                "id",
                name="game_live",
                condition=Q(status="started", strength__isnull=False),
            ),
            models.Index(
                "variant",
                models.F("strength").desc(),
                "id",
                name="game_live_variant",
                condition=Q(status="started", strength__isnull=False),
            ),
            models.Index("wake_at", name="game_wake", condition=Q(status="started")),
            models.Index(
                "finished_at",
                name="game_unsettled",
                condition=Q(settled_at=None) & ~Q(status="started"),
            ),
            models.Index(models.F("created_at").desc(), "id", name="game_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.variant} {self.id}"


class Seat(models.Model):
    """One place in a game. A CPU's `level` is empty for everybody else. The result is set when the game settles, and
    cleared when moves are taken back after its end.
    """

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="seats")
    index = models.SmallIntegerField()
    player = models.ForeignKey("accounts.Player", on_delete=models.PROTECT, related_name="+")
    level = models.CharField(max_length=16, blank=True)
    points = models.SmallIntegerField(null=True)
    rank = models.SmallIntegerField(null=True)

    class Meta:
        ordering = ["game", "index"]
        constraints = [
            models.UniqueConstraint(fields=["game", "index"], name="seat_once"),
        ]
        indexes = [models.Index("player", "game", name="seat_unsettled", condition=Q(rank=None))]

    def __str__(self) -> str:
        return f"seat {self.index} of {self.game_id}"


class Event(models.Model):
    """One event of a game's stream: `payload` is the JSON text that clients get, to the byte."""

    pk = CompositePrimaryKey("game_id", "version")
    # The journal writes events only of games whose row it has just changed, so PostgreSQL need not look again.
    game = models.ForeignKey(
        Game, on_delete=models.CASCADE, related_name="events", db_index=False, db_constraint=False
    )
    version = models.IntegerField()
    at = models.BigIntegerField(help_text="Milliseconds since the epoch.")
    payload = models.TextField()

    class Meta:
        ordering = ["game", "version"]

    def __str__(self) -> str:
        return f"event {self.version} of {self.game_id}"


class Call(models.Model):
    """The latest turn of a correspondence game, by its beginning, of which its player was told and perhaps reminded."""

    game = models.OneToOneField(Game, primary_key=True, on_delete=models.CASCADE, related_name="+")
    since = models.BigIntegerField(help_text="Milliseconds since the epoch.")
    reminded = models.BooleanField()

    def __str__(self) -> str:
        return f"turn since {self.since} of {self.game_id}"


class Vacation(models.Model):
    """A player's vacation days of a year, in milliseconds; with `began` the player is on vacation, until then at the
    latest. While it is not `settled`, games are still to be told that it has begun or ended.
    """

    player = models.OneToOneField(
        "accounts.Player", primary_key=True, on_delete=models.CASCADE, related_name="+"
    )
    year = models.SmallIntegerField()
    used_ms = models.BigIntegerField()
    began = models.BigIntegerField(null=True)
    until = models.BigIntegerField(null=True)
    settled = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(began=None, until=None)
                | Q(began__isnull=False, until__gt=models.F("began")),
                name="vacation_ends",
            ),
            models.CheckConstraint(condition=Q(used_ms__gte=0), name="vacation_used"),
        ]
        indexes = [
            models.Index("until", name="vacation_to_end", condition=Q(until__isnull=False)),
            models.Index("player", name="vacation_unsettled", condition=Q(settled=False)),
        ]

    def __str__(self) -> str:
        return f"vacation of player {self.player_id}"


class Heartbeat(models.Model):
    """One row: when a web process last said that the service is there."""

    ONLY = 1

    id = models.SmallIntegerField(primary_key=True, default=ONLY)
    at = models.BigIntegerField(help_text="Milliseconds since the epoch.")

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="heartbeat_once")]

    def __str__(self) -> str:
        return f"there at {self.at}"


class Outage(models.Model):
    """A time without heartbeats, in milliseconds since the epoch. The games up to the id `given_to` have been given it
    back, or all, when it is `done`.
    """

    began = models.BigIntegerField()
    ended = models.BigIntegerField()
    given_to = models.CharField(max_length=12, blank=True)
    done = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(ended__gt=models.F("began")), name="outage_lasted"),
            # One gap is one outage, whoever notices it.
            models.UniqueConstraint(fields=["began"], name="outage_once"),
        ]

    def __str__(self) -> str:
        return f"outage {self.pk}"


class Departure(models.Model):
    """A matched game that a player has spoilt for others; several keep the player from the pools for a while."""

    class Kind(models.TextChoices):
        ABORTED = "aborted"
        CLAIMED = "claimed"
        TIMEOUT = "timeout"

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="+")
    player = models.ForeignKey("accounts.Player", on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=16, choices=Kind)
    at = models.BigIntegerField(help_text="Milliseconds since the epoch.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["game", "player"], name="departure_once"),
            models.CheckConstraint(
                condition=Q(kind__in=["aborted", "claimed", "timeout"]),
                name="departure_kind",
            ),
        ]
        indexes = [models.Index("player", "at", name="departure_of")]

    def __str__(self) -> str:
        return f"{self.kind} by player {self.player_id} in {self.game_id}"


class Engagement(models.Model):
    """A player's one live matched game. The primary key is the promise: a second one cannot be written."""

    player = models.OneToOneField(
        "accounts.Player", primary_key=True, on_delete=models.CASCADE, related_name="+"
    )
    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="engagements")

    def __str__(self) -> str:
        return f"player {self.player_id} in {self.game_id}"


RESULTS = [result.value for result in Result]
COUNTED_RESULTS = sorted(result.value for result in COUNTED)


class PlayerGame(models.Model):
    """A game of one player, for lists and statistics: a row for each player of a game, however many seats they have.

    Written when the game starts, and with its result when it is settled. `ended_at` is the instant of a game that
    counts (games/territory/tally.py), else null.
    """

    player = models.ForeignKey(
        "accounts.Player", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="players")
    variant = models.CharField(max_length=16)
    key = models.CharField(max_length=45, help_text="Variant and speed, such as duo:blitz.")
    rated = models.BooleanField()
    started_at = models.DateTimeField()
    levels = ArrayField(models.CharField(max_length=16), default=list)
    result = models.CharField(max_length=8, default=Result.OPEN.value)
    points = models.SmallIntegerField(null=True)
    perfect = models.BooleanField(default=False)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["player", "game"], name="player_game_once"),
            models.CheckConstraint(condition=Q(result__in=RESULTS), name="player_game_result"),
            models.CheckConstraint(
                condition=Q(
                    result__in=COUNTED_RESULTS, ended_at__isnull=False, points__isnull=False
                )
                | (~Q(result__in=COUNTED_RESULTS) & Q(ended_at=None, points=None, perfect=False)),
                name="player_game_counted_or_not",
            ),
        ]
        indexes = [
            models.Index("player", F("started_at").desc(), F("game").desc(), name="player_game_newest"),
            models.Index(
                "player", "variant", F("started_at").desc(), F("game").desc(),
                name="player_game_variant",
            ),
            models.Index(
                "player", "result", F("started_at").desc(), F("game").desc(),
                name="player_game_by_result",
            ),
            models.Index(
                "player", F("started_at").desc(), F("game").desc(),
                name="player_game_rated", condition=Q(rated=True),
            ),
            models.Index(
                "player", "variant", "ended_at", "game",
                name="player_game_in_order", condition=Q(ended_at__isnull=False),
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.game_id} of player {self.player_id}"


class Statistic(models.Model):
    """What a player's counted games come to, by variant (`duo`), variant and speed, or variant and level of a CPU.

    Kept in the transaction that settles a game. `stale`: a game was taken out, or came late, and it is counted anew
    from the rows of `PlayerGame` by the next game, or whoever reads it.
    """

    player = models.ForeignKey(
        "accounts.Player", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    key = models.CharField(max_length=45)
    level = models.CharField(max_length=16, blank=True)
    games = models.IntegerField(default=0)
    won = models.IntegerField(default=0)
    drawn = models.IntegerField(default=0)
    lost = models.IntegerField(default=0)
    points = models.BigIntegerField(default=0)
    best_points = models.SmallIntegerField(null=True)
    perfect = models.IntegerField(default=0)
    streak = models.IntegerField(default=0)
    longest_streak = models.IntegerField(default=0)
    last_ended_at = models.DateTimeField(null=True)
    last_game = models.CharField(max_length=12, blank=True)
    stale = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["player", "key", "level"], name="statistic_once"),
            models.CheckConstraint(
                condition=Q(games=F("won") + F("drawn") + F("lost")), name="statistic_adds_up"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key} {self.level} of player {self.player_id}"
