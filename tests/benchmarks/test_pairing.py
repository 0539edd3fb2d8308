"""The pairing's benchmark: its crowds are what they are called, and a quick run ends well."""

from random import Random

import pytest

from benchmarks import pairing
from benchmarks.lib.crowds import CROWDS, NOW


def test_crowds_are_whole_and_the_same_for_the_same_seed() -> None:
    for make in CROWDS.values():
        tickets = make(200, Random(1))
        assert len({ticket.player_id for ticket in tickets}) == 200
        assert tickets == make(200, Random(1))
    assert {ticket.mu for ticket in CROWDS["all equal"](50, Random(1))} == {1500.0}
    assert {ticket.joined for ticket in CROWDS["all fresh"](50, Random(1))} == {NOW}
    blocked = CROWDS["blocked by all neighbours"](200, Random(1))
    assert all(10 <= len(ticket.blocked) <= 20 for ticket in blocked)


def test_a_wrong_answer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    tickets = CROWDS["usual"](60, Random(1))
    left = pairing.check(tickets, 2)
    assert left is not None
    assert left < 10
    monkeypatch.setattr(pairing, "pair", lambda *_: ([], tickets))
    assert pairing.check(tickets, 2) is None
    monkeypatch.setattr(pairing, "pair", lambda *_: ([], tickets[1:]))
    assert pairing.check(tickets, 2) is None


def test_a_quick_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing, "CROWDS", {"usual": CROWDS["usual"]})
    assert pairing.main(["--quick"]) == 0
    said = capsys.readouterr().out
    assert "| usual | 4 |" in said
    assert "Answers that are wrong: 0." in said
