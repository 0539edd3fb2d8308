"""`Idempotency-Key` for creating POSTs: the same key and body give the same answer for 24 hours."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db import transaction
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.selectors import Caller
from accounts.services import idempotency

Handler = Callable[..., Response]

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="16 to 255 visible characters, a fresh UUID for each thing to create. Repeating a request with its key "
    "within 24 hours gives the first answer again and creates nothing; another request with the key is refused.",
)
"""For `extend_schema(parameters=[IDEMPOTENCY_KEY])` on every handler that is `idempotent`."""


def idempotent(*, private_field: str = "") -> Callable[[Handler], Handler]:
    """Make a view's `post` answer a repetition like the first time, if the client sends an `Idempotency-Key`.

    With a key the handler runs in one transaction with the record of its answer, so it must not wait for work that is
    committed elsewhere. A refusal (an exception) is not recorded: the client may try again with the same key.
    `private_field` names the field of the answer that holds a token's secret; the handler then takes a keyword
    `secret` (None without a key) and must issue the token with it, and the field is never stored.
    """

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        def wrapper(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
            key = request.headers.get("Idempotency-Key")
            if key is None:
                return handler(view, request, *args, **kwargs)
            with transaction.atomic():
                attempt = idempotency.begin(who=_who(request), key=key, request=_request(request))
                if attempt.answered:
                    answer = dict(attempt.record.answer or {})
                    if private_field:
                        answer[private_field] = attempt.secret
                    return Response(
                        answer, attempt.record.status, headers={"Idempotent-Replay": "true"}
                    )
                if private_field:
                    kwargs["secret"] = attempt.secret
                response = handler(view, request, *args, **kwargs)
                kept = {
                    name: value for name, value in response.data.items() if name != private_field
                }
                attempt.answer_with(response.status_code, kept)
                return response

        return wrapper

    return decorate


def _who(request: Request) -> str:
    """A player's keys are the player's own, whatever the token; anonymous ones belong to the address."""
    if isinstance(request.auth, Caller):
        return f"player {request.auth.player_id}"
    return f"address {request.META.get('REMOTE_ADDR', '')}"


def _request(request: Request) -> bytes:
    return f"{request.method} {request.get_full_path()}\n".encode() + request.body
