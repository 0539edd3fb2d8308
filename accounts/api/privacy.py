"""REST: the caller's data, given out and erased."""

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.authentication import caller_of
from accounts.permissions import HasScope
from accounts.rules import Scope
from accounts.services.person_export import person_export
from common.downloads import download


class ExportView(APIView):
    """The caller's data."""

    permission_classes = [HasScope(Scope.PROFILE)]

    @extend_schema(responses=OpenApiTypes.OBJECT, operation_id="export_me")
    def get(self, request: Request) -> StreamingHttpResponse:
        """All that is kept of you, as one JSON document; its schema is `docs/export.schema.json`.

        It is made while it is sent. One download at a time: another one meanwhile is refused with `too-fast`.
        """
        caller = caller_of(request)
        caller.require_no_app()
        return download(
            person_export(caller.player_id),
            who=f"player:{caller.player_id}",
            file=f"{caller.name}.json",
            content_type="application/json",
        )
