"""Taking a name out of what was written with it. PURE: no Django.

Names stand in events and audit rows as they were at the time. When somebody is erased, each becomes another one, and
everything else stays to the byte.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

import msgspec

NAME_KEYS: Final = frozenset(
    {
        *{"player", "players", "opponent", "opponents", "by", "from", "to"},
        *{"host", "friend", "name", "challenger"},
    }
)
"""Members of events and of other JSON whose text, or each text of whose list, is the name of a player."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """All the names that a player has had, and the one that stands in their place from now on."""

    player_id: int
    olds: frozenset[str]
    new: str

    @classmethod
    def of(cls, player_id: int, olds: Collection[str], new: str) -> "Renaming":
        return cls(player_id, frozenset(olds), new)

    def in_json(self, payload: str) -> str:
        """A JSON text with other names in it; the same text if none of them stands where names stand."""
        if not any(f'"{old}"' in payload for old in self.olds):
            return payload
        value = msgspec.json.decode(payload)
        changed = self._walk(value, named=False)
        return payload if changed == value else msgspec.json.encode(changed).decode()

    def in_words(self, text: str) -> str:
        """A text that somebody wrote: the names as whole words, in any case."""
        words = "|".join(re.escape(old) for old in sorted(self.olds, key=len, reverse=True))
        return re.sub(rf"(?<![\w-])(?:{words})(?![\w-])", self.new, text, flags=re.IGNORECASE)

    def _walk(self, value: Any, *, named: bool) -> Any:
        match value:
            case dict():
                return {
                    key: self._walk(inner, named=key in NAME_KEYS) for key, inner in value.items()
                }
            case list():
                return [self._walk(inner, named=named) for inner in value]
            case str() if named and value in self.olds:
                return self.new
        return value
