"""Bodies: the inbox."""

from typing import Any

from rest_framework import serializers

from accounts.selectors import InboxMarks
from accounts.serializers.people import MAX_BIGINT
from common.rest import Body, WholeNumber


class InboxQuery(Body):
    """Items after a number, the oldest first; or the last ones before a number."""

    after = WholeNumber(min_value=0, max_value=MAX_BIGINT, default=0)
    before = WholeNumber(min_value=1, max_value=MAX_BIGINT, default=None, allow_null=True)
    limit = WholeNumber(min_value=1, max_value=100, default=50)


class InboxItemSerializer(serializers.Serializer[Any]):
    """One event; the socket sends the same bytes."""

    version = serializers.IntegerField()
    at = serializers.DateTimeField()
    event = serializers.DictField()


class ReadBody(Body):
    up_to = WholeNumber(min_value=0, max_value=MAX_BIGINT)


class InboxMarksSerializer(serializers.Serializer[Any]):
    """`version` is the number of the latest item, `read` that up to which all have been read."""

    version = serializers.IntegerField()
    read = serializers.IntegerField()
    unread = serializers.IntegerField()


class InboxSerializer(InboxMarksSerializer):
    """There is more while the last event's version is lower than `version`. Items up to `dropped` have gone by age."""

    dropped = serializers.IntegerField()
    events = InboxItemSerializer(many=True)


def marks_body(marks: InboxMarks) -> dict[str, int]:
    return {"version": marks.version, "read": marks.read, "unread": marks.unread}
