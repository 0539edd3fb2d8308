"""What must hold of any text whatever that the rules are asked to read.

`make fuzz` feeds it with texts that a coverage-guided fuzzer breeds; tests/fuzz/test_texts.py does with the texts of
Hypothesis and with damaged records, in every test run.
"""

from games.territory.rules import (
    VARIANTS,
    RulesError,
    move_at,
    parse_move,
    read_json,
    read_sgf,
    write_json,
    write_sgf,
)


def check_sgf(text: str | bytes) -> bool:
    """A text is refused with a `RulesError`, or it is a record, which is written and read again as the same."""
    try:
        record = read_sgf(text)
    except RulesError:
        return False
    written = write_sgf(record)
    assert read_sgf(written) == record
    assert read_json(write_json(record)) == record
    return True


def check_json(text: str | bytes) -> bool:
    """The same for JSON; its texts may hold what SGF refuses to write, or what it reads as something of its own."""
    try:
        record = read_json(text)
    except RulesError:
        return False
    assert read_json(write_json(record)) == record
    try:
        written = write_sgf(record)
    except RulesError as error:
        assert error.code == "bad-property"
    else:
        assert check_sgf(written)
    return True


def check_move(text: str) -> bool:
    """A text is refused, or it is a move, whose own text and coordinates name the same move."""
    accepted = False
    for on in VARIANTS.values():
        try:
            move = parse_move(text, on)
        except RulesError:
            continue
        assert parse_move(move.text, on) == move
        assert move_at(move.coordinates, on) == move
        accepted = True
    return accepted
