"""The syntax of SGF."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games.territory.rules import RecordError
from games.territory.rules.sgf import SgfNode, parse_tree, write_tree
from tests.games.territory.rules.records import preorder

texts = st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]))
properties = st.dictionaries(
    st.from_regex(r"[A-Z0-9]{1,4}", fullmatch=True),
    st.lists(texts, min_size=1, max_size=3).map(tuple),
    max_size=3,
)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 20), properties), min_size=1, max_size=12))
def test_trees_round_trip(drawn: list[tuple[int, dict[str, tuple[str, ...]]]]) -> None:
    nodes = [
        SgfNode(parent % number if number else -1, said)
        for number, (parent, said) in enumerate(drawn)
    ]
    order = preorder([node.parent for node in nodes])
    found = parse_tree(write_tree(nodes))
    assert [node.properties for node in found] == [nodes[old].properties for old in order]
    parents = [nodes[old].parent for old in order[1:]]
    assert [order[node.parent] for node in found[1:]] == parents


def test_white_space_is_free_between_the_marks() -> None:
    (root, move) = parse_tree(" \n ( ; AB [a1]\n\t[b2] C[ x ]\n; B [c3] )\n")
    assert dict(root.properties) == {"AB": ("a1", "b2"), "C": (" x ",)}
    assert (move.properties, move.parent, move.line) == ({"B": ("c3",)}, 0, 4)


def test_escapes_and_line_ends() -> None:
    (root,) = parse_tree("(;C[a\\]b\\\\c\\:d\\\ne\r\nf\rg(;)])")
    assert root.properties["C"] == ("a]b\\c:de\nf\ng(;)",)


def test_what_stands_around_the_tree_is_passed_over() -> None:
    (root,) = parse_tree("A game of ours (see below):\n(;B[a1]) the end")
    assert (dict(root.properties), root.line) == ({"B": ("a1",)}, 2)


def test_the_depth_of_a_tree_has_no_limit() -> None:
    depth = 20_000
    nodes = parse_tree("(;" * depth + ")" * depth)
    assert [node.parent for node in nodes] == list(range(-1, depth - 1))
    assert parse_tree(write_tree(nodes)) != nodes  # the lines differ
    assert [node.parent for node in parse_tree(write_tree(nodes))] == list(range(-1, depth - 1))


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("", 1, "no game tree"),
        ("(B[a1])", 1, "no game tree"),
        ("(;B[a1]\n", 1, "^line 1: The tree is not closed: its last \\) is missing\\.$"),
        ("(;B[a1]\n;W[b2", 2, "A value of W is not closed"),
        ("(;B[a1]\n;W[b2\\])", 2, "A value of W is not closed"),
        ("(;B[a1]\n;W [b2", 2, "A value of W is not closed"),
        ("(;" + " " * 50 + "b[a1])", 1, "'b' is out of place"),
        ("(;B\n)", 1, "The property B has no value"),
        ("(;\n[a1])", 1, "'\\[' is out of place"),
        ("(;\nb[a1])", 1, "'b' is out of place"),
        ("(;C[two\nlines]\n;B[a1]B[b2])", 3, "B stands twice"),
        ("(;B[a1]\n()", 2, "begins with ;"),
        ("(;B[a1]\n(;W[b2])\n;W[c3])", 3, "After a variation"),
        ("(;B[a1]\n(;W[b2])\nC[c3])", 3, "After a variation"),
        ("\n(;B[a1]\n)\n\n(;B[a1])", 5, "second game tree"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(RecordError, match=what) as caught:
        parse_tree(text)
    assert (caught.value.code, caught.value.line) == ("bad-syntax", line)
