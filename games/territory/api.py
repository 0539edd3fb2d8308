"""Games by REST. A client without a socket can play by polling: the events are the same bytes as on the socket."""

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
from accounts.idempotency import IDEMPOTENCY_KEY, idempotent
from accounts.permissions import HasScope
from accounts.selectors import Caller
from common import database, rest
from common.clock import now_ms
from common.rest import Body, PictureRenderer, WholeNumber, json_bytes
from games.territory import rules, selectors
from games.territory.services import casual, play
from games.territory.snapshot import Snapshot

MAX_EVENTS = 500
"""Events in one answer; ask again with the last version."""

AFTER = OpenApiParameter("after", int, description="The last version that you have.", default=0)


class SeatWish(Body):
    """A seat of a new game: yours (no `level`), or a CPU's of this level."""

    level = serializers.CharField(required=False, max_length=16)


class NewGame(Body):
    """An unrated game against CPUs, or on one device with all seats yours."""

    variant = serializers.ChoiceField(choices=sorted(rules.VARIANTS))
    seats = SeatWish(many=True)


class GameId(serializers.Serializer[Any]):
    game = serializers.CharField()


class NewMove(Body):
    """Move number `ply`, written as its cells: `e8,e9,f9`."""

    ply = serializers.IntegerField(min_value=0, max_value=10_000)
    move = serializers.CharField(max_length=1_000, trim_whitespace=False)


class UndoWish(Body):
    """The ply at which the game is: how many moves stand."""

    ply = serializers.IntegerField(min_value=0, max_value=10_000)


class UndoReply(UndoWish):
    """The same, and the answer."""

    agreed = serializers.BooleanField()


class Resignation(Body):
    """Nothing, or the seat that somebody who has several gives up."""

    seat = serializers.IntegerField(min_value=0, max_value=63, default=None, allow_null=True)


class EventsQuery(Body):
    after = WholeNumber(min_value=0, max_value=selectors.MAX_VERSION, default=0)


class BoardQuery(Body):
    """How a board is to be drawn, and when."""

    theme = serializers.ChoiceField(
        choices=list(rules.THEMES),
        default="light",
        help_text="`contrast` is bright on black; `print` has greys only, for printers without colours.",
    )
    coordinates = serializers.BooleanField(default=True, help_text="Letters and numbers around.")
    legend = serializers.BooleanField(default=True, help_text="Points and turn below the board.")
    last_move = serializers.BooleanField(default=True, help_text="A frame around the last move.")
    attach = serializers.CharField(
        max_length=32, default=None, help_text="Show the attach points of this colour, by name."
    )
    ply = WholeNumber(
        min_value=0,
        max_value=10_000,
        default=None,
        help_text="The board after so many plies; without it, the latest one.",
    )


class Receipt(serializers.Serializer[Any]):
    version = serializers.IntegerField()


class LegalMove(serializers.Serializer[Any]):
    move = serializers.CharField()
    piece = serializers.CharField()


class LegalMoves(serializers.Serializer[Any]):
    """What the colour to move may place; empty when the game is over."""

    version = serializers.IntegerField()
    ply = serializers.IntegerField()
    colour = serializers.CharField(allow_null=True)
    moves = LegalMove(many=True)


class Games(APIView):
    permission_classes = [HasScope("play")]

    @extend_schema(
        request=NewGame,
        responses={201: GameId},
        operation_id="create_game",
        parameters=[IDEMPOTENCY_KEY],
    )
    @idempotent()
    def post(self, request: Request) -> Response:
        """Start an unrated game against CPUs, or with all seats on one device."""
        wish = rest.body(NewGame, request)
        game_id = casual.start_casual(
            player_id=caller_of(request).player_id,
            variant=wish["variant"],
            levels=[seat.get("level", "") for seat in wish["seats"]],
            now=now_ms(),
        )
        return Response(
            {"game": game_id}, status=201, headers={"Location": f"/api/v1/games/{game_id}"}
        )


class GameView(APIView):
    """What is served of one game. Some are for their players only."""

    public = True
    """Whether everybody may read this game."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """After the caller is known. Raises `SpectatorsRefusedError`."""
        super().initial(request, *args, **kwargs)
        player_id = request.auth.player_id if isinstance(request.auth, Caller) else None
        self.public = selectors.require_reader(kwargs["game_id"], player_id)


class OneGame(GameView):
    @extend_schema(responses=OpenApiTypes.OBJECT, operation_id="get_game")
    def get(self, request: Request, game_id: str) -> HttpResponse:
        """The game's snapshot: everything a client needs to draw it."""
        view: Snapshot = selectors.load_snapshot(game_id)
        return json_bytes(msgspec.json.encode(view))


class Events(GameView):
    @extend_schema(parameters=[AFTER], responses=OpenApiTypes.OBJECT, operation_id="list_events")
    def get(self, request: Request, game_id: str) -> HttpResponse:
        """The game's events after a version, in order: `{"events": [{"version", "at", "event"}, …]}`."""
        after = rest.query(EventsQuery, request)["after"]
        notes = selectors.notes_after(game_id, after)[:MAX_EVENTS]
        if not notes:
            selectors.version_of(game_id)
        return json_bytes('{"events":[' + ",".join("{" + note.body() for note in notes) + "]}")


class Moves(GameView):
    permission_classes = [HasScope("play")]

    @extend_schema(request=NewMove, responses=Receipt, operation_id="play_move")
    def post(self, request: Request, game_id: str) -> Response:
        """Place a piece. Saying the same move again is safe: the answer is the first one's."""
        wish = rest.body(NewMove, request)
        receipt = database.wait(
            play.play_move(game_id=game_id, player_id=caller_of(request).player_id, **wish)
        )
        return Response({"version": receipt.version})


class Undo(GameView):
    permission_classes = [HasScope("play")]

    @extend_schema(request=UndoWish, responses=Receipt, operation_id="undo")
    def post(self, request: Request, game_id: str) -> Response:
        """Take your latest move back, and what came after it. Saying the same again takes nothing more back.

        Where the game's rule `undo` is `ask`, the other people are asked.
        """
        wish = rest.body(UndoWish, request)
        receipt = database.wait(
            play.undo(game_id=game_id, player_id=caller_of(request).player_id, **wish)
        )
        return Response({"version": receipt.version})


class UndoAnswer(GameView):
    permission_classes = [HasScope("play")]

    @extend_schema(request=UndoReply, responses=Receipt, operation_id="answer_undo")
    def post(self, request: Request, game_id: str) -> Response:
        """Agree to the undo that another seat asks for, or do not. When all have agreed, the moves are taken back."""
        wish = rest.body(UndoReply, request)
        receipt = database.wait(
            play.answer_undo(game_id=game_id, player_id=caller_of(request).player_id, **wish)
        )
        return Response({"version": receipt.version})


class Resign(GameView):
    permission_classes = [HasScope("play")]

    @extend_schema(request=Resignation, responses=Receipt, operation_id="resign")
    def post(self, request: Request, game_id: str) -> Response:
        """Give up your seat."""
        receipt = database.wait(
            play.resign(
                game_id=game_id,
                player_id=caller_of(request).player_id,
                seat=rest.body(Resignation, request)["seat"],
            )
        )
        return Response({"version": receipt.version})


class LegalMovesView(GameView):
    @extend_schema(responses=LegalMoves, operation_id="list_legal_moves")
    def get(self, request: Request, game_id: str) -> Response:
        """Every legal placement of the colour to move."""
        state = selectors.load_state(game_id)
        position, turn = state.position, state.position.turn
        return Response(
            {
                "version": state.version,
                "ply": state.ply,
                "colour": None if turn is None else position.variant.colours[turn],
                "moves": [{"move": move.text, "piece": move.piece} for move in position.legal()],
            }
        )


# An ETag of the picture saves the way of one that has not changed. Pages of our own, as the admin's, may frame it.
@method_decorator([conditional_page, xframe_options_sameorigin], name="dispatch")
class BoardSvg(GameView):
    renderer_classes = [JSONRenderer, PictureRenderer]
    permission_classes = []

    @extend_schema(
        parameters=[BoardQuery, OpenApiParameter("format", exclude=True)],
        responses={(200, "image/svg+xml"): OpenApiTypes.STR},
        operation_id="draw_board",
    )
    def get(self, request: Request, game_id: str) -> HttpResponse:
        """The board as a picture. What cannot change any more may be kept for a day: a `ply`, and a game that is over,
        unless moves may be taken back in it.

        Of any other ask again, with `If-None-Match`: an unchanged picture is not sent twice.
        """
        look = rest.query(BoardQuery, request)
        ply, attach = look.pop("ply"), look.pop("attach")
        state = selectors.state_after(game_id, ply)
        if ply is not None and ply > state.ply:
            raise serializers.ValidationError({"ply": f"So far there are {state.ply} plies."})
        names = state.position.variant.colours
        if attach is not None and attach not in names:
            raise serializers.ValidationError({"attach": f"Choose one of {', '.join(names)}."})
        look["attach"] = None if attach is None else names.index(attach)
        settled = (state.is_over or ply is not None) and not state.may_go_back
        return HttpResponse(
            selectors.draw(state, **look),
            content_type="image/svg+xml",
            headers=picture_kept(final=settled, public=self.public),
        )


def picture_kept(*, final: bool, public: bool) -> dict[str, str]:
    """How long a picture may be kept, and by whom."""
    kept = f"{'public' if public else 'private'}, max-age=86400" if final else "no-cache"
    return {"Cache-Control": kept}


def keeping(*, final: bool) -> dict[str, str]:
    """How long a record may be kept: it changes only when moves are taken back after the end."""
    kept = "max-age=86400, immutable" if final else "no-cache"
    return {"Cache-Control": f"private, {kept}"}


class Record(GameView):
    @extend_schema(responses=OpenApiTypes.OBJECT, operation_id="get_record")
    def get(self, request: Request, game_id: str) -> HttpResponse:
        """The record of a game that is over, as JSON: every move with its instant, who left, and the result."""
        ended = selectors.load_ended(game_id)
        return HttpResponse(
            rules.write_json(ended.record),
            content_type="application/json",
            headers=keeping(final=ended.is_final),
        )


class SgfRenderer(JSONRenderer):
    """Lets clients ask for SGF; only refusals are rendered, as JSON like everywhere."""

    media_type = "application/x-blokus-sgf"
    format = "blksgf"


def sgf_file(record: rules.Record, name: str, *, final: bool) -> HttpResponse:
    """A record as a file to be kept, by this name."""
    return HttpResponse(
        rules.write_sgf(record),
        content_type=f"{SgfRenderer.media_type}; charset=utf-8",
        headers=keeping(final=final)
        | {"Content-Disposition": f'attachment; filename="{name}.blksgf"'},
    )


class SgfRecord(GameView):
    renderer_classes = [JSONRenderer, SgfRenderer]

    @extend_schema(
        parameters=[OpenApiParameter("format", exclude=True)],
        responses={(200, SgfRenderer.media_type): OpenApiTypes.STR},
        operation_id="get_sgf_record",
    )
    def get(self, request: Request, game_id: str) -> HttpResponse:
        """The same as Blokus SGF, which Pentobi opens; the instants of the moves are left out."""
        ended = selectors.load_ended(game_id)
        return sgf_file(ended.record, game_id, final=ended.is_final)
