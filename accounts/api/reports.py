"""REST: reports about players."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import selectors
from accounts import serializers as bodies
from accounts.authentication import caller_of
from accounts.idempotency import IDEMPOTENCY_KEY, idempotent
from accounts.permissions import HasScope
from accounts.rules import Scope
from accounts.services.reports import report_player
from common import rest
from common.clock import now_ms


class ReportsView(APIView):
    """What a player wants moderators to look at."""

    permission_classes = [HasScope(Scope.PLAY)]

    @extend_schema(
        request=bodies.ReportBody,
        responses={201: bodies.ReportSerializer},
        parameters=[IDEMPOTENCY_KEY],
    )
    @idempotent()
    def post(self, request: Request) -> Response:
        """Report a player. A moderator reads it; whether it had a consequence comes as `report_closed` in the inbox."""
        given = rest.body(bodies.ReportBody, request)
        report = report_player(
            reporter_id=caller_of(request).player_id,
            player=selectors.player_named(given["player"]),
            kind=given["kind"],
            game_id=given["game"],
            words=given["words"],
            now=now_ms(),
        )
        return Response(bodies.ReportSerializer({"report": report.pk}).data, 201)
