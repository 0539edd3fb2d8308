"""A player's games by REST: statistics, the list, and all of them as files."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import selectors as accounts
from accounts.authentication import caller_of
from accounts.errors import InvalidCursorError
from accounts.serializers import InstantField, PlayerSerializer, player_body
from common import rest
from common.downloads import download
from common.ids import is_id
from common.rest import Body, WholeNumber
from games.territory import archive, players, rules
from games.territory.api import SgfRenderer
from games.territory.players import Filters, GameView
from games.territory.tally import COUNTED, Result, Tally

NAME = OpenApiParameter("name", str, OpenApiParameter.PATH, description="In any case.")
STATUSES = ("started", "finished", "aborted")


class GameFilters(Body):
    """Which games are wanted; all of them without any."""

    variant = serializers.ChoiceField(choices=sorted(rules.VARIANTS), default=None)
    rated = serializers.BooleanField(default=None, allow_null=True)
    result = serializers.ChoiceField(choices=sorted(COUNTED), default=None)
    status = serializers.ChoiceField(
        choices=STATUSES, default=None, help_text="A game is finished when its results are settled."
    )
    opponent = serializers.CharField(max_length=64, default=None, help_text="Another's name.")
    level = serializers.CharField(
        max_length=16, default=None, help_text="Of a CPU among the opponents."
    )
    since = serializers.DateTimeField(default=None, help_text="Started then or later (RFC 3339).")
    until = serializers.DateTimeField(default=None, help_text="Started before.")


class GamesQuery(GameFilters):
    limit = WholeNumber(min_value=1, max_value=100, default=50)
    cursor = serializers.CharField(max_length=12, default=None, help_text="From `next`.")


class ListedSeat(serializers.Serializer[Any]):
    player = PlayerSerializer()
    points = serializers.IntegerField(allow_null=True)
    rank = serializers.IntegerField(allow_null=True)


class ListedGame(serializers.Serializer[Any]):
    """`result` is the player's: `several` if they held several seats, null if the game goes on or was aborted."""

    game = serializers.CharField()
    variant = serializers.CharField()
    key = serializers.CharField(help_text="variant:speed")
    rated = serializers.BooleanField()
    pool = serializers.CharField(allow_null=True)
    status = serializers.ChoiceField(choices=STATUSES)
    termination = serializers.CharField(allow_null=True)
    started_at = InstantField()
    finished_at = InstantField(allow_null=True)
    result = serializers.ChoiceField(choices=[*sorted(COUNTED), "several"], allow_null=True)
    points = serializers.IntegerField(allow_null=True)
    seats = ListedSeat(many=True)


class GameList(serializers.Serializer[Any]):
    games = ListedGame(many=True)
    next = serializers.CharField(allow_null=True)


class LevelFigures(serializers.Serializer[Any]):
    level = serializers.CharField()
    games = serializers.IntegerField()
    won = serializers.IntegerField()
    drawn = serializers.IntegerField()
    lost = serializers.IntegerField()


class KeyFigures(serializers.Serializer[Any]):
    """Of a variant (`duo`), or of variant and speed (`duo:blitz`). `streak`: won since the last one that was not."""

    key = serializers.CharField()
    games = serializers.IntegerField()
    won = serializers.IntegerField()
    drawn = serializers.IntegerField()
    lost = serializers.IntegerField()
    average_points = serializers.FloatField()
    best_points = serializers.IntegerField()
    perfect_games = serializers.IntegerField(help_text="Every piece was placed.")
    streak = serializers.IntegerField()
    longest_streak = serializers.IntegerField()
    levels = LevelFigures(many=True, help_text="Against CPUs, by level; of a variant only.")


class Statistics(serializers.Serializer[Any]):
    player = PlayerSerializer()
    statistics = KeyFigures(many=True)


class StatisticsView(APIView):
    """What a player's games come to."""

    permission_classes = [AllowAny]

    @extend_schema(responses=Statistics, parameters=[NAME], operation_id="get_statistics")
    def get(self, request: Request, name: str) -> Response:
        """The player's statistics by variant, and by variant and speed. CPU players have none.

        Aborted games do not count, nor games in which somebody held several seats.
        """
        player = accounts.player_named(name)
        by_key: dict[str, dict[str, Any]] = {}
        for key, level, tally in players.statistics_of(player.pk):
            if level:  # they are listed after the key itself
                figures = {each: getattr(tally, each) for each in ("games", "won", "drawn", "lost")}
                by_key[key]["levels"].append({"level": level, **figures})
            else:
                by_key[key] = _figures(key, tally)
        return Response({"player": player_body(player), "statistics": list(by_key.values())})


def _figures(key: str, tally: Tally) -> dict[str, Any]:
    return {
        "key": key,
        "games": tally.games,
        "won": tally.won,
        "drawn": tally.drawn,
        "lost": tally.lost,
        "average_points": round(tally.points / tally.games, 2),
        "best_points": tally.best_points,
        "perfect_games": tally.perfect,
        "streak": tally.streak,
        "longest_streak": tally.longest_streak,
        "levels": [],
    }


class PlayerGames(APIView):
    """The games of a player."""

    permission_classes = [AllowAny]

    @extend_schema(responses=GameList, parameters=[NAME, GamesQuery], operation_id="list_games")
    def get(self, request: Request, name: str) -> Response:
        """The player's games, the newest first."""
        player, query = accounts.player_named(name), rest.query(GamesQuery, request)
        limit, cursor = query.pop("limit"), query.pop("cursor")
        rows = players.games_of(
            player.pk, _filters(query), before=_before(player.pk, cursor), limit=limit + 1
        )
        address = None
        if len(rows) > limit:
            again = {**request.query_params.dict(), "cursor": rows[limit - 1].game_id}
            address = f"{request.path}?{urlencode(again)}"
        games = [_listed(view) for view in players.views_of(rows[:limit])]
        return Response(GameList({"games": games, "next": address}).data)


def _filters(query: dict[str, Any]) -> Filters:
    """Raises `UnknownPlayerError` for an opponent who is nobody."""
    opponent = query.pop("opponent")
    return Filters(
        **query, opponent=None if opponent is None else accounts.player_named(opponent).pk
    )


def _before(player_id: int, cursor: str | None) -> tuple[datetime, str] | None:
    if cursor is None:
        return None
    started_at = players.start_of(player_id, cursor) if is_id(cursor) else None
    if started_at is None:
        raise InvalidCursorError("Start again at the first page.")
    return started_at, cursor


def _listed(view: GameView) -> dict[str, Any]:
    game, result = view.game, view.result
    over = result not in (Result.OPEN, Result.ABORTED)
    status = "finished" if over else {Result.OPEN: "started"}.get(Result(result), "aborted")
    return {
        "game": game.id,
        "variant": game.variant,
        "key": view.key,
        "rated": game.rated,
        "pool": game.pool or None,
        "status": status,
        "termination": None if status == "started" else game.termination,
        "started_at": game.created_at,
        "finished_at": None if status == "started" else game.finished_at,
        "result": result if over else None,
        "points": view.points,
        "seats": [
            {"player": player_body(seat.player), "points": seat.points, "rank": seat.rank}
            for seat in view.seats
        ],
    }


class NdJsonRenderer(JSONRenderer):
    """Lets clients ask for it; only refusals are rendered, as JSON like everywhere."""

    media_type = "application/x-ndjson"
    format = "ndjson"


class _Export(APIView):
    def answer(
        self, request: Request, name: str, write: Callable[[rules.Record], str], ending: str
    ) -> StreamingHttpResponse:
        player, query = accounts.player_named(name), rest.query(GameFilters, request)
        return download(
            all_records(player.pk, _filters(query), write),
            who=f"player:{caller_of(request).player_id}",
            file=f"{player.name}.{ending}",
            content_type=f"{self.renderer_classes[1].media_type}; charset=utf-8",
        )


class ExportNdJson(_Export):
    """All records of a player, one a line."""

    renderer_classes = [JSONRenderer, NdJsonRenderer]

    @extend_schema(
        parameters=[NAME, GameFilters, OpenApiParameter("format", exclude=True)],
        responses={(200, NdJsonRenderer.media_type): OpenApiTypes.STR},
        operation_id="export_games",
    )
    def get(self, request: Request, name: str) -> StreamingHttpResponse:
        """The records of the games that are over, the newest first, each as one line of JSON (ND-JSON).

        It is made while it is sent; a connection that breaks leaves it without the rest. One download at a time:
        another one meanwhile is refused with `too-fast`.
        """
        return self.answer(request, name, rules.write_line, "ndjson")


class ExportSgf(_Export):
    """The same as one file of Blokus SGF."""

    renderer_classes = [JSONRenderer, SgfRenderer]

    @extend_schema(
        parameters=[NAME, GameFilters, OpenApiParameter("format", exclude=True)],
        responses={(200, SgfRenderer.media_type): OpenApiTypes.STR},
        operation_id="export_games_sgf",
    )
    def get(self, request: Request, name: str) -> StreamingHttpResponse:
        """The same records as a collection of Blokus SGF: game trees, one after another."""
        return self.answer(request, name, rules.write_sgf, "blksgf")


def all_records(
    player_id: int, filters: Filters, write: Callable[[rules.Record], str]
) -> Iterator[str]:
    """The texts of all records that pass the filters, by pieces of `archive.PIECE`, each with queries of its own."""
    before: tuple[datetime, str] | None = None
    while True:
        rows = players.games_of(player_id, filters, before=before, limit=archive.PIECE)
        over = [row.game_id for row in rows if row.result != Result.OPEN]
        records = archive.records(over) if over else {}
        yield "".join(write(records[game_id]) for game_id in over)
        if len(rows) < archive.PIECE:
            return
        before = rows[-1].started_at, rows[-1].game_id
