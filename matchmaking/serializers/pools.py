"""The bodies of the REST API about pools and tickets."""

from typing import Any

from rest_framework import serializers

from games.territory.rules import Speed, TimeKind
from matchmaking.selectors import PoolCard


class TimeControlSerializer(serializers.Serializer[Any]):
    """`initial_ms` for the game, or for each move when the kind is `correspondence`."""

    kind = serializers.ChoiceField([kind.value for kind in TimeKind])
    initial_ms = serializers.IntegerField()
    increment_ms = serializers.IntegerField()


class PoolSerializer(serializers.Serializer[Any]):
    """A pool. `waiting` is the number of players in it now; a missing rating limit is null."""

    key = serializers.CharField()
    variant = serializers.CharField()
    time_control = TimeControlSerializer()
    speed = serializers.ChoiceField([speed.value for speed in Speed])
    players = serializers.IntegerField(help_text="Players of one game.")
    rated = serializers.BooleanField()
    window_limit = serializers.FloatField(help_text="The largest rating difference of a match.")
    min_rating = serializers.IntegerField(allow_null=True)
    max_rating = serializers.IntegerField(allow_null=True)
    open = serializers.BooleanField()
    bots = serializers.ChoiceField(
        ["none", "only", "welcome"], help_text="People alone, bots alone, or both."
    )
    waiting = serializers.IntegerField()


class PoolListSerializer(serializers.Serializer[Any]):
    pools = PoolSerializer(many=True)


class TicketSerializer(serializers.Serializer[Any]):
    """The caller's ticket. All but `state` is there as far as it is known: `game` when matched, the rest when waiting.

    `window` is the rating difference accepted now, `compatible` how many could be met now, `position` the place by age
    from 1, `estimate_ms` the median wait of the pool's latest `estimate_matches` matched tickets. Renew the ticket (PUT
    it again, or stay connected) within `renew_within_ms`.
    """

    state = serializers.ChoiceField(["none", "waiting", "matched"])
    pool = serializers.CharField(required=False)
    id = serializers.CharField(required=False)
    joined = serializers.DateTimeField(required=False)
    waited_ms = serializers.IntegerField(required=False)
    window = serializers.FloatField(required=False)
    window_limit = serializers.FloatField(required=False)
    compatible = serializers.IntegerField(required=False)
    waiting = serializers.IntegerField(required=False)
    position = serializers.IntegerField(required=False)
    estimate_ms = serializers.IntegerField(required=False)
    estimate_matches = serializers.IntegerField(required=False)
    renew_within_ms = serializers.IntegerField(required=False)
    game = serializers.CharField(required=False)


def pool_body(pool: PoolCard, waiting: int) -> dict[str, Any]:
    """What `PoolSerializer` describes."""
    control = pool.time_control
    return {
        "key": pool.key,
        "variant": pool.variant,
        "time_control": {
            "kind": control.kind.value,
            "initial_ms": control.initial_ms,
            "increment_ms": control.increment_ms,
        },
        "speed": control.speed.value,
        "players": pool.size,
        "rated": pool.rated,
        "window_limit": pool.window_limit,
        "min_rating": pool.min_rating,
        "max_rating": pool.max_rating,
        "open": pool.open,
        "bots": pool.bots,
        "waiting": waiting,
    }
