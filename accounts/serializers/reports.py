"""Bodies: reports about players."""

from typing import Any

from rest_framework import serializers

from accounts.models import Report
from accounts.services.reports import PLAYER_KINDS
from common.rest import Body

MAX_WORDS = 1_000


class ReportBody(Body):
    """`game` is what it is about, if it is about one; `words` are needed for `other`."""

    player = serializers.CharField(max_length=64)
    kind = serializers.ChoiceField([str(kind) for kind in PLAYER_KINDS])
    game = serializers.CharField(max_length=64, required=False, default="")
    words = serializers.CharField(
        max_length=MAX_WORDS, required=False, default="", allow_blank=True
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["kind"] == Report.Kind.OTHER and not attrs["words"]:
            raise serializers.ValidationError({"words": "Say what it is about."})
        return attrs


class ReportSerializer(serializers.Serializer[Any]):
    """`report` is named again by `report_closed` in the inbox."""

    report = serializers.CharField()
