"""Why a hint or an analysis is refused. The rest (`not-your-turn`, `run-over`, …) is in the errors of the games."""

from common.errors import ConflictError, ForbiddenError, NotFoundError


class HintNotAllowedError(ForbiddenError):
    """Hints are for unrated games against the CPU without other people, and for runs that are no counted attempt."""

    code = "hint-not-allowed"
    title = "There are no hints here"


class NoHintsLeftError(ConflictError):
    """The player has had all hints of this game."""

    code = "no-hints-left"
    title = "All hints of this game have been given"


class NoAnalysisError(NotFoundError):
    """Nobody has asked for an analysis of this game, or none since moves were taken back after its end."""

    code = "no-analysis"
    title = "This game has not been analysed"


class AnalysisNotReadyError(ConflictError):
    """The analysis is still being made, or has failed: `status`, `done` and `plies` say how far it is."""

    code = "analysis-not-ready"
    title = "The analysis is not ready"


class NothingToAnalyseError(ConflictError):
    """The game ended before the first move."""

    code = "nothing-to-analyse"
    title = "There is no move in this game"


class TooManyAnalysesError(ConflictError):
    """The caller, or everybody together, waits for as many analyses as may be made at a time."""

    code = "too-many-analyses"
    title = "Too many analyses are being made"
