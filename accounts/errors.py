"""What accounts refuse, each with its stable code."""

from typing import Any

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


class CsrfError(ForbiddenError):
    """A session's cookie came without the proof that the request is from a page of ours."""

    code = "csrf-failed"
    title = "The request does not prove that it comes from this site"


class AccountClosedError(ForbiddenError):
    """An operator has closed the account."""

    code = "account-closed"
    title = "This account is closed"


class BannedError(ForbiddenError):
    """A play ban is in force: `until` and `reason` say how long and why, to the banned player alone.

    `player_ids` are those who may not play, for callers on this side.
    """

    code = "banned"
    title = "You may not play now"

    def __init__(self, detail: str, *, player_ids: frozenset[int], **data: Any) -> None:
        super().__init__(detail, **data)
        self.player_ids = player_ids


class QueueBannedError(ForbiddenError):
    """A queue ban is in force: `until` and `reason` say how long and why."""

    code = "queue-banned"
    title = "You may not wait in pools now"


class IdentityInUseError(ConflictError):
    """Somebody signed in wants to add an identity by which another player signs in."""

    code = "identity-in-use"
    title = "Another player signs in by this"


class NotForGuestsError(ForbiddenError):
    code = "not-for-guests"
    title = "Sign in first"


class NotForAppsError(ForbiddenError):
    """The token is one of an app; only the player can do this, signed in or by a token of their own."""

    code = "not-for-apps"
    title = "Apps may not do this"


class MissingScopeError(ForbiddenError):
    """The token lacks a scope; `scope` is the one that is needed."""

    code = "missing-scope"
    title = "The token lacks a scope"


class UnknownPlayerError(NotFoundError):
    code = "unknown-player"
    title = "There is no such player"


class NotInGameError(InvalidError):
    """The report names a game that the reported player has no seat in."""

    code = "not-in-game"
    title = "The player has no seat in this game"


class AlreadyReportedError(ConflictError):
    """A report of the same player, about the same game if any, is still open."""

    code = "already-reported"
    title = "You have reported this already"


class TooManyReportsError(ConflictError):
    """`limit` reports of the caller are open, or were made today."""

    code = "too-many-reports"
    title = "You have made as many reports as you may"


class CannotBefriendError(ForbiddenError):
    """Oneself, a guest, or a CPU player: none of them could answer."""

    code = "cannot-befriend"
    title = "This player cannot be asked to be friends"


class RequestsClosedError(ForbiddenError):
    """The player takes no requests, or blocks the caller: the answer does not tell which."""

    code = "requests-closed"
    title = "The player takes no friend requests"


class PlayerBlockedError(ConflictError):
    """The caller blocks the player."""

    code = "player-blocked"
    title = "You block this player"


class UnknownFriendRequestError(NotFoundError):
    """It may have been taken back a moment ago."""

    code = "unknown-friend-request"
    title = "The player has not asked you"


class TooManyFriendsError(ConflictError):
    """`player` names who has as many as one may have, `limit`."""

    code = "too-many-friends"
    title = "There are as many friends as one may have"


class TooManyFriendRequestsError(ConflictError):
    """`player` names who has as many unanswered ones as one may have, `limit`: the caller sent, the other received."""

    code = "too-many-friend-requests"
    title = "There are too many unanswered friend requests"


class CannotBlockError(ForbiddenError):
    """Oneself, or a CPU player."""

    code = "cannot-block"
    title = "This player cannot be blocked"


class TooManyBlocksError(ConflictError):
    """`limit` says how many are possible."""

    code = "too-many-blocks"
    title = "You block as many players as one may"


class BuiltInPlayerError(ForbiddenError):
    """It is a CPU player: nobody is behind it."""

    code = "built-in-player"
    title = "The server's own players stay"


class UnknownTokenError(NotFoundError):
    code = "unknown-token"
    title = "You have no such token"


class AlreadyRatedError(ConflictError):
    """People's ratings would stay among those of bots, and on the results of those who met them."""

    code = "already-rated"
    title = "A player with rated games cannot become a bot"


class UnknownAppError(NotFoundError):
    """No app of this client id is the caller's, or has access for them."""

    code = "unknown-app"
    title = "You have no such app"


class TooManyAppsError(ConflictError):
    code = "too-many-apps"
    title = "You have registered as many apps as you may"


class UnknownLeaderboardError(NotFoundError):
    code = "unknown-leaderboard"
    title = "There is no such leaderboard"


class NotOnLeaderboardError(NotFoundError):
    """The player has no line there: nothing entered yet, provisional, removed, or banned."""

    code = "not-on-leaderboard"
    title = "The player is not on this leaderboard"


class UnknownSeasonError(NotFoundError):
    code = "unknown-season"
    title = "There is no such season"


class SeasonNotOverError(ConflictError):
    """It has no final tables yet: it has not ended, or not been closed, or games of it are not rated yet."""

    code = "season-not-over"
    title = "The season has no final table yet"


class InvalidNameError(InvalidError):
    code = "invalid-name"
    title = "A player cannot have this name"


class NameTakenError(ConflictError):
    code = "name-taken"
    title = "Another player has this name"


class NameChangedLatelyError(ConflictError):
    """`retry_after_ms` says when the next change is possible."""

    code = "name-changed-lately"
    title = "The name was changed not long ago"


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
