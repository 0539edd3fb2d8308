"""The rules of a run as data: a level, a board, and whether one placement can be taken back.

>>> Rules.of("easy", undo="once").key
'easy:10x10:once'
>>> Rules.of("normal", rotation=True)
Traceback (most recent call last):
    ...
games.puzzle.rules.errors.WrongRulesError: The level normal has rotation off; choose custom to set it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from .board import BOARDS, BoardKind
from .errors import WrongRulesError

DEALINGS: Final = ("fitting", "random")
SHAPES: Final = ("mostly-small", "some-big", "mostly-big")
UNDOS: Final = ("once", "off")

_OFF_FITTING: Final = {"rotation": False, "dealing": "fitting"}
_OFF_RANDOM: Final = {"rotation": False, "dealing": "random"}
_SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "easy": {"rotation": True, "dealing": "fitting", "shapes": "mostly-small"},
        "normal": _OFF_FITTING | {"shapes": "some-big"},
        "hard": _OFF_RANDOM | {"shapes": "mostly-big"},
        "custom": {},
        "daily": _OFF_RANDOM | {"shapes": "some-big", "board": "10x10", "undo": "off"},
    }
)
"""What each level sets; the rest is free."""
_DEFAULTS: Final = {"board": "10x10", "undo": "off"}
_CHOICES: Final[Mapping[str, tuple[Any, ...]]] = MappingProxyType(
    {
        "board": tuple(BOARDS),
        "rotation": (True, False),
        "dealing": DEALINGS,
        "shapes": SHAPES,
        "undo": UNDOS,
    }
)

LEVELS: Final = tuple(_SETTINGS)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a run; get them from ``Rules.of``, which gives allowed ones only."""

    level: str
    """One of ``LEVELS``."""
    board: BoardKind
    rotation: bool
    """Whether blocks can be turned before they are placed."""
    dealing: str
    """``fitting``: every block fits somewhere when it is dealt; ``random``: whatever the board."""
    shapes: str
    """How many big shapes are dealt, one of ``SHAPES``."""
    undo: str
    """``once`` or ``off``."""

    @classmethod
    def of(
        cls,
        level: str,
        board: str | None = None,
        undo: str | None = None,
        *,
        rotation: bool | None = None,
        dealing: str | None = None,
        shapes: str | None = None,
    ) -> "Rules":
        """The rules of a level; without more, on the board 10x10 with undo off.

        Only ``custom`` takes ``rotation``, ``dealing`` and ``shapes``, and wants all three; the other levels take them
        if they say what is so anyway, and ``daily`` does so with ``board`` and ``undo``.  Raises ``WrongRulesError``.
        """
        if level not in LEVELS:
            raise WrongRulesError(
                "level", f"There is no level {level!r:.40}; choose one of {', '.join(LEVELS)}."
            )
        wanted = {
            "board": board,
            "rotation": rotation,
            "dealing": dealing,
            "shapes": shapes,
            "undo": undo,
        }
        chosen = {name: _chosen(level, name, value) for name, value in wanted.items()}
        return cls(level, BOARDS[chosen.pop("board")], **chosen)

    @property
    def key(self) -> str:
        """What a personal best is kept under, such as ``easy:10x10:once``."""
        if self.level == "daily":
            return self.level
        level = self.level
        if level == "custom":
            turning = "rotation" if self.rotation else "fixed"
            level = f"custom-{turning}-{self.dealing}-{self.shapes}"
        return f"{level}:{self.board.key}:{self.undo}"

    def as_dict(self) -> dict[str, Any]:
        """All six as JSON has them; ``Rules.of`` takes them back as keyword arguments."""
        return {
            "level": self.level,
            "board": self.board.key,
            "rotation": self.rotation,
            "dealing": self.dealing,
            "shapes": self.shapes,
            "undo": self.undo,
        }


def _chosen(level: str, name: str, wanted: Any) -> Any:
    """The value of one setting, if the level allows the one that is wanted."""
    own = _SETTINGS[level].get(name)
    if wanted is None:
        value = _DEFAULTS.get(name) if own is None else own
        if value is None:
            raise WrongRulesError(name, f"The level {level} wants {name}: {_listed(name)}.")
        return value
    if wanted not in _CHOICES[name]:
        raise WrongRulesError(
            name, f"{name} cannot be {wanted!r:.40}; choose one of {_listed(name)}."
        )
    if own is not None and wanted != own:
        remedy = "" if name in _DEFAULTS else "; choose custom to set it"
        raise WrongRulesError(name, f"The level {level} has {name} {_word(own)}{remedy}.")
    return wanted


def _listed(name: str) -> str:
    return ", ".join(_word(choice) for choice in _CHOICES[name])


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


DAILY: Final = Rules.of("daily")
"""The rules of every daily puzzle."""
