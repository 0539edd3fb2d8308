"""A record as JSON, by itself and for ever readable: ``schema`` says which form it has.

>>> from .variant import variant
>>> text = write_json(Record.of(variant("duo"), ["e10", "j5"], players=("Ada", "Ben")))
>>> print(text.replace('"moves": [', '"moves": [...').partition("...")[0])
{
  "schema": 1,
  "variant": "duo",
  "players": ["Ada", "Ben"],
  "moves": [
>>> read_json(text).players
('Ada', 'Ben')

Members that this version does not know are passed over, so that later ones may add some.  See docs/records.md.
"""

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

from .errors import RecordError, RulesError
from .notation import Move, parse_move
from .outcome import Outcome, Termination
from .record import Node, Properties, Record, Setup
from .variant import Variant, variant

SCHEMA: Final = 1
_EPOCH: Final = datetime.fromtimestamp(0, UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)

Json = dict[str, Any]
T = TypeVar("T")


def write_json(record: Record) -> str:
    """The record as JSON text, a move a line; ``read_json`` gives the same record again."""
    data = as_dict(record)
    moves = ",\n    ".join(map(_text, data["moves"]))
    listed = f"[\n    {moves}\n  ]" if moves else "[]"
    lines = (
        f"  {_text(name)}: {listed if name == 'moves' else _text(value)}"
        for name, value in data.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def as_dict(record: Record) -> Json:
    """The record as JSON has it; what it does not say is left out, except for an empty list of moves."""
    root, *rest = record.nodes
    data: Json = {"schema": SCHEMA, "variant": record.variant.key}
    data |= _present(players=list(record.players), date=record.date) | _node(root, record.variant)
    data["moves"] = [
        _present(after=None if node.parent == number else node.parent) | _node(node, record.variant)
        for number, node in enumerate(rest)
    ]
    if record.result is not None:
        data["result"] = asdict(record.result)
    return data


def read_json(text: str | bytes) -> Record:
    """The record that a JSON text is, replayed and found right.

    Raises ``RecordError``: ``bad-json``, ``bad-schema``, ``bad-field``, or what ``Record.replay`` raises.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"This is no JSON text: {error}.", code="bad-json") from error
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA or isinstance(schema, bool):
        raise RecordError(
            f"This is no record of schema {SCHEMA}, the one that is known here.", code="bad-schema"
        )
    record = _record(_Members(data, node=None))
    record.replay()
    return record


# Writing


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _present(**members: Any) -> Json:
    """Those members that say something."""
    return {name: value for name, value in members.items() if value not in (None, "", [], {})}


def _node(node: Node, on: Variant) -> Json:
    return _present(
        setup=None if node.setup is None else _setup(node.setup, on),
        colour=None if node.colour is None else on.colours[node.colour],
        move=None if node.move is None else node.move.text,
        left=[{"seat": seat, "reason": reason.value} for seat, reason in node.left],
        at=None if node.at is None else _rfc3339(node.at),
        comment=node.comment,
        properties={name: list(values) for name, values in node.properties.items()},
    )


def _setup(setup: Setup, on: Variant) -> Json:
    placed = zip(on.colours, setup.placed, strict=True)
    return {
        "placed": {name: [move.text for move in moves] for name, moves in placed if moves}
    } | _present(
        removed=[move.text for move in setup.removed],
        turn=None if setup.turn is None else on.colours[setup.turn],
    )


def _rfc3339(at: int) -> str:
    text = (_EPOCH + at * _MILLISECOND).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


# Reading


def _record(data: "_Members") -> Record:
    on = data.read("variant", variant)
    players = data.each("players", str)
    if players and len(players) != on.seats:
        raise data.bad("players", f"names {len(players)} players for {on.seats} seats")
    nodes = [_read_node(_Members(data.members, node=0), on, parent=-1)]
    for number, entry in enumerate(data.each("moves", dict), 1):
        move = _Members(entry, node=number)
        nodes.append(
            _read_node(move, on, parent=move.whole("after", below=number, default=number - 1))
        )
    result = data.get("result", dict, {})
    return Record(
        variant=on,
        nodes=tuple(nodes),
        players=players,
        date=data.get("date", str, ""),
        result=_read_result(_Members(result, node=None)) if result else None,
    )


def _read_node(data: "_Members", on: Variant, *, parent: int) -> Node:
    colour = data.get("colour", str, "")
    move = data.get("move", str, "")
    if bool(colour) != bool(move):
        raise data.bad("move", "and colour stand together or not at all")
    setup = data.get("setup", dict, {})
    at = data.get("at", str, "")
    return Node(
        parent=parent,
        colour=data.read("colour", lambda name: _colour(name, on)) if colour else None,
        move=data.read("move", lambda text: parse_move(text, on)) if move else None,
        setup=_read_setup(_Members(setup, node=data.node), on) if setup else None,
        left=tuple(
            _read_leaver(_Members(entry, node=data.node), on) for entry in data.each("left", dict)
        ),
        at=data.read("at", _instant) if at else None,
        comment=data.get("comment", str, ""),
        properties=_read_properties(data),
    )


def _read_setup(data: "_Members", on: Variant) -> Setup:
    placed = _Members(data.get("placed", dict, {}), node=data.node)
    for name in placed.members:
        placed.checked(name, lambda name: _colour(name, on), name)
    turn = data.get("turn", str, "")
    return Setup(
        placed=tuple(_read_moves(placed, name, on) for name in on.colours),
        removed=_read_moves(data, "removed", on),
        turn=data.read("turn", lambda name: _colour(name, on)) if turn else None,
    )


def _read_moves(data: "_Members", name: str, on: Variant) -> tuple[Move, ...]:
    return tuple(
        data.checked(name, lambda text: parse_move(text, on), text) for text in data.each(name, str)
    )


def _read_leaver(data: "_Members", on: Variant) -> tuple[int, Termination]:
    return data.whole("seat", below=on.seats), data.read("reason", Termination)


def _read_properties(data: "_Members") -> Properties:
    values = _Members(data.get("properties", dict, {}), node=data.node)
    return {name: values.each(name, str) for name in values.members}


def _read_result(data: "_Members") -> Outcome:
    return Outcome(
        termination=data.read("termination", Termination),
        points=data.each("points", int),
        penalty_points=data.each("penalty_points", int),
        ranks=data.each("ranks", int),
        terminations=tuple(
            data.checked("terminations", Termination, word)
            for word in data.each("terminations", str)
        ),
    )


def _colour(name: str, on: Variant) -> int:
    return on.colours.index(name)


def _instant(text: str) -> int:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("an instant says how far it is from UTC")
    return (at.astimezone(UTC) - _EPOCH) // _MILLISECOND


class _Members:
    """The members of one JSON object, which give what is asked for or say what is wrong with it."""

    def __init__(self, members: dict[str, Any], *, node: int | None) -> None:
        self.members = members
        self.node = node
        """The node that the object belongs to."""

    def bad(self, name: str, what: str) -> RecordError:
        return RecordError(f"{name} {what}.", code="bad-field", node=self.node)

    def get(self, name: str, kind: type[T], default: T | None = None) -> T:
        """The value of a member; without a default it has to be there."""
        value = self.members.get(name)
        if value is None:
            if default is None:
                raise self.bad(name, "is missing")
            return default
        return self._of(kind, value, name)

    def each(self, name: str, kind: type[T]) -> tuple[T, ...]:
        """The values of a list, none if it is not there."""
        values: list[Any] = self.get(name, list, [])
        return tuple(self._of(kind, value, name) for value in values)

    def whole(self, name: str, *, below: int, default: int | None = None) -> int:
        """A number from 0 to ``below``, this one not included."""
        number = self.get(name, int, default)
        if not 0 <= number < below:
            raise self.bad(name, f"is {number}, and not from 0 to {below - 1}")
        return number

    def read(self, name: str, parse: Callable[[str], T]) -> T:
        """What the text of a member means to ``parse``."""
        return self.checked(name, parse, self.get(name, str))

    def checked(self, name: str, parse: Callable[[str], T], text: str) -> T:
        """What ``parse`` makes of a text; its refusal becomes one of the record's."""
        try:
            return parse(text)
        except RulesError as error:
            raise RecordError(str(error), code=error.code, node=self.node) from error
        except (ValueError, OverflowError) as error:
            raise self.bad(name, f"cannot be {text!r}") from error

    def _of(self, kind: type[T], value: Any, name: str) -> T:
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.bad(name, f"holds {value!r:.40}, which is no {_KINDS[kind]}")
        if isinstance(value, str) and _HALF_A_PAIR.search(value):
            raise self.bad(name, "holds half of a surrogate pair, which no text does")
        typed: T = value
        return typed


_HALF_A_PAIR = re.compile("[\ud800-\udfff]")
_KINDS: Final[dict[type, str]] = {str: "text", int: "whole number", list: "list", dict: "object"}
