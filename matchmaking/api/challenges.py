"""REST: challenges and rematches."""

from datetime import datetime
from urllib.parse import urlencode

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import caller_of
from accounts.errors import InvalidCursorError
from accounts.idempotency import IDEMPOTENCY_KEY, idempotent
from accounts.permissions import HasScope
from accounts.selectors import Scope
from common import rest
from common.clock import now_ms
from matchmaking.errors import UnknownChallengeError
from matchmaking.selectors.challenges import challenge_view, open_challenges, taken_by
from matchmaking.serializers import tables as bodies
from matchmaking.services import challenges

ID = OpenApiParameter("challenge_id", str, OpenApiParameter.PATH)


class ChallengesView(APIView):
    permission_classes = [HasScope(Scope.CHALLENGE)]

    @extend_schema(
        parameters=[bodies.ChallengesQuery],
        responses=bodies.ChallengeListSerializer,
        operation_id="list_challenges",
    )
    def get(self, request: Request) -> Response:
        """The open challenges, the newest first: those that you may answer, or with `direction` `out` your own."""
        query, player_id = rest.query(bodies.ChallengesQuery, request), caller_of(request).player_id
        limit, direction = query["limit"], query["direction"]
        before = None if query["cursor"] is None else _place(query["cursor"], player_id)
        found = open_challenges(player_id, direction, before=before, limit=limit + 1)
        address = None
        if len(found) > limit:
            last = found[limit - 1].row.id
            again = {"direction": direction, "limit": limit, "cursor": last}
            address = f"{request.path}?{urlencode(again)}"
        return Response({"challenges": [each.wire() for each in found[:limit]], "next": address})

    @extend_schema(
        request=bodies.NewChallenge,
        responses={201: bodies.ChallengeSerializer},
        operation_id="make_challenge",
        parameters=[IDEMPOTENCY_KEY],
    )
    @idempotent()
    def post(self, request: Request) -> Response:
        """Challenge a player to a game of two. The answer comes in your inbox."""
        wish = rest.body(bodies.NewChallenge, request)
        view = challenges.make_challenge(
            player_id=caller_of(request).player_id,
            name=wish["player"],
            terms=bodies.terms_of(wish),
            first=wish["first"],
            now=now_ms(),
        )
        headers = {"Location": f"/api/v1/challenges/{view.row.id}"}
        return Response(view.wire(), status=201, headers=headers)


def _place(cursor: str, player_id: int) -> tuple[datetime, str]:
    """Where in a list a page ended. Raises `InvalidCursorError`."""
    try:
        row = challenge_view(cursor, player_id).row
    except UnknownChallengeError:
        raise InvalidCursorError("Start again at the first page.") from None
    return row.created_at, row.id


class ChallengeView(APIView):
    permission_classes = [HasScope(Scope.CHALLENGE)]

    @extend_schema(
        responses=bodies.ChallengeSerializer, parameters=[ID], operation_id="get_challenge"
    )
    def get(self, request: Request, challenge_id: str) -> Response:
        """A challenge that you made or may answer, open or not."""
        return Response(challenge_view(challenge_id, caller_of(request).player_id).wire())

    @extend_schema(responses={204: None}, parameters=[ID], operation_id="cancel_challenge")
    def delete(self, request: Request, challenge_id: str) -> Response:
        """Take your own challenge back; one of somebody else is declined by it."""
        challenges.decline_challenge(
            challenge_id=challenge_id,
            player_id=caller_of(request).player_id,
            reason="other",
            words="",
            now=now_ms(),
        )
        return Response(status=204)


class AcceptView(APIView):
    permission_classes = [HasScope(Scope.CHALLENGE)]

    @extend_schema(
        request=None,
        responses=bodies.ChallengeSerializer,
        parameters=[ID],
        operation_id="accept_challenge",
    )
    def post(self, request: Request, challenge_id: str) -> Response:
        """Agree; when everybody has, the game starts, and is `game`. Accepting again gives the same game."""
        view = challenges.accept_challenge(
            challenge_id=challenge_id, player_id=caller_of(request).player_id, now=now_ms()
        )
        return Response(view.wire())


class DeclineView(APIView):
    permission_classes = [HasScope(Scope.CHALLENGE)]

    @extend_schema(
        request=bodies.DeclineWish,
        responses=bodies.ChallengeSerializer,
        parameters=[ID],
        operation_id="decline_challenge",
    )
    def post(self, request: Request, challenge_id: str) -> Response:
        """Say no, and why."""
        view = challenges.decline_challenge(
            challenge_id=challenge_id,
            player_id=caller_of(request).player_id,
            now=now_ms(),
            **rest.body(bodies.DeclineWish, request),
        )
        return Response(view.wire())


class TakingView(APIView):
    """Whose challenges the caller takes."""

    permission_classes = [HasScope(Scope.CHALLENGE)]

    @extend_schema(responses=bodies.ChallengeTakingBody, operation_id="get_challenge_taking")
    def get(self, request: Request) -> Response:
        """`everybody`, unless you have said otherwise."""
        return Response({"whose": taken_by(caller_of(request).player_id)})

    @extend_schema(
        request=bodies.ChallengeTakingBody,
        responses=bodies.ChallengeTakingBody,
        operation_id="set_challenge_taking",
    )
    def put(self, request: Request) -> Response:
        """Take challenges of `everybody`, `friends` or `nobody`. Rematches are asked for all the same."""
        whose = rest.body(bodies.ChallengeTakingBody, request)["whose"]
        player_id = caller_of(request).player_id
        return Response({"whose": challenges.take_challenges(player_id=player_id, whose=whose)})


class RematchView(APIView):
    permission_classes = [HasScope(Scope.PLAY)]

    @extend_schema(request=None, responses=bodies.ChallengeSerializer, operation_id="ask_rematch")
    def post(self, request: Request, game_id: str) -> Response:
        """Ask for a rematch of a game that is over, or agree to it. When all its people have, `game` is the new one."""
        view = challenges.ask_rematch(
            game_id=game_id, player_id=caller_of(request).player_id, now=now_ms()
        )
        return Response(view.wire())
