"""What the default workers do for matchmaking by the calendar."""

import structlog
from celery import shared_task

from matchmaking.services.own_tables import forget_tables

logger = structlog.get_logger(__name__)


@shared_task(name="matchmaking.forget_tables")
def forget() -> None:
    """Remove rooms and challenges that have been over for a week. Done twice, it finds nothing."""
    logger.info("forgotten", what="rooms and challenges", rows=forget_tables())
