"""REST: the caller's inbox."""

import msgspec
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import selectors
from accounts import serializers as bodies
from accounts.authentication import caller_of
from accounts.services.inbox import mark_read
from common import rest


class InboxView(APIView):
    """The caller's notifications."""

    @extend_schema(parameters=[bodies.InboxQuery], responses=bodies.InboxSerializer)
    def get(self, request: Request) -> HttpResponse:
        """The items after version `after` in order; poll with the last version seen, or follow the socket.

        With `before` the last items below that version, in order too: for reading back from the newest.
        """
        query, player_id = rest.query(bodies.InboxQuery, request), caller_of(request).player_id
        if query["before"] is None:
            notes = selectors.inbox_after(player_id, query["after"], query["limit"])
        else:
            notes = selectors.inbox_before(player_id, query["before"], query["limit"])
            notes = [note for note in notes if note.version > query["after"]]
        marks = selectors.inbox_marks(player_id)
        head = {**bodies.marks_body(marks), "dropped": marks.dropped}
        events = ",".join("{" + note.body() for note in notes)
        # Put together as text: an event's bytes are the same here and on the socket.
        return rest.json_bytes(f'{msgspec.json.encode(head).decode()[:-1]},"events":[{events}]}}')


class ReadView(APIView):
    """How far the caller has read."""

    @extend_schema(request=bodies.ReadBody, responses=bodies.InboxMarksSerializer)
    def put(self, request: Request) -> Response:
        """The items up to `up_to` have been read; a lower number than before changes nothing."""
        up_to = rest.body(bodies.ReadBody, request)["up_to"]
        marks = mark_read(player_id=caller_of(request).player_id, up_to=up_to)
        return Response(bodies.marks_body(marks))
