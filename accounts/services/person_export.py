"""All that is kept of a person, as one JSON document with a schema (accounts/personal.py knows where it lies)."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from accounts import personal
from accounts.personal import Section
from common.clock import now_ms, rfc3339

FORMAT: Final = "kado-person"
VERSION: Final = 1

_encode = msgspec.json.Encoder().encode


def person_export(player_id: int) -> Iterator[str]:
    """The document by parts. After each part another thread may go on."""
    head = {"format": FORMAT, "version": VERSION, "exported_at": rfc3339(now_ms())}
    yield _text(head)[:-1] + ',"sections":{'
    for number, section in enumerate(personal.sections()):
        yield f'{"," if number else ""}"{section.name}":'
        yield from _value(section.export(player_id))
    yield "}}\n"


def _value(value: Any) -> Iterator[str]:
    """A value, or the members of a list one by one."""
    if not isinstance(value, Iterator):
        yield _text(value)
        return
    yield "["
    for number, member in enumerate(value):
        yield ("," if number else "") + _text(member)
    yield "]"


def _text(value: Any) -> str:
    return _encode(value).decode()


def export_schema() -> dict[str, Any]:
    """The JSON Schema of `person_export`, from the types that the sections give out."""
    sections: list[Section] = list(personal.sections())
    schemas, definitions = msgspec.json.schema_components(
        [section.shape for section in sections], ref_template="#/$defs/{name}"
    )
    named = dict(zip((section.name for section in sections), schemas, strict=True))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "All that a Kado server keeps of one person",
        "type": "object",
        "properties": {
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "exported_at": {"type": "string", "format": "date-time"},
            "sections": {
                "type": "object",
                "properties": named,
                "required": list(named),
                "additionalProperties": False,
            },
        },
        "required": ["format", "version", "exported_at", "sections"],
        "additionalProperties": False,
        "$defs": definitions,
    }
