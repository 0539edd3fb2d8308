"""REST: friends, requests and blocks."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import selectors
from accounts import serializers as bodies
from accounts.api.base import NAME, address_with
from accounts.authentication import caller_of
from accounts.permissions import HasScope
from accounts.rules import Scope
from accounts.selectors import PlayerCard
from accounts.selectors.friends import (
    Listed,
    ListPage,
    blocks_page,
    friends_page,
    requests_page,
)
from accounts.selectors.presence import online_if_known
from accounts.services import friends
from common import rest
from common.clock import now_ms, rfc3339


class _Friends(APIView):
    permission_classes = [HasScope(Scope.FRIENDS)]


def _next(request: Request, page: ListPage, **query: Any) -> str | None:
    return address_with(request, cursor=page.next, **query) if page.next else None


class FriendsView(_Friends):
    """The caller's friends."""

    @extend_schema(parameters=[bodies.NamesQuery], responses=bodies.FriendListSerializer)
    def get(self, request: Request) -> Response:
        """All friends by name, and who of them is online."""
        query = rest.query(bodies.NamesQuery, request)
        page = friends_page(caller_of(request).player_id, **query)
        online = online_if_known([line.player.id for line in page.lines], now_ms())
        lines = [bodies.friend_body(line, online) for line in page.lines]
        return Response({"friends": lines, "next": _next(request, page, limit=query["limit"])})


class FriendView(_Friends):
    """One of them."""

    @extend_schema(request=None, responses=bodies.FriendSerializer, parameters=[NAME])
    def put(self, request: Request, name: str) -> Response:
        """Accept the player's request to be friends. Whoever is a friend already stays one."""
        player = selectors.player_named(name)
        tie = friends.accept_friend(
            player_id=caller_of(request).player_id, other_id=player.pk, now=now_ms()
        )
        line = Listed(PlayerCard.of(player), tie.since or tie.asked_at)
        return Response(bodies.friend_body(line, online_if_known([player.pk], now_ms())))

    @extend_schema(responses={204: None}, parameters=[NAME])
    def delete(self, request: Request, name: str) -> Response:
        """Be friends no more. The other one is not told."""
        other = selectors.player_named(name)
        friends.remove_friend(player_id=caller_of(request).player_id, other_id=other.pk)
        return Response(status=204)


class FriendRequestsView(_Friends):
    """Requests that nobody has answered yet."""

    @extend_schema(parameters=[bodies.RequestsQuery], responses=bodies.FriendRequestListSerializer)
    def get(self, request: Request) -> Response:
        """Who has asked you, by name; with `direction=sent` whom you have asked."""
        query = rest.query(bodies.RequestsQuery, request)
        direction = query.pop("direction")
        page = requests_page(caller_of(request).player_id, sent=direction == "sent", **query)
        address = _next(request, page, limit=query["limit"], direction=direction)
        return Response({"requests": list(map(bodies.request_body, page.lines)), "next": address})


class FriendRequestView(_Friends):
    """A request between the caller and another player."""

    @extend_schema(request=None, responses=bodies.AskedSerializer, parameters=[NAME])
    def put(self, request: Request, name: str) -> Response:
        """Ask the player to be friends. If they have asked you, you are friends by it."""
        player = selectors.player_named(name)
        tie = friends.ask_friend(
            player_id=caller_of(request).player_id, other_id=player.pk, now=now_ms()
        )
        body = {
            "player": bodies.player_body(player),
            "state": "pending" if tie.since is None else "friends",
            "at": rfc3339(tie.since or tie.asked_at),
        }
        return Response(body)

    @extend_schema(responses={204: None}, parameters=[NAME])
    def delete(self, request: Request, name: str) -> Response:
        """Decline the player's request, or take back your own. The other one is not told."""
        other = selectors.player_named(name)
        friends.drop_request(player_id=caller_of(request).player_id, other_id=other.pk)
        return Response(status=204)


class RequestsFromView(_Friends):
    """Whose requests the caller takes."""

    @extend_schema(request=bodies.RequestsFromSerializer, responses=bodies.RequestsFromSerializer)
    def put(self, request: Request) -> Response:
        """Take friend requests from `everybody` or from `nobody`. Those that wait already stay."""
        who = rest.body(bodies.RequestsFromSerializer, request)["requests_from"]
        friends.take_requests_from(player_id=caller_of(request).player_id, who=who)
        return Response({"requests_from": who})


class BlocksView(_Friends):
    """Whom the caller wants nothing of."""

    @extend_schema(parameters=[bodies.NamesQuery], responses=bodies.BlockListSerializer)
    def get(self, request: Request) -> Response:
        """All players whom you block, by name. Nobody else sees that you do."""
        query = rest.query(bodies.NamesQuery, request)
        page = blocks_page(caller_of(request).player_id, **query)
        address = _next(request, page, limit=query["limit"])
        return Response({"blocks": list(map(bodies.block_body, page.lines)), "next": address})


class BlockView(_Friends):
    """One of them."""

    @extend_schema(request=None, responses=bodies.BlockSerializer, parameters=[NAME])
    def put(self, request: Request, name: str) -> Response:
        """Block the player: you are friends no more, are not paired, and hear nothing of each other."""
        player = selectors.player_named(name)
        made = friends.block(
            player_id=caller_of(request).player_id, other_id=player.pk, now=now_ms()
        )
        return Response(bodies.block_body(Listed(PlayerCard.of(player), made.at)))

    @extend_schema(responses={204: None}, parameters=[NAME])
    def delete(self, request: Request, name: str) -> Response:
        """End your block of the player. A friendship that it ended does not come back."""
        other = selectors.player_named(name)
        friends.unblock(player_id=caller_of(request).player_id, other_id=other.pk)
        return Response(status=204)
