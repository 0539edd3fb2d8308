"""Every error as RFC 9457 problem details; HTTP and the socket say the same thing."""

import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import psycopg
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, JsonResponse
from redis.exceptions import RedisError
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
    UnavailableError,
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


SILENCE = (
    OperationalError,
    InterfaceError,
    psycopg.OperationalError,
    psycopg.InterfaceError,
    RedisError,
    TimeoutError,
)
"""Something behind the server did not answer, or not in time. Prepared statements raise psycopg's own errors."""

FORESEEN: tuple[tuple[tuple[type[Exception], ...], Callable[[Any], KadoError]], ...] = (
    ((KadoError,), lambda error: error),
    ((Http404, exceptions.NotFound), lambda error: NotFoundError()),
    (
        (exceptions.ValidationError,),
        lambda error: InvalidError(
            "Some fields are not as they should be.", fields=error.get_full_details()
        ),
    ),
    ((RequestDataTooBig,), lambda error: TooLargeError()),
    ((exceptions.ParseError,), lambda error: InvalidError("The body is not JSON.")),
    ((exceptions.MethodNotAllowed,), lambda error: MethodNotAllowedError(str(error.detail))),
    ((exceptions.UnsupportedMediaType,), lambda error: UnsupportedMediaTypeError()),
    ((exceptions.NotAcceptable,), lambda error: NotAcceptableError()),
    (
        (exceptions.NotAuthenticated, exceptions.AuthenticationFailed),
        lambda error: NotAuthenticatedError("Send a token: `Authorization: Bearer …`."),
    ),
    (
        (exceptions.Throttled,),
        lambda error: RateLimitedError(retry_after_ms=int((error.wait or 1) * 1000)),
    ),
    ((exceptions.PermissionDenied,), lambda error: ForbiddenError()),
    (SILENCE, lambda error: UnavailableError()),
)
"""The refusals of the libraries, each in our own words; the first entry that fits counts."""


def problem_of(error: Exception, where: str) -> KadoError:
    """The refusal to send for any error. What nobody foresaw is logged and answered as `internal`."""
    for kinds, problem in FORESEEN:
        if isinstance(error, kinds):
            if isinstance(error, SILENCE):
                logger.warning("%s: something behind the server does not answer: %s", where, error)
            return problem(error)
    logger.error("unforeseen error in %s", where, exc_info=error)
    return KadoError("Something went wrong on our side; it has been logged.")


def handle(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's exception handler."""
    problem = problem_of(error, type(context.get("view")).__name__)
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
