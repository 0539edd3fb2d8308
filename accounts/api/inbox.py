"""REST: the caller's inbox."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts import selectors
from accounts import serializers as bodies
from accounts.authentication import caller_of
from common import rest


class InboxView(APIView):
    """The caller's notifications."""

    @extend_schema(parameters=[bodies.InboxQuery], responses=bodies.InboxSerializer)
    def get(self, request: Request) -> HttpResponse:
        """The items after version `after` in order; poll with the last version seen, or follow the socket."""
        query, player_id = rest.query(bodies.InboxQuery, request), caller_of(request).player_id
        notes = selectors.inbox_after(player_id, query["after"], query["limit"])
        version = selectors.inbox_version(player_id)
        events = ",".join("{" + note.body() for note in notes)
        # Put together as text: an event's bytes are the same here and on the socket.
        body = f'{{"version":{version},"events":[{events}]}}'
        return HttpResponse(body, content_type="application/json")
