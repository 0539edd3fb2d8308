"""Where a person's data lies: each app names its own, and export and erasure go through all of it.

An app registers its sections when it is ready. `tables` are the models (`app.Model`) whose rows about a person the
section gives out and removes; `kept` those whose rows stay after an erasure, each with the reason. A test demands that
every table with a key to a player is named here, and another that no name is found after an erasure.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from accounts.names import Renaming

Export = Callable[[int], Any]
"""From a player's id to what is kept of them: a value of the section's `shape` (msgspec structs and what JSON has), or
an iterator of the members of a list. An iterator may be taken up by another thread after each member."""
Erase = Callable[[int], None]
"""Remove it, in the caller's transaction. Nothing is to be left that says who the player was."""
Leave = Callable[[int], None]
"""Before anything is erased, and outside of transactions: leave what goes on (games, queues). May be called again."""
Holders = Callable[[Collection[int]], set[int]]
"""Those of the players who have something here that is worth an account: a guest who has nothing is abandoned."""
Rename = Callable[[Renaming], None]
"""Put the new name where others see the old ones, in the caller's transaction."""


@dataclass(frozen=True, slots=True)
class Section:
    """One heading of an export. `shape` is the type of what it gives, for the schema."""

    name: str
    export: Export
    erase: Erase
    shape: Any = Any
    tables: frozenset[str] = frozenset()
    kept: Mapping[str, str] = field(default_factory=dict)
    leave: Leave | None = None
    rename: Rename | None = None
    holders: Holders | None = None


_sections: Final[dict[str, Section]] = {}
_exempt: Final[dict[str, str]] = {}


def register(
    section: str,
    *,
    export: Export,
    erase: Erase,
    shape: Any = Any,
    tables: Collection[str] = (),
    kept: Mapping[str, str] | None = None,
    leave: Leave | None = None,
    rename: Rename | None = None,
    holders: Holders | None = None,
) -> None:
    """Name a part of a person's data; erasure goes through the sections in the order in which they were named."""
    if section in _sections:
        raise ValueError(f"the section {section!r} is there already")
    _sections[section] = Section(
        name=section,
        export=export,
        erase=erase,
        shape=shape,
        tables=frozenset(tables),
        kept=dict(kept or {}),
        leave=leave,
        rename=rename,
        holders=holders,
    )


def exempt(table: str, reason: str) -> None:
    """A table with a key to a player that is no data about them; and why."""
    _exempt[table] = reason


def sections() -> Iterator[Section]:
    """All sections, in order."""
    yield from _sections.values()


def exemptions() -> Mapping[str, str]:
    """The exempt tables, each with its reason."""
    return dict(_exempt)


def holders(player_ids: Collection[int]) -> set[int]:
    """Those of the players who have something that is worth an account."""
    found: set[int] = set()
    for section in _sections.values():
        if section.holders is not None:
            found |= section.holders(player_ids)
    return found
