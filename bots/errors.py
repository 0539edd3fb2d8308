"""Why a hint is refused. The rest (`not-your-turn`, `game-over` and so on) is in `games.territory.errors`."""

from common.errors import ConflictError, ForbiddenError


class HintNotAllowedError(ForbiddenError):
    """Hints are for unrated games against the CPU without other people."""

    code = "hint-not-allowed"
    title = "There are no hints in this game"


class NoHintsLeftError(ConflictError):
    """The player has had all hints of this game."""

    code = "no-hints-left"
    title = "All hints of this game have been given"
