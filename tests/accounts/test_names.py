"""A name goes where it stands as a name, and nothing else changes."""

import json

import pytest

from accounts.names import NAME_KEYS, Renaming

RENAMING = Renaming(7, frozenset({"duo", "Ada", "Ada-L"}), "Erased-x")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"type":"x","player":"Ada","variant":"duo"}', '{"type":"x","player":"Erased-x","variant":"duo"}'),
        ('{"opponents":["Ben","Ada-L"]}', '{"opponents":["Ben","Erased-x"]}'),
        ('{"seats":[{"seat":0,"player":"Ada"},{"seat":1,"player":"ada"}]}', '{"seats":[{"seat":0,"player":"Erased-x"},{"seat":1,"player":"ada"}]}'),
        ('{"from":{"name":"Ada","kind":"guest"}}', '{"from":{"name":"Erased-x","kind":"guest"}}'),
    ],
)  # fmt: skip
def test_names_stand_in_certain_members(before: str, after: str) -> None:
    assert RENAMING.in_json(before) == after
    assert RENAMING.in_json(after) == after


def test_what_names_nobody_stays_to_the_byte() -> None:
    odd = '{ "player" : "Ben", "text":"\\u00e9 Ada", "pool":"Ada", "n": 1.50 }'
    assert RENAMING.in_json(odd) == odd
    assert json.loads(RENAMING.in_json('{"player":"Ada","mu":1499.123456789012}')) == {
        "player": "Erased-x",
        "mu": 1499.123456789012,
    }


def test_in_words_names_are_whole_and_in_any_case() -> None:
    text = "ada-l cheats, says Ada; Adam and X-Ada do not, (ADA) does"
    assert RENAMING.in_words(text) == (
        "Erased-x cheats, says Erased-x; Adam and X-Ada do not, (Erased-x) does"
    )


def test_no_member_that_rules_read_is_taken_for_a_name() -> None:
    assert not NAME_KEYS & {"type", "variant", "pool", "colour", "kind", "level", "reason", "game"}
