"""A results file: the games of one match, a line of JSON each, kept as they are played."""

import os
from pathlib import Path

import msgspec

from bots.arena import ArenaError, Game, Match


class Results:
    """The results file of a match, made if it is not there.

    Raises `ArenaError` for a file that cannot be read and written, or that has anything but games of this match; it is
    left as it is.
    """

    def __init__(self, path: Path, match: Match) -> None:
        self.path = path
        self.games: dict[int, Game] = {}
        """The games that are there, by their numbers."""
        begins = b'{"match":' + msgspec.json.encode(match)
        try:
            with path.open("a+b") as file:
                file.seek(0)
                text = file.read()
            *lines, rest = text.split(b"\n")
            for number, line in enumerate(lines, 1):
                self._add(number, line, match)
            if rest and not rest.startswith(begins[: len(rest)]):
                self._add(len(lines) + 1, rest, match)
            # What is left of a line whose writer was killed.
            os.truncate(path, len(text) - len(rest))
        except OSError as error:
            raise ArenaError(f"{path} cannot be used: {error.strerror}.") from error

    def _add(self, number: int, line: bytes, match: Match) -> None:
        try:
            game = msgspec.json.decode(line, type=Game)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ArenaError(
                f"{self.path}:{number}: This is no game of a match: {error}"
            ) from error
        if game.match != match:
            theirs = msgspec.json.encode(game.match).decode()
            raise ArenaError(
                f"{self.path}:{number}: This is a game of another match, {theirs}; choose another file."
            )
        self.games[game.game] = game

    def append(self, game: Game) -> None:
        """Write a game at once, so that whatever ends this process does not lose it."""
        try:
            with self.path.open("ab") as file:
                file.write(msgspec.json.encode(game) + b"\n")
        except OSError as error:
            raise ArenaError(f"{self.path} cannot be written: {error.strerror}.") from error
