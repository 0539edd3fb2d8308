"""What accounts do when something happens in accounts."""

from typing import Any

import structlog
from django.dispatch import receiver
from redis.exceptions import RedisError

from accounts import states
from accounts.signals import friends_changed, presence_changed

log = structlog.get_logger(__name__)


@receiver(friends_changed, dispatch_uid="accounts.show_friends")
def show_friends(*, player_ids: tuple[int, ...], **_: Any) -> None:
    """Both see it on all their devices."""
    states.touch(player_ids)


@receiver(presence_changed, dispatch_uid="accounts.show_presence")
def show_presence(*, online: tuple[int, ...], offline: tuple[int, ...], **_: Any) -> None:
    """Friends see who comes and goes."""
    try:
        states.touch_friends(online + offline)
    except RedisError as error:
        log.warning("presence not shown, until it is compared", error=str(error))
