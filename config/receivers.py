"""Signals that concern the web processes as such."""

import logging
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.dispatch import receiver
from redis.exceptions import RedisError

from accounts.signals import credential_ended
from config.sockets import CONTROL_GROUP

logger = logging.getLogger(__name__)


@receiver(credential_ended)
def close_sockets_of(credential: str, **facts: Any) -> None:
    """Tell every web process at once; if the message is lost, their wardens notice within seconds."""
    try:
        layer = get_channel_layer()
        async_to_sync(layer.group_send)(
            CONTROL_GROUP, {"type": "credential.ended", "credential": credential}
        )
    except (RedisError, OSError) as error:
        logger.warning("end of a credential not announced: %s", error)
