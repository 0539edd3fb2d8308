"""Every error as RFC 9457 problem details; HTTP and the socket say the same thing."""

import logging
from http import HTTPStatus
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, JsonResponse
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from common.errors import (
    ForbiddenError,
    InvalidError,
    KadoError,
    NotAuthenticatedError,
    NotFoundError,
    RateLimitedError,
)

logger = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"


class MethodNotAllowedError(InvalidError):
    code = "method-not-allowed"
    status = 405
    title = "This address does not take that method"


class UnsupportedMediaTypeError(InvalidError):
    code = "unsupported-media-type"
    status = 415
    title = "Send JSON (Content-Type: application/json)"


class NotAcceptableError(InvalidError):
    code = "not-acceptable"
    status = 406
    title = "The answer is JSON"


class TooLargeError(InvalidError):
    code = "too-large"
    status = 413
    title = "The body is too large"


def document(error: KadoError) -> dict[str, Any]:
    """The problem document, with the address of the code's description."""
    return {"type": f"/docs/errors#{error.code}", **error.problem()}


def as_kado_error(error: Exception) -> KadoError | None:
    """The library's refusals in our own words; None for what nobody foresaw."""
    match error:
        case KadoError():
            return error
        case Http404() | exceptions.NotFound():
            return NotFoundError()
        case exceptions.ValidationError():
            return InvalidError(
                "Some fields are not as they should be.", fields=error.get_full_details()
            )
        case RequestDataTooBig():
            return TooLargeError()
        case exceptions.ParseError():
            return InvalidError("The body is not JSON.")
        case exceptions.MethodNotAllowed():
            return MethodNotAllowedError(str(error.detail))
        case exceptions.UnsupportedMediaType():
            return UnsupportedMediaTypeError()
        case exceptions.NotAcceptable():
            return NotAcceptableError()
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return NotAuthenticatedError("Send a token: `Authorization: Bearer …`.")
        case exceptions.Throttled(wait=wait):  # type: ignore[misc]  # the stubs do not know it
            return RateLimitedError(retry_after_ms=int((wait or 1) * 1000))
        case exceptions.PermissionDenied():
            return ForbiddenError()
        case _:
            return None


def handle(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's exception handler. What nobody foresaw is logged and answered as `internal`."""
    problem = as_kado_error(error)
    if problem is None:
        logger.error("unforeseen error in %s", context.get("view"), exc_info=error)
        problem = KadoError("Something went wrong on our side; it has been logged.")
    set_rollback()
    response = Response(document(problem), status=problem.status, content_type=CONTENT_TYPE)
    if problem.status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = 'Bearer realm="kado"'
    if retry := problem.data.get("retry_after_ms"):
        response["Retry-After"] = str(-(-retry // 1000))
    return response


def _page(problem: KadoError) -> JsonResponse:
    return JsonResponse(document(problem), status=problem.status, content_type=CONTENT_TYPE)


def page_not_found(request: HttpRequest, exception: Exception) -> JsonResponse:
    """Django's handler404."""
    return _page(NotFoundError(f"Nothing is served at {request.path}."))


def bad_request(request: HttpRequest, exception: Exception) -> JsonResponse:
    """Django's handler400."""
    return _page(InvalidError())


def permission_denied(request: HttpRequest, exception: Exception) -> JsonResponse:
    """Django's handler403."""
    return _page(ForbiddenError())


def server_error(request: HttpRequest) -> JsonResponse:
    """Django's handler500."""
    return _page(KadoError("Something went wrong on our side; it has been logged."))
