r"""Records as Blokus SGF (``.blksgf``), the format of Pentobi: what the properties of a node mean.

Source: the format's description in Pentobi's documentation (M. Enzenberger).  See docs/records.md for what is written,
what is read, and where this reader is stricter.

>>> record = read_sgf("(;GM[Blokus Duo]PB[Ada]PW[Ben];B[e10];W[j5]C[Well])")
>>> record.variant.key, record.players, record.nodes[2].move.text, record.nodes[2].comment
('duo', ('Ada', 'Ben'), 'j5', 'Well')
>>> read_sgf("(;GM[Blokus Duo];B[e10]\n;W[a1])")
Traceback (most recent call last):
    ...
games.territory.rules.errors.RecordError: line 2, node 2: Orange's first piece has to cover j5.
>>> print(write_sgf(record), end="")
(;GM[Blokus Duo]FF[4]CA[UTF-8]AP[Kado]PB[Ada]PW[Ben]
;B[e10]
;W[j5]C[Well])
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from .errors import MalformedMoveError, RecordError, RulesError
from .notation import Move, parse_move
from .outcome import Outcome, Termination
from .record import Node, Properties, Record, Setup
from .sgf import SgfNode, parse_tree, parse_trees, write_tree
from .variant import VARIANTS, Variant

_ABOUT_THE_FILE: Final = {"GM", "FF", "CA", "AP"}
_LETTERS: Final = {Termination.RESIGNED: "R", Termination.TIMEOUT: "T", Termination.ABANDONED: "F"}
_LEAVING: Final = (*_LETTERS, Termination.DRAWN, Termination.REPLACED)
_WON_BY_LEAVING: Final = re.compile(r"([BW])\+(R|T|F)(?:esign|ime|orfeit)?", re.IGNORECASE)


def read_sgf(text: str | bytes) -> Record:
    """The record that a Blokus SGF text is, replayed and found right; bytes are UTF-8.

    Raises ``RecordError`` with the line, and with the node if there is one.  ``code`` is ``bad-syntax``,
    ``unknown-game``, ``bad-property``, ``not-utf-8``, or what ``Record.replay`` raises.
    """
    return _record(parse_tree(_decoded(text) if isinstance(text, bytes) else text))


def read_sgf_collection(text: str | bytes) -> Iterator[Record]:
    """The records of a text with several game trees, one after another, as SGF allows. Raises what ``read_sgf`` does.

    >>> [record.players for record in read_sgf_collection("(;GM[Blokus Duo]PB[Ada])(;GM[Blokus Duo]PB[Ben])")]
    [('Ada', ''), ('Ben', '')]
    """
    yield from map(_record, parse_trees(_decoded(text) if isinstance(text, bytes) else text))


def _record(tree: Sequence[SgfNode]) -> Record:
    on = _variant(tree[0])
    reader = _Reader(on)
    root = tree[0].properties
    try:
        record = Record(
            variant=on,
            nodes=tuple(reader.node(node, number) for number, node in enumerate(tree)),
            players=reader.players(root),
            date=_simple(*root.get("DT", ("",))[:1]),
        )
        return _with_result(record, _simple(*root.get("RE", ("",))[:1]))
    except RecordError as error:
        if error.node is None:
            raise
        line = tree[error.node].line
        raise RecordError(error.message, code=error.code, node=error.node, line=line) from error


def write_sgf(record: Record) -> str:
    """The record as Blokus SGF text, with every variation, comment and set-up.

    The instants of moves are left out, for which SGF has no place.  Raises ``RecordError`` with ``unknown-game`` for a
    variant that has no name there, and ``bad-property`` for a property that cannot be written.
    """
    on = record.variant
    if not on.sgf_game:
        raise RecordError(f"SGF has no name for {on.title}.", code="unknown-game")
    head = {"GM": on.sgf_game, "FF": "4", "CA": "UTF-8", "AP": "Kado"}
    head |= {f"P{name}": who for name, who in zip(_seats(on), record.players, strict=False) if who}
    if record.date:
        head["DT"] = record.date
    if record.result is not None:
        head["RE"] = _result_text(record.result, on)
    nodes = [SgfNode(node.parent, dict(_properties(node, on))) for node in record.nodes]
    root = {name: (value,) for name, value in head.items()}
    nodes[0] = SgfNode(-1, root | dict(nodes[0].properties) | root)
    return write_tree(nodes)


# What things are called


def _colours(on: Variant) -> Sequence[str]:
    return _names(len(on.colours))


def _seats(on: Variant) -> Sequence[str]:
    return _names(on.seats)


def _names(count: int) -> Sequence[str]:
    """Colours and players are B and W if they are two, and numbered otherwise."""
    return ("B", "W") if count == 2 else tuple(str(number) for number in range(1, count + 1))


def _reserved(on: Variant) -> set[str]:
    """The properties that say what a record has fields for, and those that would in another variant."""
    names = {"B", "W", "1", "2", "3", "4", *_colours(on)}
    return names | {f"A{name}" for name in names} | {"AE", "PL", "C", "LEFT"}


# Reading


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + text[: error.start].count(b"\n")
        raise RecordError("The file is not in UTF-8.", code="not-utf-8", line=line) from error


def _variant(root: SgfNode) -> Variant:
    wanted = " ".join(root.properties.get("GM", ("",))[0].split())
    for on in VARIANTS.values():
        if wanted and on.sgf_game.casefold() == wanted.casefold():
            return on
    games = ", ".join(on.sgf_game for on in VARIANTS.values())
    said = f"the game {wanted!r} is not known here" if wanted else "GM, the game, is missing"
    raise RecordError(
        f"{said[0].upper()}{said[1:]}; it may be {games}.",
        code="unknown-game",
        line=root.line,
        node=0,
    )


class _Reader:
    """Turns the properties of SGF nodes into nodes of a record of one variant."""

    def __init__(self, on: Variant) -> None:
        self.on = on
        self.colours = {name: colour for colour, name in enumerate(_colours(on))}
        # Pentobi before 0.2 wrote the moves of four colours under their names.
        self.movers = self.colours | {name.upper(): i for i, name in enumerate(on.colours)}
        self.setters = {f"A{name}": colour for name, colour in self.colours.items()}
        self.reserved = _reserved(on)

    def players(self, root: Properties) -> tuple[str, ...]:
        names = tuple(_simple(*root.get(f"P{name}", ("",))[:1]) for name in _seats(self.on))
        return names if any(names) else ()

    def node(self, node: SgfNode, number: int) -> Node:
        try:
            return self._node(node.parent, node.properties)
        except RulesError as error:
            raise RecordError(str(error), code=error.code, node=number) from error

    def _node(self, parent: int, said: Properties) -> Node:
        movers = [name for name in said if name in self.movers]
        if len(movers) > 1:
            raise _bad_property(f"{movers[0]} and {movers[1]} are two moves in one node")
        left_over = {
            name: values for name, values in said.items() if name not in self._read(parent)
        }
        for name in left_over:
            if name in self.reserved:
                raise _bad_property(f"{name} is of no colour of {self.on.title}")
        return Node(
            parent=parent,
            colour=self.movers[movers[0]] if movers else None,
            move=self._move(movers[0], said[movers[0]]) if movers else None,
            setup=self._setup(said),
            left=tuple(map(self._leaver, said.get("LEFT", ()))),
            comment=said.get("C", ("",))[0],
            properties=left_over,
        )

    def _read(self, parent: int) -> set[str]:
        """The properties that have a field of their own."""
        names = {*self.movers, *self.setters, "AE", "PL", "C", "LEFT"}
        if parent < 0:
            names |= _ABOUT_THE_FILE | {"DT"} | {f"P{name}" for name in _seats(self.on)}
        return names

    def _move(self, name: str, values: tuple[str, ...]) -> Move:
        if values == ("",):
            raise MalformedMoveError(f"{name} is empty: a turn that is skipped is not written.")
        # Pentobi before 0.3 wrote a move as one value for each cell.
        return parse_move(",".join(values), self.on)

    def _setup(self, said: Properties) -> Setup | None:
        if not any(name in said for name in (*self.setters, "AE", "PL")):
            return None
        turn = None
        if "PL" in said:
            turn = self.colours.get(said["PL"][0].strip().upper())
            if turn is None:
                raise _bad_property(f"PL is one of {', '.join(self.colours)}")
        return Setup(
            placed=tuple(self._moves(said.get(name, ())) for name in self.setters),
            removed=self._moves(said.get("AE", ())),
            turn=turn,
        )

    def _moves(self, values: tuple[str, ...]) -> tuple[Move, ...]:
        return tuple(parse_move(value, self.on) for value in values)

    def _leaver(self, value: str) -> tuple[int, Termination]:
        seat, _, reason = value.partition(":")
        seats = _seats(self.on)
        if seat in seats and reason in _LEAVING:
            return seats.index(seat), Termination(reason)
        raise _bad_property(f"LEFT is a player and a reason, such as {seats[0]}:resigned")


def _bad_property(what: str) -> RulesError:
    return RulesError(f"{what}.", code="bad-property")


def _simple(text: str) -> str:
    """A text of one line."""
    return " ".join(text.split())


def _with_result(record: Record, said: str) -> Record:
    """The record with the result that its moves give, or that is said of a game which no move has ended.

    What is said otherwise stays among the properties of the beginning.
    """
    done = record.with_result()
    won = _WON_BY_LEAVING.fullmatch(said)
    if done.result is None and said.casefold() == "void":
        done = record.with_result(aborted=True)
    elif done.result is None and won and record.variant.seats == 2:
        loser = 1 - _seats(record.variant).index(won[1].upper())
        reason = next(why for why, letter in _LETTERS.items() if letter == won[2].upper())
        nodes, last = list(record.nodes), record.main_line[-1]
        nodes[last] = replace(nodes[last], left=(*nodes[last].left, (loser, reason)))
        done = replace(record, nodes=tuple(nodes)).with_result()
    if done.result is None:
        return done
    root, *rest = done.nodes
    kept = {name: values for name, values in root.properties.items() if name != "RE"}
    return replace(done, nodes=(replace(root, properties=kept), *rest))


# Writing


def _properties(node: Node, on: Variant) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The properties of a node, those that belong to the root only not included."""
    if node.setup is not None:
        for name, moves in zip(_colours(on), node.setup.placed, strict=True):
            if moves:
                yield f"A{name}", tuple(move.text for move in moves)
        if node.setup.removed:
            yield "AE", tuple(move.text for move in node.setup.removed)
        if node.setup.turn is not None:
            yield "PL", (_colours(on)[node.setup.turn],)
    if node.move is not None and node.colour is not None:
        yield _colours(on)[node.colour], (node.move.text,)
    if node.left:
        yield "LEFT", tuple(f"{_seats(on)[seat]}:{reason.value}" for seat, reason in node.left)
    reserved = _reserved(on)
    for name, values in node.properties.items():
        if not re.fullmatch("[A-Z0-9]+", name) or name in reserved or not values:
            raise RecordError(f"{name!r} cannot be written as a property.", code="bad-property")
        yield name, values
    if node.comment:
        yield "C", (node.comment,)


def _result_text(result: Outcome, on: Variant) -> str:
    """The result as SGF has it: ``B+7``, ``B+R``, ``0`` for a shared first place, ``Void`` for an aborted game."""
    if result.termination is Termination.ABORTED:
        return "Void"
    if len(result.winners) > 1:
        return "0"
    (winner,) = result.winners
    if result.termination in _LETTERS:
        return f"{_seats(on)[winner]}+{_LETTERS[result.termination]}"
    others = [
        result.points[seat]
        for seat, how in enumerate(result.terminations)
        if seat != winner and how in (Termination.COMPLETED, Termination.REPLACED)
    ]
    lead = result.points[winner] - max(others, default=0)
    # Who stayed to the end is before a seat that a CPU played for, also with fewer points.
    return f"{_seats(on)[winner]}+{lead if lead > 0 else 'F'}"
