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


class RecordError(RulesError):
    """A record that cannot be read, or whose moves cannot be.

    ``code`` is that of the move's error, or one of ``wrong-result``, ``bad-syntax``, ``bad-json``, ``bad-schema``,
    ``unknown-game``, ``bad-property`` and ``bad-field``.
    """

    code = "bad-record"

    def __init__(
        self, message: str, *, code: str, node: int | None = None, line: int | None = None
    ) -> None:
        where = [f"{name} {at}" for name, at in (("line", line), ("node", node)) if at is not None]
        super().__init__(f"{', '.join(where)}: {message}" if where else message, code=code)
        self.message = message
        self.node = node
        self.line = line


class ClockError(RulesError):
    """The clock cannot do this: it stands, or its time is used up."""

    code = "clock-error"
