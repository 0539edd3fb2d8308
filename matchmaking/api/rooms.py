"""REST: rooms."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import caller_of
from accounts.idempotency import IDEMPOTENCY_KEY, idempotent
from accounts.permissions import HasScope
from accounts.selectors import Scope
from common import rest
from common.clock import now_ms
from matchmaking.selectors.rooms import find_code, room_view
from matchmaking.serializers import tables as bodies
from matchmaking.services import rooms
from matchmaking.services.room_start import start_room

CODE = OpenApiParameter("code", str, OpenApiParameter.PATH, description="In any case.")
SEAT = OpenApiParameter("seat", int, OpenApiParameter.PATH, description="From 0, which begins.")


class RoomsView(APIView):
    permission_classes = [HasScope(Scope.CHALLENGE)]

    @extend_schema(
        request=bodies.NewRoom,
        responses={201: bodies.RoomSerializer},
        operation_id="open_room",
        parameters=[IDEMPOTENCY_KEY],
    )
    @idempotent()
    def post(self, request: Request) -> Response:
        """Open a room; you are its host, and sit on seat 0. Tell the others its code."""
        wish = rest.body(bodies.NewRoom, request)
        view = rooms.open_room(
            player_id=caller_of(request).player_id,
            terms=bodies.terms_of(wish),
            friends_only=wish["friends_only"],
            now=now_ms(),
        )
        headers = {"Location": f"/api/v1/rooms/{view.room}"}
        return Response(view.wire(), status=201, headers=headers)


class OfRoom(APIView):
    """What is served of one room, for those who know its code."""

    permission_classes = [HasScope(Scope.CHALLENGE)]

    def whose(self, request: Request, code: str) -> tuple[str, int]:
        """The code, and who names it. Raises `UnknownRoomError`, `RateLimitedError`."""
        player_id = caller_of(request).player_id
        return find_code(code, player_id), player_id


class RoomView(OfRoom):
    @extend_schema(responses=bodies.RoomSerializer, parameters=[CODE], operation_id="get_room")
    def get(self, request: Request, code: str) -> Response:
        """The room; when its game has started, `game`."""
        code, _ = self.whose(request, code)
        return Response(room_view(code).wire())

    @extend_schema(
        request=bodies.RoomChanges,
        responses=bodies.RoomSerializer,
        parameters=[CODE],
        operation_id="change_room",
    )
    def patch(self, request: Request, code: str) -> Response:
        """Change settings, as the host. Nobody is ready after that."""
        code, player_id = self.whose(request, code)
        changes = bodies.changes_of(rest.body(bodies.RoomChanges, request))
        view = rooms.change_room(code=code, player_id=player_id, changes=changes, now=now_ms())
        return Response(view.wire())


class RoomSeatView(OfRoom):
    @extend_schema(
        request=bodies.RoomSeatWish,
        responses=bodies.RoomSerializer,
        parameters=[CODE, SEAT],
        operation_id="take_seat",
    )
    def put(self, request: Request, code: str, seat: int) -> Response:
        """Sit down, or move there; as the host, with a `level`, put a CPU there."""
        wish = rest.body(bodies.RoomSeatWish, request)
        code, player_id = self.whose(request, code)
        if "level" in wish:
            view = rooms.place_cpu(
                code=code, player_id=player_id, seat=seat, level=wish["level"], now=now_ms()
            )
        else:
            view = rooms.sit(code=code, player_id=player_id, seat=seat, now=now_ms())
        return Response(view.wire())

    @extend_schema(
        responses=bodies.RoomSerializer, parameters=[CODE, SEAT], operation_id="clear_seat"
    )
    def delete(self, request: Request, code: str, seat: int) -> Response:
        """Leave your seat, and the room with it; as the host, clear anybody's."""
        code, player_id = self.whose(request, code)
        view = rooms.leave_seat(code=code, player_id=player_id, seat=seat, now=now_ms())
        return Response(view.wire())


class RoomReadyView(OfRoom):
    @extend_schema(
        request=bodies.ReadyWish,
        responses=bodies.RoomSerializer,
        parameters=[CODE],
        operation_id="be_ready",
    )
    def put(self, request: Request, code: str) -> Response:
        """You are ready for the settings of this revision."""
        revision = rest.body(bodies.ReadyWish, request)["revision"]
        return self._set(request, code, ready=True, revision=revision)

    @extend_schema(
        responses=bodies.RoomSerializer, parameters=[CODE], operation_id="be_ready_no_more"
    )
    def delete(self, request: Request, code: str) -> Response:
        """You are not ready any more."""
        return self._set(request, code, ready=False, revision=0)

    def _set(self, request: Request, code: str, *, ready: bool, revision: int) -> Response:
        code, player_id = self.whose(request, code)
        view = rooms.set_ready(
            code=code, player_id=player_id, ready=ready, revision=revision, now=now_ms()
        )
        return Response(view.wire())


class RoomStartView(OfRoom):
    @extend_schema(
        request=None,
        responses=bodies.StartedSerializer,
        parameters=[CODE],
        operation_id="start_room",
    )
    def post(self, request: Request, code: str) -> Response:
        """Start the game, as the host, when all seats are taken and everybody else is ready. Twice is once."""
        code, player_id = self.whose(request, code)
        game_id = start_room(code=code, player_id=player_id, now=now_ms())
        return Response({"game": game_id})
