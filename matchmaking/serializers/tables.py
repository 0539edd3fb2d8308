"""The bodies of the REST API about rooms and challenges."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from common.rest import Body, WholeNumber
from games.territory.rules import VARIANTS, TimeKind
from matchmaking import rules
from matchmaking.models import Challenge, ChallengeTaking, Room
from matchmaking.rules import Terms
from matchmaking.serializers.pools import TimeControlSerializer

MAX_MS = 2**53
UNDO = ["none", "ask", "free"]
REASONS = ["later", "busy", "too-fast", "too-slow", "rated", "casual", "variant", "other"]
"""Why a challenge is declined, for a client to say in its user's language."""


class TimeControlWish(Body):
    """`initial_ms` for the game, or for each move when the kind is `correspondence`; neither when it is `none`."""

    kind = serializers.ChoiceField([kind.value for kind in TimeKind])
    initial_ms = serializers.IntegerField(min_value=0, max_value=MAX_MS, default=0)
    increment_ms = serializers.IntegerField(min_value=0, max_value=MAX_MS, default=0)


class TermsWish(Body):
    """What a game is to be played by."""

    variant = serializers.ChoiceField(choices=sorted(VARIANTS))
    time_control = TimeControlWish()
    rated = serializers.BooleanField(default=False)
    undo = serializers.ChoiceField(choices=UNDO, default="none")
    spectators = serializers.BooleanField(
        default=True, help_text="Whether others than its players may read the game."
    )


class NewRoom(TermsWish):
    friends_only = serializers.BooleanField(default=False)


class RoomChanges(Body):
    """What is to change; the rest stays."""

    variant = serializers.ChoiceField(choices=sorted(VARIANTS), required=False)
    time_control = TimeControlWish(required=False)
    rated = serializers.BooleanField(required=False)
    undo = serializers.ChoiceField(choices=UNDO, required=False)
    spectators = serializers.BooleanField(required=False)
    friends_only = serializers.BooleanField(required=False)


class RoomSeatWish(Body):
    """Nothing to sit down oneself; as the host, the level of a CPU."""

    level = serializers.CharField(required=False, max_length=16)


class ReadyWish(Body):
    """The `revision` of the settings for which you are ready."""

    revision = serializers.IntegerField(min_value=1, max_value=2**31 - 1)


class NewChallenge(TermsWish):
    player = serializers.CharField(max_length=64, help_text="The name of whom you challenge.")
    first = serializers.ChoiceField(choices=["challenger", "challenged", "draw"], default="draw")


class DeclineWish(Body):
    """Nothing, or why."""

    reason = serializers.ChoiceField(choices=REASONS, default="other")
    words = serializers.CharField(max_length=140, default="", allow_blank=True)


class ChallengesQuery(Body):
    direction = serializers.ChoiceField(
        choices=["in", "out"], default="in", help_text="To be answered by you, or by others."
    )
    cursor = serializers.CharField(max_length=64, default=None, help_text="From `next`.")
    limit = WholeNumber(min_value=1, max_value=100, default=50)


class ChallengeTakingBody(Body):
    """Whose challenges you take."""

    whose = serializers.ChoiceField(choices=ChallengeTaking.Whose.values)


class TermsSerializer(serializers.Serializer[Any]):
    variant = serializers.CharField()
    time_control = TimeControlSerializer()
    rated = serializers.BooleanField()
    undo = serializers.ChoiceField(choices=UNDO)
    spectators = serializers.BooleanField()


class RoomSeatSerializer(serializers.Serializer[Any]):
    """A seat: free, a person's, or a CPU's of a `level`, which is always ready."""

    seat = serializers.IntegerField()
    player = serializers.CharField(allow_null=True)
    level = serializers.CharField(allow_null=True)
    ready = serializers.BooleanField()


class RoomSerializer(TermsSerializer):
    """A room. `game` is there when it has started; then, and when it is closed, there are no seats any more."""

    room = serializers.CharField(help_text="Its code.")
    status = serializers.ChoiceField(choices=Room.Status.values)
    revision = serializers.IntegerField(help_text="Grows with every change of the settings.")
    host = serializers.CharField()
    friends_only = serializers.BooleanField()
    seats = RoomSeatSerializer(many=True)
    expires_at = serializers.DateTimeField()
    game = serializers.CharField(allow_null=True)


class StartedSerializer(serializers.Serializer[Any]):
    game = serializers.CharField()


class ChallengeSeatSerializer(serializers.Serializer[Any]):
    player = serializers.CharField()
    level = serializers.CharField(allow_null=True)
    agreed = serializers.BooleanField()


class ChallengeSerializer(TermsSerializer):
    """A challenge. The game starts when all its people have agreed, and is then `game`."""

    challenge = serializers.CharField()
    status = serializers.ChoiceField(choices=Challenge.Status.values)
    challenger = serializers.CharField()
    seats = ChallengeSeatSerializer(many=True)
    first = serializers.ChoiceField(choices=Challenge.First.values)
    rematch_of = serializers.CharField(allow_null=True)
    expires_at = serializers.DateTimeField()
    reason = serializers.ChoiceField(choices=REASONS, allow_null=True)
    words = serializers.CharField()
    game = serializers.CharField(allow_null=True)


class ChallengeListSerializer(serializers.Serializer[Any]):
    challenges = ChallengeSerializer(many=True)
    next = serializers.CharField(allow_null=True)


def terms_of(wish: Mapping[str, Any]) -> Terms:
    """The terms of a checked body. Raises `WrongSettingsError`."""
    return Terms(
        variant=wish["variant"],
        time_control=rules.time_control(**wish["time_control"]),
        rated=wish["rated"],
        undo=wish["undo"],
        spectators=wish["spectators"],
    )


def changes_of(wish: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a body that has some of them. Raises `WrongSettingsError`."""
    changes = dict(wish)
    if "time_control" in changes:
        changes["time_control"] = rules.time_control(**changes["time_control"])
    return changes
