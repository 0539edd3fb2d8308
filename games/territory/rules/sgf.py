r"""The syntax of SGF, the Smart Game Format: a tree of nodes, each with properties, each with values.

Source: the SGF 4 specification, https://www.red-bean.com/sgf/sgf4.html.  What the properties mean is for others.

>>> nodes = parse_tree(r"(;GM[1]C[a \] b];B[aa](;W[bb])(;W[cc]))")
>>> [(node.parent, dict(node.properties)) for node in nodes[:2]]
[(-1, {'GM': ('1',), 'C': ('a ] b',)}), (0, {'B': ('aa',)})]
>>> print(write_tree(nodes), end="")
(;GM[1]C[a \] b]
;B[aa]
(;W[bb])
(;W[cc]))
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .errors import RecordError

_NAME = re.compile(r"[A-Z0-9]+")
_BEGINNING = re.compile(r"\(\s*;")
# A mark of the tree's structure, or a whole property: its name and its values.
_TOKEN = re.compile(
    r"\s*(?:(?P<mark>[();])|(?P<name>[A-Z0-9]+)(?P<values>(?:\s*\[(?:[^\\\]]++|\\.)*+\])++))",
    re.DOTALL | re.ASCII,
)
_VALUE = re.compile(r"\[((?:[^\\\]]++|\\.)*+)\]", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_TO_ESCAPE = re.compile(r"[\\\]]")
_ESCAPE = r"\\\g<0>"
_LINE_END = re.compile(r"\r\n|\n\r|\r")


@dataclass(frozen=True, slots=True)
class SgfNode:
    """One node: the number of the one that it follows (-1 for the root), and its properties."""

    parent: int
    properties: Mapping[str, tuple[str, ...]]
    line: int = 0
    """The line of the text that it begins in, from 1."""


class _Token(NamedTuple):
    what: str
    """One of ``( ; )``, or the name of a property."""
    values: tuple[str, ...]
    line: int


def parse_tree(text: str) -> list[SgfNode]:
    r"""The nodes of the one game tree in a text, in the order in which they stand there.

    Text before and after the tree is passed over.  Line ends become ``\n``, and values lose their escapes.
    Raises ``RecordError`` with ``bad-syntax`` and the line.
    """
    (tree,) = _trees(text, alone=True)
    return tree


def parse_trees(text: str) -> Iterator[list[SgfNode]]:
    """The same for each of the game trees in a text, which may be many (a collection)."""
    return _trees(text, alone=False)


def _trees(text: str, *, alone: bool) -> Iterator[list[SgfNode]]:
    nodes: list[SgfNode] = []
    branches: list[int] = []  # for each open parenthesis the node that its branch grows from
    properties: dict[str, tuple[str, ...]] = {}
    last, before = -1, ""
    for token in _tokens(_LINE_END.sub("\n", text), alone=alone):
        what = token.what
        if what == "(" and nodes and not branches:
            yield nodes
            nodes, last, before = [], -1, ""
        if before == "(" and what != ";":
            raise _bad("A ( is followed by a node, which begins with ;", token.line)
        if before == ")" and what not in ("(", ")"):
            raise _bad("After a variation comes another one, or the end of a branch", token.line)
        if what == "(":
            branches.append(last)
        elif what == ")":
            last = branches.pop()
        elif what == ";":
            properties = {}
            nodes.append(SgfNode(last, properties, token.line))
            last = len(nodes) - 1
        elif what in properties:
            raise _bad(f"The property {what} stands twice in one node", token.line)
        else:
            properties[what] = token.values
        before = what
    yield nodes


def write_tree(nodes: Sequence[SgfNode]) -> str:
    """The text of a tree, a node a line.  The order of the nodes is that of their variations."""
    followers: list[list[int]] = [[] for _ in nodes]
    for number, node in enumerate(nodes[1:], 1):
        followers[node.parent].append(number)
    parts: list[str] = []
    todo: list[int | str] = [")\n", 0, "("]
    while todo:
        part = todo.pop()
        if isinstance(part, str):
            parts.append(part)
            continue
        parts.append(_written(nodes[part]))
        if len(followers[part]) == 1:
            todo += [followers[part][0], "\n"]
        else:
            for number in reversed(followers[part]):
                todo += [")", number, "\n("]
    return "".join(parts)


def _written(node: SgfNode) -> str:
    properties = (
        name + "".join(f"[{_TO_ESCAPE.sub(_ESCAPE, value)}]" for value in values)
        for name, values in node.properties.items()
    )
    return ";" + "".join(properties)


def _tokens(text: str, *, alone: bool) -> Iterator[_Token]:
    """The tokens of the trees, from the first parenthesis of each to its last; a second one is refused if `alone`."""
    beginning = _BEGINNING.search(text)
    if beginning is None:
        raise _bad("There is no game tree here: it would begin with (;", 1)
    at, depth = beginning.start(), 0
    line = 1 + text.count("\n", 0, at)
    while True:
        found = _TOKEN.match(text, at)
        if found is None:
            raise _bad(_why_no_token(text, at), line)
        what = found["mark"] or found["name"]
        begins = found.start("mark") if found["mark"] else found.start("name")
        line += text.count("\n", at, begins)
        yield _Token(what, tuple(map(_unescaped, _VALUE.findall(found["values"] or ""))), line)
        line += text.count("\n", begins, found.end())
        depth += (what == "(") - (what == ")")
        at = found.end()
        if depth:
            continue
        following = _BEGINNING.search(text, at)
        if following is None:
            return
        line += text.count("\n", at, following.start())
        if alone:
            raise _bad("There is a second game tree after the first", line)
        at = following.start()


def _why_no_token(text: str, at: int) -> str:
    rest = text[at:].lstrip()[:40]
    if not rest:
        return "The tree is not closed: its last ) is missing"
    name = _NAME.match(rest)
    if name is None:
        return f"{rest[0]!r} is out of place here"
    if rest[name.end() :].lstrip().startswith("["):
        return f"A value of {name[0]} is not closed: its ] is missing"
    return f"The property {name[0]} has no value"


def _unescaped(value: str) -> str:
    return _ESCAPED.sub(lambda found: "" if found[1] == "\n" else found[1], value)


def _bad(what: str, line: int) -> RecordError:
    return RecordError(f"{what}.", code="bad-syntax", line=line)
