"""REST: the games that are being played now."""

from typing import Any
from urllib.parse import urlencode

import msgspec
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from common import rest
from common.rest import Body, WholeNumber, json_bytes
from games.territory import listing, rules


class LiveGamesQuery(Body):
    """Which of the games that are being played, and from where on."""

    variant = serializers.ChoiceField(
        choices=sorted(rules.VARIANTS), default=None, help_text="Of this variant only."
    )
    min_rating = WholeNumber(
        min_value=0,
        max_value=10_000,
        default=None,
        help_text="Only those whose players have this rating in the mean.",
    )
    cursor = serializers.CharField(default=None, max_length=40)
    limit = WholeNumber(min_value=1, max_value=100, default=20)


class LiveGames(APIView):
    @extend_schema(
        parameters=[LiveGamesQuery],
        responses=OpenApiTypes.OBJECT,
        operation_id="list_live_games",
    )
    def get(self, request: Request) -> HttpResponse:
        """Games with a running clock between at least two players, the strongest first."""
        wish: dict[str, Any] = rest.query(LiveGamesQuery, request)
        page = listing.live_games_page(**wish)
        address = None
        if page.next:
            given = {name: value for name, value in wish.items() if value is not None}
            address = f"{request.path}?{urlencode({**given, 'cursor': page.next})}"
        return json_bytes(msgspec.json.encode({"games": page.games, "next": address}))
