"""Signals that concern the web processes as such."""

import logging
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.dispatch import receiver
from redis.exceptions import RedisError

from accounts.signals import token_revoked
from config.sockets import CONTROL_GROUP

logger = logging.getLogger(__name__)


@receiver(token_revoked)
def close_sockets_of_token(token_id: int, **facts: Any) -> None:
    """Tell every web process at once; if the message is lost, their wardens notice within seconds."""
    try:
        layer = get_channel_layer()
        async_to_sync(layer.group_send)(
            CONTROL_GROUP, {"type": "token.revoked", "token_id": token_id}
        )
    except (RedisError, OSError) as error:
        logger.warning("revocation of a token not announced: %s", error)
