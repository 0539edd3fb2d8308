"""How a row says where it stands on its leaderboard."""

from django.db import models
from django.db.models import Q


class Place(models.Func):
    """Where a row stands on its leaderboard: numbers that are compared one after the other, the first place lowest.

    The last one is the player's id, so that no two rows stand in one place. Double precision, because ratings are; it
    holds whole numbers up to 2^53 exactly.
    """

    template = "ARRAY[%(expressions)s]::double precision[]"


def _all(condition: Q) -> models.Expression:
    return models.ExpressionWrapper(condition, output_field=models.BooleanField())
