"""Records at random, for tests: trees of legal moves with comments, set-ups, and seats that leave."""

import random
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from games.territory.rules import (
    VARIANTS,
    Node,
    Position,
    Record,
    RulesError,
    Setup,
    Termination,
    Variant,
)

REASONS = [Termination.RESIGNED, Termination.TIMEOUT, Termination.ABANDONED]
# Lone surrogates are no text, and SGF makes one kind of line end of all.
texts = st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]), max_size=20)
lines = texts.map(lambda text: " ".join(text.split()))
properties = st.dictionaries(
    st.sampled_from(["TE", "N", "XY2"]), st.lists(texts, min_size=1, max_size=2).map(tuple)
)


@st.composite
def records(draw: st.DrawFn) -> Record:
    """A record of any variant that replays, with a result if it is over."""
    on = VARIANTS[draw(st.sampled_from(list(VARIANTS)))]
    chance = random.Random(draw(st.integers(0, 2**32 - 1)))
    begun = a_node(on, -1, Position.start(on), [], chance)
    nodes = [replace(begun, comment=draw(texts), properties=draw(properties))]
    positions = list(Record(on, tuple(nodes)).replay().positions)
    for _ in range(draw(st.integers(0, 12))):
        parent = chance.choice([len(nodes) - 1] * 4 + list(range(len(nodes))))
        node = a_node(on, parent, positions[parent], nodes, chance)
        try:
            positions = list(Record(on, (*nodes, node)).replay().positions)
        except RulesError:
            continue
        nodes.append(replace(node, comment=draw(texts), properties=draw(properties)))
    players = draw(st.lists(lines, min_size=on.seats, max_size=on.seats))
    named = tuple(players) if any(players) else ()
    return Record(on, tuple(nodes), named, draw(lines)).with_result()


def a_node(
    on: Variant, parent: int, position: Position, nodes: Sequence[Node], chance: random.Random
) -> Node:
    """One more node, after one of ``nodes``; it may be one that the rules refuse, but not as the beginning."""
    at = chance.randrange(-(10**12), 10**13) if chance.random() < 0.3 else None
    left = ((chance.randrange(on.seats), chance.choice(REASONS)),) if chance.random() < 0.1 else ()
    if chance.random() < 0.2:
        return Node(parent, setup=a_setup(on, nodes, chance), left=left, at=at)
    legal = [] if parent < 0 and chance.random() < 0.8 else list(position.legal())
    if not legal:
        return Node(parent, left=left, at=at)
    return Node(parent, position.turn, chance.choice(legal), left=left, at=at)


def a_setup(on: Variant, nodes: Sequence[Node], chance: random.Random) -> Setup:
    """First pieces of some colours or a turn, never nothing, and pieces taken away that were played."""
    start = Position.start(on)
    placed = tuple(
        (chance.choice(list(start.legal(colour))),) if chance.random() < 0.5 else ()
        for colour in range(len(on.colours))
    )
    played = [node.move for node in nodes if node.move is not None]
    removed = tuple(chance.sample(played, chance.randint(0, min(2, len(played)))))
    turn = chance.choice([None, *range(len(on.colours))])
    return Setup(placed, removed, turn if any(placed) or removed else turn or 0)


def preorder(parents: Sequence[int]) -> list[int]:
    """The numbers of a tree's nodes in the order of a file: each node before those that follow it."""
    followers: list[list[int]] = [[] for _ in parents]
    for number, parent in enumerate(parents[1:], 1):
        followers[parent].append(number)
    order: list[int] = []
    todo = [0]
    while todo:
        order.append(todo.pop())
        todo += reversed(followers[order[-1]])
    return order


def in_file_order(record: Record) -> Record:
    """The same record as SGF keeps it: its nodes numbered as they stand in the file, without instants."""
    order = preorder([node.parent for node in record.nodes])
    place = {old: new for new, old in enumerate(order)} | {-1: -1}
    nodes = [record.nodes[old] for old in order]
    return replace(
        record, nodes=tuple(replace(node, parent=place[node.parent], at=None) for node in nodes)
    )
