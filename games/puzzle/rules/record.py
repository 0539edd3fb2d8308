"""A run as it was played, and a replay that says whether everything in it is true.

>>> rules, seed = Rules.of("easy", undo="once"), bytes(32)
>>> record = Record(rules, seed, (Place(0, 0, "a1", points=4), TakeBack(), Place(1, 1, "a1", points=6)))
>>> replayed = replay(record)
>>> replayed.run.score, replayed.verdict, [str(each) for each in replayed.differences]
(5, 'differs', ['command 3: it says 6 points, and 5 follow (wrong-points)'])
"""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from .blocks import Block
from .deal import GENERATOR, seed_hash
from .errors import RecordError, RulesError
from .rules import Rules
from .run import Placed, Run, Statistics, place, start, take_back

STATUSES: Final = ("running", "over", "abandoned", "closed")
"""How a run stands: only one that is ``over`` has come to its end by the rules."""


@dataclass(frozen=True, slots=True)
class Place:
    """A placement as ``run.place`` takes it, and what is said to have come of it, if anything is."""

    slot: int
    rotation: int
    at: str
    points: int | None = None
    """All points of the placement."""
    dealt: tuple[Block, ...] | None = None
    """The hand that was dealt after it; empty if none was."""

    @classmethod
    def of(cls, slot: int, rotation: int, at: str, placed: Placed) -> "Place":
        """The placement with what did come of it."""
        return cls(slot, rotation, at, placed.total, placed.dealt)


@dataclass(frozen=True, slots=True)
class TakeBack:
    """The latest placement was taken back."""


Command: TypeAlias = Place | TakeBack


@dataclass(frozen=True, slots=True)
class Result:
    """What is said of the run after the last command."""

    status: str
    """One of ``STATUSES``."""
    score: int
    statistics: Statistics

    @classmethod
    def of(cls, run: Run, status: str = "running") -> "Result":
        """What is true of a run; ``status`` counts as long as it is not over."""
        return cls("over" if run.over else status, run.score, run.statistics)


@dataclass(frozen=True, slots=True)
class Record:
    rules: Rules
    seed: bytes | None
    """``None`` while it is secret."""
    commands: tuple[Command, ...]
    hand: tuple[Block, ...] | None = None
    """The first hand, if it is told."""
    date: dt.date | None = None
    """The day of a daily puzzle."""
    result: Result | None = None
    seed_hash: str = ""
    """What was published of the seed before the run began, if it is told."""
    generator: str = GENERATOR


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that a record says and that does not follow from its seed and commands."""

    code: str
    """The refusal of the rules, or ``wrong-seed``, ``wrong-deal``, ``wrong-points`` or ``wrong-result``."""
    message: str
    command: int | None = None
    """The command's number, counted from 1."""

    def __str__(self) -> str:
        where = "" if self.command is None else f"command {self.command}: "
        return f"{where}{self.message} ({self.code})"


@dataclass(frozen=True, slots=True)
class Replay:
    """A record that has been played again."""

    record: Record
    run: Run
    """After the last command, or before the first that the rules refuse."""
    differences: tuple[Difference, ...]

    @property
    def verdict(self) -> str:
        """``agrees`` if all that the record says follows from its seed and commands, else ``differs``."""
        return "differs" if self.differences else "agrees"


def replay(record: Record) -> Replay:
    """Play a record again.  Raises ``RecordError`` if it has no seed, or that of another generator."""
    if record.generator != GENERATOR:
        raise RecordError(
            f"The generator {record.generator!r:.40} is not known here, only {GENERATOR}.",
            code="unknown-generator",
        )
    if record.seed is None:
        raise RecordError(
            "The seed is not in the record: it is told when the run or the day has ended.",
            code="no-seed",
        )
    run = start(record.rules, record.seed)
    found = list(_on_the_start(record, record.seed, run))
    for number, command in enumerate(record.commands, 1):
        try:
            run, differences = _after(run, record.seed, command)
        except RulesError as error:
            # What comes later rests on a placement that cannot be, so nothing can be said of it.
            found.append(Difference(error.code, str(error).removesuffix("."), number))
            return Replay(record, run, tuple(found))
        found += (Difference(code, message, number) for code, message in differences)
    if record.result is not None:
        found += _on_the_result(record.result, run)
    return Replay(record, run, tuple(found))


def _on_the_start(record: Record, seed: bytes, run: Run) -> Iterator[Difference]:
    if record.seed_hash not in ("", seed_hash(seed)):
        yield Difference("wrong-seed", "the seed is not the one whose hash the record gives")
    if record.hand is not None and record.hand != run.hand:
        message = f"the first hand is said to be {_listed(record.hand)}, and is {_listed(run.hand)}"
        yield Difference("wrong-deal", message)


def _after(run: Run, seed: bytes, command: Command) -> tuple[Run, list[tuple[str, str]]]:
    """The run after a command, and what the command says wrongly: codes and messages."""
    if isinstance(command, TakeBack):
        return take_back(run), []
    run, placed = place(run, seed, command.slot, command.rotation, command.at)
    wrong = []
    if command.points not in (None, placed.total):
        message = f"it says {command.points} points, and {placed.total} follow"
        wrong.append(("wrong-points", message))
    if command.dealt not in (None, placed.dealt):
        message = f"it says {_listed(command.dealt)} was dealt, and it was {_listed(placed.dealt)}"
        wrong.append(("wrong-deal", message))
    return run, wrong


def _on_the_result(said: Result, run: Run) -> Iterator[Difference]:
    if (said.status == "over") != run.over:
        now = "over" if run.over else "not over"
        yield Difference("wrong-result", f"the run is said to be {said.status}, and is {now}")
    true = Result.of(run)
    pairs = {"score": (said.score, true.score)} | {
        name.replace("_", " "): (getattr(said.statistics, name), getattr(true.statistics, name))
        for name in Statistics.__dataclass_fields__
    }
    for name, (stated, found) in pairs.items():
        if stated != found:
            yield Difference("wrong-result", f"{name} is said to be {stated}, and is {found}")


def _listed(blocks: tuple[Block | None, ...] | None) -> str:
    return ", ".join(str(block) for block in blocks or ()) or "nothing"
