"""What can be wrong with a request to the rules; every error has a stable kebab-case code."""


class RulesError(ValueError):
    """The base of all errors of the rules; ``code`` is stable, the text is for people."""

    code = "rules-error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class UnknownVariantError(RulesError):
    """There is no variant of this name."""

    code = "unknown-variant"


class MalformedMoveError(RulesError):
    """The text is not a list of distinct cells."""

    code = "malformed-move"


class IllegalMoveError(RulesError):
    """The move is well written, but the rules refuse it; ``code`` tells which rule.

    ``outside-board``, ``not-a-piece``, ``piece-not-left``, ``occupied``, ``edge-contact``,
    ``no-corner-contact``, ``first-cell-not-covered``, ``not-to-move`` or ``game-over``.
    """

    code = "illegal-move"

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message, code=code)


class GameNotOverError(RulesError):
    """An outcome was asked of a game that is still being played."""

    code = "game-not-over"


class ClockError(RulesError):
    """The clock cannot do this: it stands, or its time is used up."""

    code = "clock-error"
