"""Hints and analyses by REST, and how far players of the block puzzle get."""

from typing import Any

import msgspec
from django.http import HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import conditional_page
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import caller_of
from accounts.permissions import HasScope
from accounts.rules import Scope
from bots import baselines, selectors
from bots.analysis import Mark, annotated
from bots.chart import chart_svg
from bots.curve import curve_svg
from bots.models import Analysis
from bots.services.analyses import ask_analysis
from bots.services.hints import ask_hint
from bots.services.run_hints import ask_run_hint
from common import rest
from common.clock import now_ms
from common.rest import Body, PictureRenderer, json_bytes
from games.palette import THEMES
from games.territory.api import GameView, SgfRenderer, keeping, picture_kept, sgf_file


class HintWish(Body):
    """Nothing, or the ply for which the hint is meant."""

    ply = serializers.IntegerField(min_value=0, max_value=10_000, default=None, allow_null=True)


class HintSerializer(serializers.Serializer[Any]):
    """One hint; `piece` and `move` are null until it is given."""

    ply = serializers.IntegerField()
    colour = serializers.CharField()
    piece = serializers.CharField(allow_null=True)
    move = serializers.CharField(allow_null=True)


class AskedHintSerializer(HintSerializer):
    """A hint that was asked for, and how many are left."""

    hints_left = serializers.IntegerField()


class HintListSerializer(serializers.Serializer[Any]):
    """The hints that you have had in this game, and how many are left."""

    hints = HintSerializer(many=True)
    hints_left = serializers.IntegerField()


class Hints(GameView):
    permission_classes = [HasScope("play")]

    @extend_schema(responses=HintListSerializer, operation_id="list_hints")
    def get(self, request: Request, game_id: str) -> Response:
        """The hints that you have had in this game, and how many are left."""
        player_id = caller_of(request).player_id
        return Response(selectors.hints_of(game_id=game_id, player_id=player_id).wire())

    @extend_schema(
        request=HintWish,
        responses={200: AskedHintSerializer, 202: AskedHintSerializer},
        operation_id="ask_hint",
    )
    def post(self, request: Request, game_id: str) -> Response:
        """Ask for the strongest CPU's move. 202: it comes as `hint_given` in your inbox; 200: it is there already.

        Asked again in the same position, the answer is the same and costs nothing.
        """
        asked = ask_hint(
            game_id=game_id,
            player_id=caller_of(request).player_id,
            ply=rest.body(HintWish, request)["ply"],
            now=now_ms(),
        )
        return Response(asked.wire(), status=200 if asked.hint.move else 202)


class BestMoveSerializer(serializers.Serializer[Any]):
    """What the engine would have played, and what that leads to for the seat that moved."""

    piece = serializers.CharField()
    move = serializers.CharField()
    value = serializers.FloatField()


class PlyAnalysisSerializer(serializers.Serializer[Any]):
    """One ply; `before` and `after` have a value for each seat, from 0 to 1."""

    ply = serializers.IntegerField()
    colour = serializers.CharField()
    seat = serializers.IntegerField()
    piece = serializers.CharField()
    move = serializers.CharField()
    before = serializers.ListField(child=serializers.FloatField())
    after = serializers.ListField(child=serializers.FloatField())
    best = BestMoveSerializer()
    loss = serializers.FloatField()
    mark = serializers.ChoiceField(choices=[mark.value for mark in Mark])


class AnalysisSerializer(serializers.Serializer[Any]):
    """An analysis; `moves` and `end` are null until `status` is `done`."""

    game = serializers.CharField()
    version = serializers.IntegerField(help_text="Of the event that ended the game.")
    status = serializers.ChoiceField(choices=Analysis.Status.values)
    done = serializers.IntegerField(help_text="So many plies have been searched.")
    plies = serializers.IntegerField()
    simulations = serializers.IntegerField(help_text="For each position.")
    engine = serializers.CharField(allow_null=True)
    moves = PlyAnalysisSerializer(many=True, allow_null=True)
    end = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="The result for each seat."
    )


class CurveQuery(Body):
    theme = serializers.ChoiceField(
        choices=list(THEMES), default="light", help_text="As of `board.svg`."
    )


@method_decorator(conditional_page, name="dispatch")
class AnalysisOfGame(GameView):
    permission_classes = [HasScope("play")]

    @extend_schema(responses=AnalysisSerializer, operation_id="get_analysis")
    def get(self, request: Request, game_id: str) -> HttpResponse:
        """How far the analysis is, or all of it. A whole one that cannot change any more may be kept for a day."""
        view, is_final = selectors.analysis_of(game_id)
        return HttpResponse(
            msgspec.json.encode(view),
            content_type="application/json",
            headers=keeping(final=is_final),
        )

    @extend_schema(
        request=None,
        responses={200: AnalysisSerializer, 202: AnalysisSerializer},
        operation_id="ask_analysis",
    )
    def post(self, request: Request, game_id: str) -> HttpResponse:
        """Have a game that is over analysed. 202: it comes as `analysis_ready` in your inbox; 200: it is there already.

        For the players of the game. Asked again, it is the same analysis.
        """
        view = ask_analysis(game_id=game_id, player_id=caller_of(request).player_id, now=now_ms())
        return HttpResponse(
            msgspec.json.encode(view),
            content_type="application/json",
            status=200 if view.moves is not None else 202,
        )


@method_decorator([conditional_page, xframe_options_sameorigin], name="dispatch")
class AnalysisSvg(GameView):
    renderer_classes = [JSONRenderer, PictureRenderer]
    permission_classes = []

    @extend_schema(
        parameters=[CurveQuery, OpenApiParameter("format", exclude=True)],
        responses={(200, "image/svg+xml"): OpenApiTypes.STR},
        operation_id="draw_analysis",
    )
    def get(self, request: Request, game_id: str) -> HttpResponse:
        """The analysis as a curve: a line for each seat over the plies, with the moves that were mistakes."""
        look = rest.query(CurveQuery, request)
        found = selectors.reviewed(game_id)
        return HttpResponse(
            curve_svg(found.review, **look),
            content_type="image/svg+xml",
            headers=picture_kept(final=found.is_final, public=self.public),
        )


@method_decorator(conditional_page, name="dispatch")
class AnalysisSgf(GameView):
    renderer_classes = [JSONRenderer, SgfRenderer]

    @extend_schema(
        parameters=[OpenApiParameter("format", exclude=True)],
        responses={(200, SgfRenderer.media_type): OpenApiTypes.STR},
        operation_id="get_sgf_analysis",
    )
    def get(self, request: Request, game_id: str) -> HttpResponse:
        """The record as Blokus SGF with the analysis in its comments, which Pentobi shows."""
        found = selectors.reviewed(game_id)
        record = annotated(found.review, found.engine, found.simulations)
        return sgf_file(record, f"{game_id}-analysis", final=found.is_final)


class RunHintWish(Body):
    """Nothing, or the turn for which the hint is meant."""

    turn = serializers.IntegerField(
        min_value=0, max_value=2**31 - 10, default=None, allow_null=True
    )


class AskedRunHintSerializer(serializers.Serializer[Any]):
    """A hint that was asked for; all but `turn` is null until it is given."""

    turn = serializers.IntegerField()
    slot = serializers.IntegerField(allow_null=True)
    rotation = serializers.IntegerField(allow_null=True)
    at = serializers.CharField(allow_null=True)
    cells = serializers.ListField(child=serializers.CharField(), allow_null=True)
    lines = serializers.ListField(child=serializers.CharField(), allow_null=True)


class RunHints(APIView):
    permission_classes = [HasScope(Scope.PUZZLE)]

    @extend_schema(
        request=RunHintWish,
        responses={200: AskedRunHintSerializer, 202: AskedRunHintSerializer},
        operation_id="ask_run_hint",
    )
    def post(self, request: Request, run_id: str) -> Response:
        """Ask what the best player would place. 202: it comes as `run_hint_given` in your inbox; 200: it is there.

        Asked again at the same turn, the answer is the same. There is none in a counted attempt at a daily puzzle.
        """
        asked = ask_run_hint(
            run_id=run_id,
            player_id=caller_of(request).player_id,
            turn=rest.body(RunHintWish, request)["turn"],
            now=now_ms(),
        )
        return Response(asked.wire(), status=202 if asked.given is None else 200)


class BaselineScores(serializers.Serializer[Any]):
    lowest = serializers.IntegerField()
    lower_quartile = serializers.FloatField()
    median = serializers.FloatField()
    upper_quartile = serializers.FloatField()
    highest = serializers.IntegerField()
    mean = serializers.FloatField()


class BaselineFigures(serializers.Serializer[Any]):
    """`cut` of the `runs` were cut, and count with the score that they had; `longest` counts placements."""

    level = serializers.CharField()
    board = serializers.CharField()
    player = serializers.CharField()
    runs = serializers.IntegerField()
    cut = serializers.IntegerField()
    score = BaselineScores()
    longest = serializers.IntegerField()


class BaselineSeries(serializers.Serializer[Any]):
    """`most`: the placements after which a run was cut."""

    generator = serializers.CharField()
    seed = serializers.IntegerField()
    most = serializers.IntegerField()


class BaselinesSerializer(serializers.Serializer[Any]):
    series = BaselineSeries()
    figures = BaselineFigures(many=True)


KEPT = {"Cache-Control": "public, max-age=3600"}


@method_decorator(conditional_page, name="dispatch")
class PuzzleBaselines(APIView):
    permission_classes = []
    authentication_classes = []

    @extend_schema(responses=BaselinesSerializer, operation_id="list_baselines", auth=[])
    def get(self, request: Request) -> HttpResponse:
        """What score a simple, a careful and a patient player reach, for each level and board."""
        return json_bytes(baselines.written(baselines.measured()), **KEPT)


class ChartQuery(Body):
    theme = serializers.ChoiceField(choices=list(THEMES), default="light")


@method_decorator([conditional_page, xframe_options_sameorigin], name="dispatch")
class PuzzleBaselinesSvg(APIView):
    renderer_classes = [JSONRenderer, PictureRenderer]
    permission_classes = []
    authentication_classes = []

    @extend_schema(
        parameters=[ChartQuery, OpenApiParameter("format", exclude=True)],
        responses={(200, "image/svg+xml"): OpenApiTypes.STR},
        operation_id="draw_baselines",
        auth=[],
    )
    def get(self, request: Request) -> HttpResponse:
        """The same as a picture."""
        picture = chart_svg(baselines.measured(), **rest.query(ChartQuery, request))
        return HttpResponse(picture, content_type="image/svg+xml", headers=KEPT)
