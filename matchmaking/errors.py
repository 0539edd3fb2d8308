"""Why a wish to be matched is refused. `already-playing` is `games.territory.errors.EngagedError`."""

from common.errors import ConflictError, ForbiddenError, NotFoundError


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
