"""A results file: what was played under the same conditions, a line of JSON each, kept as it is played."""

import os
from collections.abc import Hashable
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

Entry = TypeVar("Entry", bound=msgspec.Struct)


class ResultsError(Exception):
    """A results file cannot be used; the text says which and why."""


class Results(Generic[Entry]):
    """The results file of a match or a series, made if it is not there.

    The first field of an entry says what it belongs to, the second which one of it this is. Raises `ResultsError` for a
    file that cannot be read and written, or that has anything but entries of `whole`; it is left as it is.
    """

    def __init__(self, path: Path, whole: msgspec.Struct, entry: type[Entry]) -> None:
        self.path = path
        self.entries: dict[Hashable, Entry] = {}
        """Those that are there, by which one it is."""
        self._whole = whole
        self._entry = entry
        self._belongs, self._which = entry.__struct_fields__[:2]
        begins = f'{{"{self._belongs}":'.encode() + msgspec.json.encode(whole)
        try:
            with path.open("a+b") as file:
                file.seek(0)
                text = file.read()
            *lines, rest = text.split(b"\n")
            for number, line in enumerate(lines, 1):
                self._add(number, line)
            if rest and not rest.startswith(begins[: len(rest)]):
                self._add(len(lines) + 1, rest)
            # What is left of a line whose writer was killed.
            os.truncate(path, len(text) - len(rest))
        except OSError as error:
            raise ResultsError(f"{path} cannot be used: {error.strerror}.") from error

    def _add(self, number: int, line: bytes) -> None:
        what, whole = self._entry.__name__.lower(), self._belongs
        try:
            entry: Any = msgspec.json.decode(line, type=self._entry)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ResultsError(
                f"{self.path}:{number}: This is no {what} of a {whole}: {error}"
            ) from error
        theirs = getattr(entry, self._belongs)
        if theirs != self._whole:
            raise ResultsError(
                f"{self.path}:{number}: This is a {what} of another {whole}, "
                f"{msgspec.json.encode(theirs).decode()}; choose another file."
            )
        self.entries[getattr(entry, self._which)] = entry

    def append(self, entry: Entry) -> None:
        """Write an entry at once, so that whatever ends this process does not lose it."""
        try:
            with self.path.open("ab") as file:
                file.write(msgspec.json.encode(entry) + b"\n")
        except OSError as error:
            raise ResultsError(f"{self.path} cannot be written: {error.strerror}.") from error
