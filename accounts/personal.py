"""Where a person's data lies: each app names its own, and export and erasure go through all of it.

An app registers its sections when it is ready. `tables` are the models (`app.Model`) whose rows about a person the
section gives out and removes; `kept` those whose rows stay after an erasure, each with the reason.
A test demands that every table with a key to a player is named here.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Export = Callable[[int], Any]
"""From a player's id to what is kept of them: made of dicts, lists, texts, numbers, truth values and None."""
Erase = Callable[[int], None]
"""Remove it, in the caller's transaction. Nothing is to be left that says who the player was."""
Holders = Callable[[Collection[int]], set[int]]
"""Those of the players who have something here that is worth an account: a guest who has nothing is abandoned."""


@dataclass(frozen=True, slots=True)
class Section:
    """One heading of an export."""

    name: str
    export: Export
    erase: Erase
    tables: frozenset[str] = frozenset()
    kept: Mapping[str, str] = field(default_factory=dict)
    holders: Holders | None = None


_sections: Final[dict[str, Section]] = {}
_exempt: Final[dict[str, str]] = {}


def register(
    section: str,
    *,
    export: Export,
    erase: Erase,
    tables: Collection[str] = (),
    kept: Mapping[str, str] | None = None,
    holders: Holders | None = None,
) -> None:
    """Name a part of a person's data; erasure goes through the sections in the order in which they were named."""
    if section in _sections:
        raise ValueError(f"the section {section!r} is there already")
    _sections[section] = Section(
        section, export, erase, frozenset(tables), dict(kept or {}), holders
    )


def exempt(table: str, reason: str) -> None:
    """A table with a key to a player that is no data about them, or that another way deals with; and why."""
    _exempt[table] = reason


def holders(player_ids: Collection[int]) -> set[int]:
    """Those of the players who have something that is worth an account."""
    found: set[int] = set()
    for section in _sections.values():
        if section.holders is not None:
            found |= section.holders(player_ids)
    return found


def sections() -> Iterator[Section]:
    """All sections, in order."""
    yield from _sections.values()


def exemptions() -> Mapping[str, str]:
    """The exempt tables, each with its reason."""
    return dict(_exempt)
