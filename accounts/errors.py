"""What accounts refuse, each with its stable code."""

from common.errors import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotAuthenticatedError,
    NotFoundError,
)


class InvalidTokenError(NotAuthenticatedError):
    """Unknown, malformed, expired or revoked: the answer does not tell which."""

    code = "invalid-token"
    title = "The token is not valid"


class MissingScopeError(ForbiddenError):
    """The token lacks a scope; `scope` is the one that is needed."""

    code = "missing-scope"
    title = "The token lacks a scope"


class UnknownPlayerError(NotFoundError):
    code = "unknown-player"
    title = "There is no such player"


class UnknownTokenError(NotFoundError):
    code = "unknown-token"
    title = "You have no such token"


class UnknownLeaderboardError(NotFoundError):
    code = "unknown-leaderboard"
    title = "There is no such leaderboard"


class NotOnLeaderboardError(NotFoundError):
    """The player has no line there: nothing entered yet, provisional, removed, or banned."""

    code = "not-on-leaderboard"
    title = "The player is not on this leaderboard"


class InvalidNameError(InvalidError):
    code = "invalid-name"
    title = "A player cannot have this name"


class NameTakenError(ConflictError):
    code = "name-taken"
    title = "Another player has this name"


class InvalidCursorError(InvalidError):
    code = "invalid-cursor"
    title = "The cursor is not one that this list gave"


class InvalidIdempotencyKeyError(InvalidError):
    code = "invalid-idempotency-key"
    title = "An Idempotency-Key is 16 to 255 visible ASCII characters"


class IdempotencyKeyReusedError(InvalidError):
    """The key stands for another request of the last 24 hours."""

    code = "idempotency-key-reused"
    status = 422
    title = "This Idempotency-Key was used for another request"
