"""Any text is read or refused; none crashes a reader, or is read as something else than it is written."""

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from games.territory.rules import read_sgf, write_json
from tests.fuzz.texts import check_json, check_move, check_sgf

REFERENCE = Path(__file__).parents[1] / "reference" / "territory"
FILES = [path.read_text() for path in sorted(REFERENCE.glob("sgf*/*.blksgf"))]
RECORDS = [
    write_json(read_sgf(path.read_bytes()))
    for path in sorted((REFERENCE / "sgf").glob("*.blksgf"))
    + sorted((REFERENCE / "sgf_handmade").glob("ok_setup_in*.blksgf"))
    + sorted((REFERENCE / "sgf_handmade").glob("ok_variations*.blksgf"))
]
CELLS = ["e10", "j5", "a1", "a20", "t20", "n14", "o1", "e0", "e010", "É1", "e１"]
SCRAPS = [
    "(",
    ")",
    "[",
    "]",
    ";",
    ":",
    ",",
    "{",
    "}",
    '"',
    "\\",
    "0",
    "-",
    "(;",
    "GM[Blokus]",
    "GM[Blokus\\",
    "Duo]",
    ";B",
    "W[j5]",
    "PL[W]",
    "AE[e10]",
    "AB[e10]",
    ";1[a20]",
    "LEFT[B:resigned]",
    "RE[Void]",
    "RE[B+R]",
    '"setup":{}',
    '"at":"1-1-1"',
    "null",
    "1e999",
    "\\r",
    "\\ud800",
]
scraps = st.sampled_from([*SCRAPS, *CELLS, "\n", "\ud800"])


@st.composite
def damaged(draw: st.DrawFn, texts: list[str]) -> str:
    """One of the texts after some cuts, copies and insertions."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 4))):
        pieces = re.split(r"(\W)", text)
        at = draw(st.integers(0, len(pieces)))
        until = at + draw(st.integers(0, 12))
        new = draw(st.one_of(st.just(""), scraps, st.just("".join(pieces[at:until]) * 2)))
        text = "".join([*pieces[:at], new, *pieces[until:]])
    return text


@settings(deadline=None)
@given(st.one_of(damaged(FILES), st.lists(scraps).map("".join), st.text(), st.binary()))
def test_sgf(text: str | bytes) -> None:
    check_sgf(text)


@settings(deadline=None)
@given(st.one_of(damaged(RECORDS), st.lists(scraps).map("".join), st.text(), st.binary()))
def test_json(text: str | bytes) -> None:
    check_json(text)


@given(
    st.one_of(st.text(), st.lists(st.sampled_from([*CELLS, ",", " ", "e11", "f10"])).map("".join))
)
def test_moves(text: str) -> None:
    check_move(text)


def test_the_checks_read_something() -> None:
    assert sum(map(check_sgf, FILES)) > len(FILES) / 2
    assert all(map(check_json, RECORDS))
    assert check_move("e10, E11")
