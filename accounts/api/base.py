"""What the views share."""

from typing import Any
from urllib.parse import urlencode

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.models import Player

NAME = OpenApiParameter("name", str, OpenApiParameter.PATH, description="In any case.")


def address_with(request: Request, **query: Any) -> str:
    return f"{request.path}?{urlencode(query)}"


def caller_player(request: Request) -> Player:
    caller_of(request)
    if not isinstance(request.user, Player):
        raise TypeError("TokenAuthentication sets a player")
    return request.user
