"""Runs and daily puzzles by REST. A client without a socket can play by polling: the events are the same bytes."""

from datetime import date
from urllib.parse import urlencode

import msgspec
from django.http import HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import conditional_page
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import caller_of
from accounts.errors import InvalidCursorError
from accounts.idempotency import IDEMPOTENCY_KEY, idempotent
from accounts.permissions import HasScope
from accounts.rules import Scope
from accounts.selectors import Caller
from common import rest
from common.clock import now_ms
from common.rest import PictureRenderer, json_bytes
from common.streams import Note
from games.puzzle import rules, selectors
from games.puzzle import serializers as bodies
from games.puzzle.errors import UnknownDailyError, UnknownRunError, WrongRulesError
from games.puzzle.services import begin, days, play

MAX_EVENTS = 500
"""Events in one answer; ask again with the last version."""

DATE = OpenApiParameter("date", str, OpenApiParameter.PATH, description="A UTC date, `2026-11-30`.")


def _event(note: Note) -> HttpResponse:
    return json_bytes("{" + note.body())


def _day(text: str) -> date:
    try:
        return rules.parse_date(text)
    except rules.DateError as error:
        raise UnknownDailyError(str(error)) from None


class Runs(APIView):
    permission_classes = [HasScope(Scope.PUZZLE)]

    @extend_schema(
        parameters=[bodies.RunsQuery], responses=bodies.RunList, operation_id="list_runs"
    )
    def get(self, request: Request) -> Response:
        """Your runs, the newest first."""
        query, player_id = rest.query(bodies.RunsQuery, request), caller_of(request).player_id
        before, limit = None, query["limit"]
        if query["cursor"] is not None:
            try:
                last = selectors.run_of(query["cursor"], player_id)
            except UnknownRunError:
                raise InvalidCursorError("Start again at the first page.") from None
            before = last.started_at, last.id
        found = selectors.runs_of(player_id, status=query["status"], before=before, limit=limit + 1)
        address = None
        if len(found) > limit:
            again = {name: value for name, value in query.items() if value is not None}
            address = f"{request.path}?{urlencode(again | {'cursor': found[limit - 1].id})}"
        return Response({"runs": [bodies.run_body(run) for run in found[:limit]], "next": address})

    @extend_schema(
        request=bodies.NewRun,
        responses={201: bodies.RunId},
        operation_id="start_run",
        parameters=[IDEMPOTENCY_KEY],
    )
    @idempotent()
    def post(self, request: Request) -> Response:
        """Start a run, or practise the puzzle of a past date. A running one with the same rules is abandoned."""
        wish, player_id = rest.body(bodies.NewRun, request), caller_of(request).player_id
        day = wish.pop("date")
        try:
            chosen = rules.Rules.of(**wish)
        except rules.WrongRulesError as error:
            raise WrongRulesError(str(error), field=error.field) from None
        if (chosen.level == "daily") != (day is not None):
            detail = "A past date goes with the level daily; today's puzzle is at /puzzles/daily."
            raise WrongRulesError(detail, field="date")
        if day is None:
            run_id = begin.start_run(player_id=player_id, chosen=chosen)
        else:
            run_id = begin.practise_daily(player_id=player_id, day=day)
        return Response({"run": run_id}, 201, headers={"Location": _address(run_id)})


def _address(run_id: str) -> str:
    return f"/api/v1/puzzles/runs/{run_id}"


class OneRun(APIView):
    @extend_schema(responses=OpenApiTypes.OBJECT, operation_id="get_run")
    def get(self, request: Request, run_id: str) -> HttpResponse:
        """The snapshot of a run of yours: everything a client needs to draw it."""
        row = selectors.run_of(run_id, caller_of(request).player_id)
        return json_bytes(msgspec.json.encode(selectors.snapshot_of(row)))


class RunEvents(APIView):
    @extend_schema(
        parameters=[bodies.EventsQuery],
        responses=OpenApiTypes.OBJECT,
        operation_id="list_run_events",
    )
    def get(self, request: Request, run_id: str) -> HttpResponse:
        """The events of a run of yours after a version, in order: `{"events": [{"version", "at", "event"}, …]}`."""
        after = rest.query(bodies.EventsQuery, request)["after"]
        if not selectors.is_mine(run_id, caller_of(request).player_id):
            raise UnknownRunError
        notes = selectors.notes_after(run_id, after, after + MAX_EVENTS)
        return json_bytes('{"events":[' + ",".join("{" + note.body() for note in notes) + "]}")


class Placements(APIView):
    permission_classes = [HasScope(Scope.PUZZLE)]

    @extend_schema(
        request=bodies.NewPlacement, responses=OpenApiTypes.OBJECT, operation_id="place_block"
    )
    def post(self, request: Request, run_id: str) -> HttpResponse:
        """Place a block; the answer is the event that came of it. Said again, it is the first answer to the byte."""
        wish = rest.body(bodies.NewPlacement, request)
        return _event(play.place(run_id=run_id, player_id=caller_of(request).player_id, **wish))


class RunUndo(APIView):
    permission_classes = [HasScope(Scope.PUZZLE)]

    @extend_schema(
        request=bodies.RunUndoWish, responses=OpenApiTypes.OBJECT, operation_id="undo_placement"
    )
    def post(self, request: Request, run_id: str) -> HttpResponse:
        """Take the latest placement back, also after the end. Said again, it is the first answer."""
        wish = rest.body(bodies.RunUndoWish, request)
        return _event(play.take_back(run_id=run_id, player_id=caller_of(request).player_id, **wish))


class LegalPlacements(APIView):
    @extend_schema(responses=bodies.LegalPlacements, operation_id="list_legal_placements")
    def get(self, request: Request, run_id: str) -> Response:
        """Every placement that the rules allow, with the lines that it would clear; none when the run has ended."""
        row = selectors.run_of(run_id, caller_of(request).player_id)
        legal = rules.legal(selectors.state_of_row(row)) if row.finished_at is None else []
        placements = [
            {
                "slot": each.slot,
                "rotation": each.rotation,
                "at": each.at,
                "lines": [line.text for line in each.lines],
            }
            for each in legal
        ]
        return Response({"version": row.version, "turn": row.turn, "placements": placements})


class RunRecord(APIView):
    @extend_schema(responses=OpenApiTypes.OBJECT, operation_id="get_run_record")
    def get(self, request: Request, run_id: str) -> HttpResponse:
        """The record of a run, as JSON: your own at any time, without the seed until that is revealed; others' then."""
        run = selectors.run_to_show(run_id, caller_of(request).player_id)
        kept = "max-age=86400, immutable" if run.revealed else "no-cache"
        text = rules.write_json(selectors.load_record(run))
        return json_bytes(text, **{"Cache-Control": f"private, {kept}"})


# An ETag of the picture saves the way of one that has not changed. Pages of our own, as the admin's, may frame it.
@method_decorator([conditional_page, xframe_options_sameorigin], name="dispatch")
class RunSvg(APIView):
    renderer_classes = [JSONRenderer, PictureRenderer]
    permission_classes = []

    @extend_schema(
        parameters=[bodies.RunPicture, OpenApiParameter("format", exclude=True)],
        responses={(200, "image/svg+xml"): OpenApiTypes.STR},
        operation_id="draw_run",
    )
    def get(self, request: Request, run_id: str) -> HttpResponse:
        """The run as a picture: your own at any time, everybody's when the seed is revealed.

        With `at`, the block of `slot` is held there: pale, and the lines that it would clear have an outline.
        """
        look = rest.query(bodies.RunPicture, request)
        player_id = request.auth.player_id if isinstance(request.auth, Caller) else None
        row = selectors.run_to_show(run_id, player_id)
        state, aimed = selectors.state_of_row(row), 0
        slot, rotation, at = look.pop("slot"), look.pop("rotation"), look.pop("at")
        if at is not None:
            try:
                _, aimed = rules.aim(state, slot, rotation, at)
            except rules.RulesError as error:
                raise ValidationError({"at": str(error)}) from None
        return HttpResponse(
            rules.board_svg(state, aimed=aimed, **look),
            content_type="image/svg+xml",
            headers={"Cache-Control": "public, max-age=86400" if row.revealed else "no-cache"},
        )


class Today(APIView):
    @extend_schema(responses=bodies.DailyData, operation_id="get_daily")
    def get(self, request: Request) -> Response:
        """The daily puzzle of this UTC date."""
        now = now_ms()
        return _daily(request, rules.date_at(now), now)


class OneDaily(APIView):
    @extend_schema(responses=bodies.DailyData, parameters=[DATE], operation_id="get_daily_of_date")
    def get(self, request: Request, date: str) -> Response:
        """The daily puzzle of a date: its seed is public when the day is closed."""
        return _daily(request, _day(date), now_ms())


def _daily(request: Request, day: date, now: int) -> Response:
    published = days.publish_day(day=day, now=now)
    attempt = selectors.attempt_at(day, caller_of(request).player_id)
    return Response(bodies.daily_body(published, attempt))


class DailyRun(APIView):
    permission_classes = [HasScope(Scope.PUZZLE)]

    @extend_schema(
        request=None,
        responses={200: bodies.RunId, 201: bodies.RunId},
        parameters=[DATE],
        operation_id="play_daily",
    )
    def put(self, request: Request, date: str) -> Response:
        """Start your one counted attempt at today's puzzle, or go on with it: the same run each time."""
        run_id, made = begin.play_daily(player_id=caller_of(request).player_id, day=_day(date))
        return Response(
            {"run": run_id}, 201 if made else 200, headers={"Location": _address(run_id)}
        )


class Bests(APIView):
    @extend_schema(responses=bodies.BestList, operation_id="list_bests")
    def get(self, request: Request) -> Response:
        """Your best score and number of runs for each of the rules that you have played."""
        bests = selectors.bests_of(caller_of(request).player_id)
        return Response({"bests": [bodies.best_body(best) for best in bests]})
