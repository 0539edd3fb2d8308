"""Why a wish to be matched is refused. `already-playing` is `games.territory.errors.EngagedError`."""

from common.errors import ConflictError, ForbiddenError, InvalidError, NotFoundError


class AlreadyWaitingError(ConflictError):
    """The player's one ticket stands in another pool; `pool` names it. Leave that pool first."""

    code = "already-waiting"
    title = "You are waiting in another pool"


class PoolClosedError(ConflictError):
    """An operator has closed the pool for new tickets."""

    code = "pool-closed"
    title = "This pool is closed"


class GuestsNotAllowedError(ForbiddenError):
    """Guests play the CPU and puzzles; pools are for registered players."""

    code = "guests-not-allowed"
    title = "Sign in to play against people"


class BotsNotAllowedError(ForbiddenError):
    """The pool is for people alone, as all are unless their operator says otherwise."""

    code = "bots-not-allowed"
    title = "Bots cannot wait in this pool"


class PeopleNotAllowedError(ForbiddenError):
    """The pool is for bots alone."""

    code = "people-not-allowed"
    title = "This pool is for bots"


class RatingOutsidePoolError(ForbiddenError):
    """The player's rating lies outside the pool's limits; `min_rating` and `max_rating` are given."""

    code = "rating-outside-pool"
    title = "Your rating is outside this pool's limits"


class UnknownPoolError(NotFoundError):
    code = "unknown-pool"
    title = "There is no such pool"


# Rooms and challenges


class WrongSettingsError(InvalidError):
    """What a game is to be played by does not go together, or is outside the bounds; `fields` says what."""

    code = "wrong-settings"
    title = "No game can be played like this"


class RatedNotAllowedError(ForbiddenError):
    """A rated game is for people who have signed in, two at least, and for no CPU and no bot."""

    code = "rated-not-allowed"
    title = "These players cannot play rated"


class OthersPlayingError(ConflictError):
    """Somebody else (`players`) has a live game; nothing has changed, so it can be tried again after it."""

    code = "others-playing"
    title = "Another player is in a live game"


class UnknownRoomError(NotFoundError):
    code = "unknown-room"
    title = "There is no such room"


class RoomOverError(ConflictError):
    """The room's game has started (`game`), or it was closed; `status` says which."""

    code = "room-over"
    title = "The room is not open any more"


class NotHostError(ForbiddenError):
    """Only the room's host does this; `host` is who that is now."""

    code = "not-host"
    title = "You are not the host of this room"


class NotInRoomError(ForbiddenError):
    code = "not-in-room"
    title = "You do not sit in this room"


class NotWelcomeError(ForbiddenError):
    """The room is for the host's friends, or a block stands between the caller and somebody who sits there."""

    code = "not-welcome"
    title = "You cannot sit in this room"


class InAnotherRoomError(ConflictError):
    """A player sits in one open room at a time; `room` is its code."""

    code = "in-another-room"
    title = "You sit in another room"


class SeatTakenError(ConflictError):
    code = "seat-taken"
    title = "The seat is taken"


class SeatsOccupiedError(ConflictError):
    """The variant has fewer seats, and somebody sits on one that it has not."""

    code = "seats-occupied"
    title = "Somebody sits where the variant has no seat"


class StaleSettingsError(ConflictError):
    """The settings have been changed; `revision` is the present one."""

    code = "stale-settings"
    title = "The room's settings have changed"


class RoomNotReadyError(ConflictError):
    """`empty` are the seats that nobody has taken, `waiting_for` the players who are not ready."""

    code = "room-not-ready"
    title = "The game cannot start yet"


class UnknownChallengeError(NotFoundError):
    """There is none of this id, or the caller has no part in it."""

    code = "unknown-challenge"
    title = "There is no such challenge"


class ChallengeOverError(ConflictError):
    """It was declined, cancelled or has expired; `status` says which."""

    code = "challenge-over"
    title = "The challenge is over"


class NoChallengesError(ForbiddenError):
    """The player takes none, takes none of the caller, or cannot be challenged; the answer does not tell which."""

    code = "no-challenges"
    title = "This player does not take challenges from you"


class ChallengeWaitsError(ConflictError):
    """A challenge of the caller to this player waits for an answer already; `challenge` is its id."""

    code = "challenge-waiting"
    title = "You have challenged this player already"


class TooManyChallengesError(ConflictError):
    """The caller, or the player challenged, has as many open challenges as may be (`limit`)."""

    code = "too-many-challenges"
    title = "Too many challenges are open"
