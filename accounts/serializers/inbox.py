"""Bodies: the inbox."""

from typing import Any

from rest_framework import serializers

from accounts.serializers.people import MAX_BIGINT
from common.rest import Body, WholeNumber


class InboxQuery(Body):
    after = WholeNumber(min_value=0, max_value=MAX_BIGINT, default=0)
    limit = WholeNumber(min_value=1, max_value=100, default=50)


class InboxItemSerializer(serializers.Serializer[Any]):
    """One event; the socket sends the same bytes."""

    version = serializers.IntegerField()
    at = serializers.DateTimeField()
    event = serializers.DictField()


class InboxSerializer(serializers.Serializer[Any]):
    """`version` is the number of the latest item: there is more while the last event's is lower."""

    version = serializers.IntegerField()
    events = InboxItemSerializer(many=True)
