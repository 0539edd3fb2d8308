"""Every refusal has one class with a stable code, so that HTTP and the socket say the same thing."""

from typing import Any, ClassVar


class KadoError(Exception):
    """A refusal that a client may see.

    Subclasses set `code` (stable, kebab-case), `status` (the HTTP status) and `title`; `detail` is one sentence
    for a person, and keyword arguments are data that helps a program (`version`, `retry_after_ms` …).
    """

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal error"

    def __init__(self, detail: str = "", **data: Any) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.data = data

    def problem(self) -> dict[str, Any]:
        """The RFC 9457 problem details of this refusal, without its `type` address."""
        return {
            "code": self.code,
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            **self.data,
        }


class InvalidError(KadoError):
    """The request does not have the form that is asked for; `fields` names what is wrong with each field."""

    code = "invalid"
    status = 400
    title = "The request is malformed"


class NotAuthenticatedError(KadoError):
    code = "not-authenticated"
    status = 401
    title = "Authentication is needed"


class ForbiddenError(KadoError):
    code = "forbidden"
    status = 403
    title = "This is not allowed"


class NotFoundError(KadoError):
    code = "not-found"
    status = 404
    title = "There is nothing here"


class ConflictError(KadoError):
    code = "conflict"
    status = 409
    title = "The request does not fit the current state"


class RateLimitedError(KadoError):
    code = "too-fast"
    status = 429
    title = "Too many requests"


class UnavailableError(KadoError):
    """Something behind the server did not answer in time; nothing is known to have changed: ask again."""

    code = "unavailable"
    status = 503
    title = "Try again in a moment"
