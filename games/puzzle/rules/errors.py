"""What can be wrong with a request to the rules; every error has a stable kebab-case code."""


class RulesError(ValueError):
    """The base of all errors of the rules; ``code`` is stable, the text is for people."""

    code = "rules-error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class WrongRulesError(RulesError):
    """There are no such rules, or the level does not allow them; ``field`` says which of them."""

    code = "wrong-rules"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class IllegalPlacementError(RulesError):
    """The rules refuse the placement; ``code`` tells why.

    ``run-over``, ``block-not-in-hand``, ``rotation-not-allowed``, ``outside-board`` or ``cells-occupied``.
    """

    code = "illegal-placement"

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message, code=code)


class UndoError(RulesError):
    """No placement can be taken back: ``undo-off``, ``undo-used`` or ``nothing-to-undo``."""

    code = "undo-error"

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message, code=code)


class DateError(RulesError):
    """The text is not a day of the calendar, written ``2026-11-30``."""

    code = "bad-date"


class RecordError(RulesError):
    """A record that cannot be read: ``bad-json``, ``bad-schema``, ``unknown-generator``, ``bad-field``, or no seed."""

    code = "bad-record"

    def __init__(self, message: str, *, code: str, command: int | None = None) -> None:
        super().__init__(message if command is None else f"command {command}: {message}", code=code)
        self.command = command
