"""Signals that concern the web processes as such."""

import logging
import re
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from corsheaders.signals import check_request_enabled
from django.conf import settings
from django.dispatch import receiver
from django.http import HttpRequest
from redis.exceptions import RedisError

from accounts.selectors.apps import is_app_origin
from accounts.signals import credential_ended, player_erased
from config.sockets import CONTROL_GROUP

logger = logging.getLogger(__name__)


@receiver(credential_ended)
def close_sockets_of(credential: str, **facts: Any) -> None:
    """Tell every web process at once; if the message is lost, their wardens notice within seconds."""
    _tell({"type": "credential.ended", "credential": credential})


@receiver(player_erased)
def forget_in_every_process(player_id: int, **facts: Any) -> None:
    """Close the player's sockets, and let go of games that name the player; a lost message heals the same way."""
    _tell({"type": "player.erased", "player": player_id})


def _tell(message: dict[str, Any]) -> None:
    try:
        async_to_sync(get_channel_layer().group_send)(CONTROL_GROUP, message)
    except (RedisError, OSError) as error:
        logger.warning("%s not announced: %s", message["type"], error)


@receiver(check_request_enabled)
def let_pages_of_apps_call(request: HttpRequest, **facts: Any) -> bool:
    """A page of another site may call the API if its origin is one that an app has registered."""
    called = re.match(settings.CORS_URLS_REGEX, request.path_info) is not None
    return called and is_app_origin(request.headers.get("Origin", ""))
