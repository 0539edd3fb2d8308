"""A CPU player that is asked by text: the Go Text Protocol, in the form in which Pentobi's engine speaks it.

Sources: G. Farnebäck, "Specification of the Go Text Protocol, version 2, draft 2" (2002); for what differs from go, the
description of `pentobi-gtp` (M. Enzenberger).  A referee sends a command a line, and reads answers that an empty line
ends: ``= text`` or ``? error``.

Turns.  The rules skip a colour that can place nothing; a referee may ask it all the same.  So ``genmove`` of such a
colour is ``pass``, ``play COLOUR pass`` is accepted, and neither changes anything.  A colour that can place something
may not pass.  A colour that still plays may also move when another one is to move: the turn is then taken to be its
own, and passes on from there.  In a record such a move has a ``PL`` beside it.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from random import Random
from typing import Final

from bots.engine import VERSION, Player
from games.territory.proofs import final_score
from games.territory.rules import (
    VARIANTS,
    Move,
    Node,
    Position,
    Record,
    RulesError,
    Setup,
    Variant,
    board_text,
    parse_move,
    read_sgf,
    write_sgf,
)

PASSED: Final = "pass"


class GtpError(ValueError):
    """Why a command is not carried out; the text is the answer."""


class Session:
    """A board, a player who chooses for every colour, and the answers to commands, one a line.

    ``seed``, ``seconds`` and ``simulations`` are those of `Player`.  Each game has a new player, whose seed comes from
    ``seed`` too: no two games of a session are the same, and all of them can be played again.
    """

    def __init__(
        self,
        variant: Variant,
        level: str,
        *,
        seed: int | None = None,
        seconds: float | None = None,
        simulations: int | None = None,
    ) -> None:
        self.has_ended = False
        """Whether the referee has said ``quit``."""
        self._seeds = Random(seed)
        self._new_player = partial(Player, level, seconds=seconds, simulations=simulations)
        self._commands: dict[str, Callable[..., str]] = {
            "protocol_version": lambda: "2",
            "name": lambda: "Kado",
            "version": lambda: VERSION,
            "list_commands": lambda: "\n".join(self._commands),
            "known_command": lambda command: str(command in self._commands).lower(),
            "quit": self._quit,
            "set_game": self._set_game,
            "clear_board": lambda: self._begin(Record(self.position.variant)),
            "play": self._play,
            "p": lambda move, *rest: self._play(self._to_move(), move, *rest),
            "genmove": self._genmove,
            "g": lambda: self._genmove(self._to_move()),
            "reg_genmove": self._reg_genmove,
            "get_value": self._get_value,
            "undo": self._undo,
            "showboard": self._showboard,
            "all_legal": self._all_legal,
            "final_score": lambda: final_score(self.position),
            "loadsgf": self._loadsgf,
            "savesgf": self._savesgf,
            "cputime": lambda: f"{time.process_time():.3f}",
            "set_random_seed": self._set_random_seed,
        }
        self._begin(Record(variant))

    @property
    def position(self) -> Position:
        return self._positions[-1]

    def answer(self, line: str) -> str:
        """The answer to a line with its empty line; nothing to a blank line or a comment."""
        words = _without_comment(line).split()
        if not words:
            return ""
        number = words.pop(0) if words[0].isascii() and words[0].isdecimal() else ""
        try:
            return f"={number} {self._carry_out(*words)}\n\n"
        except OSError as error:
            return f"?{number} {error.strerror or error}\n\n"
        except (GtpError, RulesError) as error:
            return f"?{number} {error}\n\n"

    def _carry_out(self, name: str = "", *words: str) -> str:
        command = self._commands.get(name)
        if command is None:
            raise GtpError("unknown command")
        try:
            signature(command).bind(*words)
        except TypeError:
            raise GtpError(f"usage: {_usage(name, command)}") from None
        return command(*words)

    # The game and its board

    def _begin(self, record: Record) -> str:
        """Go on from the end of a record without variations."""
        self._record = record
        self._positions = list(record.replay().positions)
        self._player: Player | None = None
        return ""

    def _put(self, colour: int, move: Move) -> None:
        position = self._turned_to(colour)
        after = position.play(move, colour)
        setup = None
        if self.position.turn != colour:
            setup = Setup(((),) * len(position.variant.colours), turn=colour)
        node = Node(len(self._positions) - 1, colour, move, setup)
        self._record = replace(self._record, nodes=(*self._record.nodes, node))
        self._positions.append(after)

    def _turned_to(self, colour: int) -> Position:
        """The position with this colour to move, if it still plays."""
        position = self.position
        return replace(position, turn=colour) if position.is_playing(colour) else position

    def _colour(self, text: str) -> int:
        names = self.position.variant.colours
        known = {name: colour for colour, name in enumerate(names)}
        known |= {str(colour + 1): colour for colour in range(len(names))}
        if len(names) == 2:
            known |= {"b": 0, "w": 1}
        try:
            return known[text.lower()]
        except KeyError:
            raise GtpError(f"unknown colour; it may be {', '.join(known)}") from None

    def _to_move(self) -> str:
        """The colour to move; when the game is over, any one, for none of them can do anything."""
        return self.position.variant.colours[self.position.turn or 0]

    # Commands

    def _quit(self) -> str:
        self.has_ended = True
        return ""

    def _set_game(self, game: str, *rest: str) -> str:
        wanted = " ".join((game, *rest)).casefold()
        for variant in VARIANTS.values():
            if variant.sgf_game.casefold() == wanted:
                return self._begin(Record(variant))
        games = ", ".join(variant.sgf_game for variant in VARIANTS.values())
        raise GtpError(f"unknown game; it may be {games}")

    def _play(self, colour: str, move: str, *rest: str) -> str:
        number = self._colour(colour)
        text = " ".join((move, *rest))
        if text.lower() != PASSED:
            self._put(number, parse_move(text, self.position.variant))
        elif self.position.has_placement(number):
            raise GtpError("illegal move: a colour that can place something may not pass")
        return ""

    def _genmove(self, colour: str) -> str:
        text = self._reg_genmove(colour)
        if text != PASSED:
            self._play(colour, text)
        return text

    def _reg_genmove(self, colour: str) -> str:
        number = self._colour(colour)
        if not self.position.has_placement(number):
            return PASSED
        if self._player is None:
            self._player = self._new_player(seed=self._seeds.getrandbits(63))
        return self._player.choose(self._turned_to(number)).text

    def _get_value(self) -> str:
        if self._player is None or self._player.last is None:
            raise GtpError("no move has been chosen in this game")
        return f"{self._player.last.value:.4f}"

    def _undo(self) -> str:
        placed = [at for at, node in enumerate(self._record.nodes) if node.move is not None]
        if not placed:
            raise GtpError("cannot undo")
        del self._positions[placed[-1] :]
        self._record = replace(self._record, nodes=self._record.nodes[: placed[-1]])
        return ""

    def _showboard(self) -> str:
        last_move = self._record.nodes[-1].move
        return "\n" + board_text(self.position, colour=False, last_move=last_move).rstrip()

    def _all_legal(self, colour: str) -> str:
        return "\n".join(move.text for move in self.position.legal(self._colour(colour)))

    def _loadsgf(self, file: str, move_number: str = "") -> str:
        """The main line of a record: all of it, or what is before the move of this number, counted from 1."""
        before = _whole(move_number) if move_number else 0
        replay = read_sgf(Path(file).read_bytes()).replay()
        line, plies = replay.line, list(replay.plies())
        if 0 < before <= len(plies):
            line = line[: line.index(plies[before - 1])]
        nodes = (replace(replay.record.nodes[at], parent=i - 1) for i, at in enumerate(line))
        return self._begin(replace(replay.record, nodes=tuple(nodes), result=None))

    def _savesgf(self, file: str) -> str:
        text = write_sgf(self._record.with_result())
        Path(file).write_text(text, encoding="utf-8")
        return ""

    def _set_random_seed(self, seed: str) -> str:
        self._seeds = Random(_whole(seed))
        self._player = None
        return ""


def _without_comment(line: str) -> str:
    """A line as the protocol reads it: tabs are blanks, other control characters are nothing, `#` begins a comment."""
    text = line.partition("#")[0].replace("\t", " ")
    return "".join(character for character in text if character.isprintable())


def _usage(name: str, command: Callable[..., str]) -> str:
    words = [name]
    for each in signature(command).parameters.values():
        if each.kind is not Parameter.VAR_POSITIONAL:
            word = each.name.upper()
            words.append(word if each.default is Parameter.empty else f"[{word}]")
    return " ".join(words)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < len(text) <= 18):
        raise GtpError(f"{text} is not a whole number")
    return int(text)
