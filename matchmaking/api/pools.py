"""REST: the pools, and the caller's ticket in one of them."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import caller_of
from accounts.permissions import HasScope
from accounts.selectors import Scope
from common.clock import now_ms
from matchmaking.selectors import pool_card, pool_cards, pool_sizes, ticket_view
from matchmaking.serializers import pools as bodies
from matchmaking.services.tickets import join_pool, leave_pool

KEY = OpenApiParameter("key", str, OpenApiParameter.PATH, description="Such as `duo-blitz`.")


class PoolsView(APIView):
    """Where players meet."""

    permission_classes = [AllowAny]

    @extend_schema(responses=bodies.PoolListSerializer, operation_id="list_pools")
    def get(self, request: Request) -> Response:
        """Every pool, and how many wait in it."""
        cards = pool_cards()
        sizes = pool_sizes([card.key for card in cards])
        return Response({"pools": [bodies.pool_body(card, sizes[card.key]) for card in cards]})


class PoolView(APIView):
    """One pool."""

    permission_classes = [AllowAny]

    @extend_schema(responses=bodies.PoolSerializer, parameters=[KEY], operation_id="get_pool")
    def get(self, request: Request, key: str) -> Response:
        """The pool of this key, and how many wait in it."""
        return Response(bodies.pool_body(pool_card(key), pool_sizes([key])[key]))


class TicketView(APIView):
    """The caller's wish to be matched in a pool."""

    permission_classes = [HasScope(Scope.PLAY)]

    @extend_schema(responses=bodies.TicketSerializer, parameters=[KEY])
    def get(self, request: Request, key: str) -> Response:
        """The ticket explained. Asking does not renew it."""
        pool_card(key)
        player_id = caller_of(request).player_id
        return Response(ticket_view(player_id=player_id, pool_key=key, now=now_ms()).wire())

    @extend_schema(request=None, responses=bodies.TicketSerializer, parameters=[KEY])
    def put(self, request: Request, key: str) -> Response:
        """Wait in the pool, or renew the ticket that waits there. The match arrives in the inbox."""
        player_id = caller_of(request).player_id
        return Response(join_pool(player_id=player_id, pool_key=key, now=now_ms()).wire())

    @extend_schema(responses={204: None}, parameters=[KEY])
    def delete(self, request: Request, key: str) -> Response:
        """Stop waiting. `already-playing` if the match was quicker; without a ticket there nothing happens."""
        leave_pool(player_id=caller_of(request).player_id, pool_key=key, now=now_ms())
        return Response(status=204)
