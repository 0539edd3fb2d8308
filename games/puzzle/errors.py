"""What a run refuses, each with its stable code. Refusals of a command carry the run's `turn` and `version`."""

from common.errors import ConflictError, ForbiddenError, InvalidError, NotFoundError


class UnknownRunError(NotFoundError):
    """There is no such run, or it is somebody else's: the answer does not tell which."""

    code = "unknown-run"
    title = "You have no such run"


class UnknownDailyError(NotFoundError):
    """The date is none, lies ahead, or is before the first daily puzzle."""

    code = "unknown-daily"
    title = "There is no daily puzzle of this date"


class WrongRulesError(InvalidError):
    """A level, board or setting that does not exist, or that does not go with the level; `field` names it."""

    code = "wrong-rules"
    title = "There are no such rules"


class StaleTurnError(ConflictError):
    """The command answers another turn than the run's (`turn`), and is not the one that was accepted there."""

    code = "stale-turn"
    title = "The run is at another turn"


class RunOverError(ConflictError):
    code = "run-over"
    title = "The run is over"


class DailyClosedError(ConflictError):
    """The UTC date has changed; nothing of the command was kept."""

    code = "daily-closed"
    title = "The day of this puzzle is over"


class DailyOpenError(ConflictError):
    """Practice is for past dates; today's puzzle is played by its one counted attempt."""

    code = "daily-open"
    title = "The day of this puzzle is not over yet"


class IllegalPlacementError(ConflictError):
    """The parent of what the rules refuse about a placement; it is not sent itself."""

    code = "illegal-placement"
    status = 422
    title = "The rules do not allow this placement"


class BlockNotInHandError(IllegalPlacementError):
    code = "block-not-in-hand"
    title = "This slot of the hand is empty"


class RotationNotAllowedError(IllegalPlacementError):
    code = "rotation-not-allowed"
    title = "Blocks cannot be turned in this run"


class OutsideBoardError(IllegalPlacementError):
    code = "outside-board"
    title = "The block would lie outside the board"


class CellsOccupiedError(IllegalPlacementError):
    code = "cells-occupied"
    title = "The block would lie on covered cells"


class UndoOffError(ForbiddenError):
    code = "undo-off"
    title = "Nothing can be taken back in this run"


class UndoUsedError(ConflictError):
    code = "undo-used"
    title = "The one undo of this run is used"


class NothingToUndoError(ConflictError):
    """No placement has been made yet."""

    code = "nothing-to-undo"
    title = "There is nothing to take back"


class OtherRunStartedError(ConflictError):
    """The run was over, and another one with the same rules has been started since: its seed is public."""

    code = "other-run-started"
    title = "Another run with these rules has been started since"


class RunNotOverError(ConflictError):
    """To others a run is shown when its seed is public: nothing can change any more."""

    code = "run-not-over"
    title = "The run is not over yet"
