"""Legal moves to play: the recorded two-player games of the reference data."""

import json
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
GAMES = PROJECT / "tests" / "reference" / "territory" / "games.jsonl"


@cache
def duo_games() -> tuple[tuple[str, ...], ...]:
    """The placements of each recorded duo game in order, without passes (the server finds those)."""
    games = []
    with GAMES.open() as lines:
        for line in lines:
            game = json.loads(line)
            if game["variant"] == "duo":
                games.append(tuple(turn["m"] for turn in game["moves"] if turn["m"] != "pass"))
    return tuple(games)


@cache
def endless_moves() -> tuple[str, ...]:
    """All recorded duo placements in a row, for peers that know no rules and play one match for ever."""
    return tuple(move for game in duo_games() for move in game)
