"""The figures and words of docs/rooms.md are those of the code."""

import json
from datetime import timedelta

import pytest

from games.territory.rules import VARIANTS, TimeKind
from matchmaking import rules
from matchmaking.selectors.rooms import GUESSES
from matchmaking.serializers import tables as bodies
from matchmaking.services import challenges, rooms
from tests.docs.pages import CODE, codes, page

PAGE = page("docs/rooms.md")
FLAT = " ".join(PAGE.prose.split())
(EXAMPLE,) = PAGE.blocks("json")
ROOM = json.loads(EXAMPLE)
SHORT = challenges.PATIENCE[TimeKind.REALTIME]
LONG = challenges.PATIENCE[TimeKind.CORRESPONDENCE]


def test_the_example_is_a_room() -> None:
    form = bodies.RoomSerializer(data=ROOM)
    assert form.is_valid(), form.errors
    assert set(form.fields) == set(ROOM)
    assert rules.read_code(ROOM["room"]) == ROOM["room"]


def test_the_settings() -> None:
    rows = {codes(row)[0]: row for row in PAGE.rows("What is agreed on")}
    assert list(rows) == list(bodies.TermsWish().fields)
    assert set(CODE.findall(rows["variant"][1])) == set(VARIANTS)
    assert CODE.findall(rows["undo"][1]) == bodies.UNDO


@pytest.mark.parametrize(
    "sentence",
    [
        f"`initial_ms` from {rules.INITIAL_MS[0] // 1000} s to {rules.INITIAL_MS[1] // 3_600_000} h",
        f"`increment_ms` up to {rules.INCREMENT_MS[1] // 60_000} min",
        f"of {rules.DAYS[0]} to {rules.DAYS[1]} whole days",
        f"a code of {rules.CODE_LENGTH} characters, without 0, O, 1 and I",
        f"**Idle** for {rooms.IDLE // timedelta(hours=1)} hour",
        f"named {GUESSES.burst} times at once, and once in {GUESSES.interval_ms // 1000} s",
        f"after {SHORT // timedelta(minutes=1)} minutes when the game is by the clock, else after {LONG.days} days",
        f"{challenges.MOST_MADE} made in all, and {challenges.MOST_RECEIVED} to answer",
        f"{challenges.MAKING.burst} times at once and once in {challenges.MAKING.interval_ms // 1000} s for long",
        ", ".join(f"`{reason}`" for reason in bodies.REASONS),
        "up to 140 characters of `words`",
    ],
)
def test_figures(sentence: str) -> None:
    assert sentence in FLAT
