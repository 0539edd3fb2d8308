"""A record as JSON, by itself and for ever readable: ``schema`` says which form it has.

>>> from .record import Place
>>> record = Record(Rules.of("hard"), bytes(32), (Place(0, 0, "a1"),))
>>> read_json(write_json(record)) == record
True

Members that this version does not know are passed over, so that later ones may add some.  See docs/puzzle.md.
"""

import json
import re
from dataclasses import asdict, fields
from typing import Any, Final, TypeVar

from .blocks import Block
from .daily import parse_date
from .deal import GENERATOR, HAND, SEED_BYTES
from .errors import DateError, RecordError, WrongRulesError
from .record import STATUSES, Command, Place, Record, Result, TakeBack
from .rules import Rules
from .run import Statistics

SCHEMA: Final = 1

Json = dict[str, Any]
T = TypeVar("T")

_HASH = re.compile("[0-9a-f]{64}")
_KINDS: Final[dict[type, str]] = dict(
    zip(
        (str, int, bool, list, dict),
        ("text", "whole number", "truth value", "list", "object"),
        strict=True,
    )
)


def write_json(record: Record) -> str:
    """The record as JSON text, a command a line; ``read_json`` gives the same record again."""
    data = as_dict(record)
    commands = ",\n    ".join(json.dumps(each) for each in data["commands"])
    listed = f"[\n    {commands}\n  ]" if commands else "[]"
    lines = (
        f"  {json.dumps(name)}: {listed if name == 'commands' else json.dumps(value)}"
        for name, value in data.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def as_dict(record: Record) -> Json:
    """The record as JSON has it; what it does not say is left out, except for a secret seed, which is ``None``."""
    data: Json = {"schema": SCHEMA, "generator": record.generator, "rules": record.rules.as_dict()}
    if record.date is not None:
        data["date"] = record.date.isoformat()
    if record.seed_hash:
        data["seed_hash"] = record.seed_hash
    data["seed"] = None if record.seed is None else record.seed.hex()
    if record.hand is not None:
        data["hand"] = [block.text for block in record.hand]
    data["commands"] = [_command(command) for command in record.commands]
    if record.result is not None:
        result = record.result
        data["result"] = {"status": result.status, "score": result.score}
        data["result"] |= asdict(result.statistics)
    return data


def _command(command: Command) -> Json:
    if isinstance(command, TakeBack):
        return {"undo": True}
    data: Json = {"slot": command.slot, "rotation": command.rotation, "at": command.at}
    if command.points is not None:
        data["points"] = command.points
    if command.dealt is not None:
        data["dealt"] = [block.text for block in command.dealt]
    return data


def read_json(text: str | bytes) -> Record:
    """The record that a JSON text is; whether it is true is for ``replay`` to say.

    Raises ``RecordError``: ``bad-json``, ``bad-schema``, ``unknown-generator``, ``wrong-rules`` or ``bad-field``.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"This is no JSON text: {error}.", code="bad-json") from error
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA or type(schema) is not int:
        raise RecordError(
            f"This is no record of schema {SCHEMA}, the one that is known here.", code="bad-schema"
        )
    return _record(_Members(data))


def _record(data: "_Members") -> Record:
    generator = data.get("generator", str)
    if generator != GENERATOR:
        raise RecordError(
            f"The generator {generator!r:.40} is not known here, only {GENERATOR}.",
            code="unknown-generator",
        )
    rules = _read_rules(_Members(data.get("rules", dict)))
    day = data.optional("date", str)
    if (day is not None) != (rules.level == "daily"):
        raise data.bad("date", "stands in the record of a daily puzzle, and in no other")
    commands = data.get("commands", list)
    result = data.optional("result", dict)
    try:
        parsed = None if day is None else parse_date(day)
    except DateError as error:
        raise data.bad("date", f"is {day!r:.40}, which is no day") from error
    return Record(
        rules=rules,
        seed=_read_seed(data),
        commands=tuple(
            _read_command(_Members(command, number)) for number, command in enumerate(commands, 1)
        ),
        hand=data.blocks("hand", (HAND,)),
        date=parsed,
        result=None if result is None else _read_result(_Members(result)),
        seed_hash=data.hexadecimal("seed_hash") or "",
    )


def _read_seed(data: "_Members") -> bytes | None:
    text = data.hexadecimal("seed")
    return None if text is None else bytes.fromhex(text)


def _read_rules(data: "_Members") -> Rules:
    try:
        return Rules.of(
            data.get("level", str),
            data.optional("board", str),
            data.optional("undo", str),
            rotation=data.optional("rotation", bool),
            dealing=data.optional("dealing", str),
            shapes=data.optional("shapes", str),
        )
    except WrongRulesError as error:
        raise RecordError(str(error), code=error.code) from error


def _read_command(data: "_Members") -> Command:
    if data.optional("undo", bool):
        if "slot" in data.members:
            raise data.bad("undo", "stands by itself")
        return TakeBack()
    return Place(
        data.get("slot", int),
        data.get("rotation", int),
        data.get("at", str),
        data.optional("points", int),
        data.blocks("dealt", (0, HAND)),
    )


def _read_result(data: "_Members") -> Result:
    status = data.get("status", str)
    if status not in STATUSES:
        raise data.bad("status", f"is {status!r:.40}, and not one of {', '.join(STATUSES)}")
    counts = {field.name: data.get(field.name, int) for field in fields(Statistics)}
    return Result(status, data.get("score", int), Statistics(**counts))


class _Members:
    """The members of one JSON object, which give what is asked for or say what is wrong with it."""

    def __init__(self, members: Any, command: int | None = None) -> None:
        self.command = command
        """The number of the command that the object is."""
        if not isinstance(members, dict):
            raise RecordError("This is no object.", code="bad-field", command=command)
        self.members: Json = members

    def bad(self, name: str, what: str) -> RecordError:
        return RecordError(f"{name} {what}.", code="bad-field", command=self.command)

    def get(self, name: str, kind: type[T]) -> T:
        """The value of a member that has to be there."""
        value = self.optional(name, kind)
        if value is None:
            raise self.bad(name, "is missing")
        return value

    def optional(self, name: str, kind: type[T]) -> T | None:
        """The value of a member; ``None`` if it is not there."""
        value = self.members.get(name)
        if value is not None and type(value) is not kind:  # true is no number
            raise self.bad(name, f"holds {value!r:.40}, which is no {_KINDS[kind]}")
        return value

    def hexadecimal(self, name: str) -> str | None:
        """A text of 32 bytes in hex, in small letters."""
        text = self.optional(name, str)
        if text is not None and not _HASH.fullmatch(text):
            raise self.bad(name, f"has to be {2 * SEED_BYTES} digits from 0 to f")
        return text

    def blocks(self, name: str, lengths: tuple[int, ...]) -> tuple[Block, ...] | None:
        """A list of so many blocks; ``None`` if it is not there."""
        texts = self.optional(name, list)
        if texts is None:
            return None
        try:
            blocks = tuple(Block.read(text) for text in texts)
        except (KeyError, TypeError) as error:
            raise self.bad(name, f"holds {texts!r:.80}, of which not all are blocks") from error
        if len(blocks) not in lengths:
            raise self.bad(name, f"holds {len(blocks)} blocks")
        return blocks
