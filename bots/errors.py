"""Why a hint is refused. The rest (`not-your-turn`, `run-over` and so on) is in the errors of the games."""

from common.errors import ConflictError, ForbiddenError


class HintNotAllowedError(ForbiddenError):
    """Hints are for unrated games against the CPU without other people, and for runs that are no counted attempt."""

    code = "hint-not-allowed"
    title = "There are no hints here"


class NoHintsLeftError(ConflictError):
    """The player has had all hints of this game."""

    code = "no-hints-left"
    title = "All hints of this game have been given"
