"""What a game refuses, each with its stable code. Refusals by the state carry the version they were decided at."""

from common.errors import ConflictError, ForbiddenError, InvalidError, NotFoundError


class UnknownGameError(NotFoundError):
    code = "unknown-game"
    title = "There is no such game"


class UnknownVariantError(InvalidError):
    code = "unknown-variant"
    title = "There is no such variant"


class SeatsError(InvalidError):
    code = "wrong-seats"
    title = "The seats do not fit the variant"


class NotSeatedError(ForbiddenError):
    """The caller has no seat in this game."""

    code = "not-seated"
    title = "You have no seat in this game"


class NotYourTurnError(ConflictError):
    code = "not-your-turn"
    title = "Another seat is to move"


class StalePlyError(ConflictError):
    """The command is for another ply than the current one; `ply` is the current one."""

    code = "stale-ply"
    title = "The game is at another ply"


class GameOverError(ConflictError):
    code = "game-over"
    title = "The game is over"


class UndoNotAllowedError(ForbiddenError):
    """Moves are taken back where one person plays alone and unrated, or where the game's rule `undo` lets them."""

    code = "undo-not-allowed"
    title = "Moves cannot be taken back in this game"


class UndoAskedError(ConflictError):
    """Another seat asks for an undo already; answer that first, or play on."""

    code = "undo-asked"
    title = "Another undo is asked for"


class UndoDeclinedError(ConflictError):
    """The others have said no, and nobody has moved since."""

    code = "undo-declined"
    title = "The undo was declined"


class NoUndoAskedError(ConflictError):
    """There is no wish of another seat to answer: it was declined, or is over with the latest move."""

    code = "no-undo-asked"
    title = "No undo is asked for"


class SpectatorsRefusedError(ForbiddenError):
    """The game is for its players only."""

    code = "spectators-refused"
    title = "This game is for its players only"


class NothingToUndoError(ConflictError):
    """The player has made no move yet, or a seat has left since."""

    code = "nothing-to-undo"
    title = "There is no move to take back"


class TooLateError(ConflictError):
    """The clock had run out when the move arrived."""

    code = "too-late"
    title = "The time was up"


class MalformedMoveError(InvalidError):
    code = "malformed-move"
    title = "The move is not written as cells"


class IllegalMoveError(ConflictError):
    """The rules refuse the move; `reason` is the rule's own code, such as `edge-contact`."""

    code = "illegal-move"
    status = 422
    title = "The rules do not allow this move"


class EngagedError(ConflictError):
    """A player already has a live matched game; `game` is its id, `player_ids` is for callers on this side."""

    code = "already-playing"
    title = "There is already a live game"

    def __init__(self, player_ids: frozenset[int], game: str) -> None:
        super().__init__("Finish the game that is being played first.", game=game)
        self.player_ids = player_ids


class UnknownLevelError(InvalidError):
    code = "unknown-level"
    title = "There is no such CPU level"


class NotFinishedError(ConflictError):
    """A record or an analysis was asked of a game that is still being played."""

    code = "not-finished"
    title = "The game is not over yet"
