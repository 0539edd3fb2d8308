"""Bodies: seasons and their final tables."""

from typing import Any

from rest_framework import serializers

from accounts.models import Season, SeasonLine
from accounts.rules import Rating
from accounts.selectors.seasons import TablePage
from accounts.serializers.people import PlayerSerializer, player_body
from common.clock import rfc3339
from common.rest import Body, WholeNumber

STATES = ("upcoming", "running", "over", "closed")


class SeasonsQuery(Body):
    cursor = serializers.CharField(required=False, default=None, max_length=60)
    limit = WholeNumber(min_value=1, max_value=100, default=20)


class TableQuery(Body):
    cursor = serializers.CharField(required=False, default=None, max_length=20)
    limit = WholeNumber(min_value=1, max_value=100, default=50)


class TitleSerializer(serializers.Serializer[Any]):
    """For everybody up to `rank`, or in the best `percent` of the lines; of several the first that fits is given."""

    title = serializers.CharField()
    rank = serializers.IntegerField(required=False)
    percent = serializers.FloatField(required=False)


class SeasonTableSerializer(serializers.Serializer[Any]):
    """A final table: how many lines it has, when it was made.

    `late_changes`: so many games of the season were annulled or restored since; the table stays as it is.
    """

    key = serializers.CharField()
    lines = serializers.IntegerField()
    frozen_at = serializers.DateTimeField()
    late_changes = serializers.IntegerField()


class SeasonSerializer(serializers.Serializer[Any]):
    """Rated games that end from `starts_at` on and before `ends_at`, both UTC, are of this season.

    Who has at least `min_games` of them under a key is in its table. `tables` are there when it is `closed`; `over`:
    it has ended, and is closed within some minutes.
    """

    id = serializers.CharField()
    name = serializers.CharField()
    state = serializers.ChoiceField(STATES)
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    keys = serializers.ListField(child=serializers.CharField())
    min_games = serializers.IntegerField()
    titles = TitleSerializer(many=True)
    tables = SeasonTableSerializer(many=True)


class SeasonListSerializer(serializers.Serializer[Any]):
    """Those that begin last first; `next` is the address of the earlier ones, or null."""

    seasons = SeasonSerializer(many=True)
    next = serializers.CharField(allow_null=True)


class SeasonLineSerializer(serializers.Serializer[Any]):
    """One line. `name` is what the player was called then, `player` is who that is now, or null.

    `games` are those of the season. `title` is empty for most.
    """

    rank = serializers.IntegerField()
    name = serializers.CharField()
    player = PlayerSerializer(allow_null=True)
    rating = serializers.CharField()
    mu = serializers.FloatField()
    sigma = serializers.FloatField()
    games = serializers.IntegerField()
    title = serializers.CharField(allow_blank=True)


class FinalTableSerializer(SeasonTableSerializer):
    """A part of a final table, in the order of leaderboards of ratings; `next` is the address of the next, or null."""

    season = serializers.CharField()
    entries = SeasonLineSerializer(many=True)
    next = serializers.CharField(allow_null=True)


def season_body(season: Season, now: int) -> dict[str, Any]:
    return {
        "id": season.pk,
        "name": season.name,
        "state": _state(season, now),
        "starts_at": rfc3339(season.starts_at),
        "ends_at": rfc3339(season.ends_at),
        "closed_at": None if season.closed_at is None else rfc3339(season.closed_at),
        "keys": season.keys,
        "min_games": season.min_games,
        "titles": season.titles,
        "tables": [_table_body(table) for table in sorted(season.tables.all(), key=_key)],
    }


def _key(table: Any) -> str:
    return str(table.key)


def _state(season: Season, now: int) -> str:
    if season.closed_at is not None:
        return "closed"
    if now < season.starts_at:
        return "upcoming"
    return "running" if now < season.ends_at else "over"


def _table_body(table: Any) -> dict[str, Any]:
    return {
        "key": table.key,
        "lines": table.lines,
        "frozen_at": rfc3339(table.frozen_at),
        "late_changes": table.late_changes,
    }


def table_body(page: TablePage, next_address: str | None) -> dict[str, Any]:
    return {
        "season": page.season.pk,
        **_table_body(page.table),
        "entries": [_line_body(line) for line in page.lines],
        "next": next_address,
    }


def _line_body(line: SeasonLine) -> dict[str, Any]:
    return {
        "rank": line.rank,
        "name": line.name,
        "player": None if line.player is None else player_body(line.player),
        "rating": str(Rating(line.mu, line.sigma)),
        "mu": line.mu,
        "sigma": line.sigma,
        "games": line.games,
        "title": line.title,
    }
