"""Games that another program has played and judged: every figure in them has to come out."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from games.territory.rules import Placements, Position, outcome, parse_move, variant

ROOT = Path(__file__).parents[4]
OWN = ROOT / "tests" / "reference" / "territory"
# The whole collection, of which the own games are a selection, may lie beside the project.
WHOLE = ROOT.parent / "shared" / "reference"


def games(*folders: Path) -> Iterator[Any]:
    for folder in folders:
        for path in sorted(folder.glob("*.jsonl")):
            for line in path.read_text().splitlines():
                game = json.loads(line)
                yield pytest.param(game, id=f"{folder.name}-{game['id']}")


def digest(legal: Placements) -> str:
    moves = sorted(",".join(sorted(move.cells)) for move in legal)
    return hashlib.sha256(";".join(moves).encode()).hexdigest()


def score(position: Position) -> str:
    """The result as the reference writes it."""
    on = position.variant
    points = outcome(position).points
    if on.seats == 2:
        lead = points[0] - points[1]
        return f"{'BW'[lead < 0]}+{abs(lead)}" if lead else "0"
    return " ".join(str(position.points(colour)) for colour in range(len(on.colours)))


@pytest.mark.parametrize("game", list(games(OWN, WHOLE)))
def test_game(game: dict[str, Any]) -> None:
    on = variant(game["variant"].replace("_", "-"))
    position = Position.start(on)
    skipped: list[int] = []
    passes = 0
    for entry in game["moves"]:
        colour = game["colors"].index(entry["c"])
        if entry["m"] == "pass":
            assert skipped.pop(0) == colour
            assert colour in position.out
            passes += 1
            continue
        assert not skipped
        assert position.turn == colour
        legal = position.legal()
        assert len(legal) == entry["n"]
        assert digest(legal) == entry["h"]
        move = parse_move(entry["m"], on)
        assert (move.text, move.piece) == (entry["m"], entry["p"])
        assert move in legal
        step = position.advance(move, colour)
        assert position.apply(move) == step.position
        assert position.apply(move, step.newly_out) == step.position
        position = step.position
        skipped = list(step.skipped)
    assert position.is_over
    assert not skipped
    assert passes == game["n_passes"]
    colours = range(len(on.colours))
    assert [position.points(colour) for colour in colours] == game["points"]
    placed = [len(on.hand) - len(position.left[colour]) for colour in colours]
    assert placed == game["pieces_placed"]
    assert sum(placed) == game["n_placements"]
    assert score(position) == game["final_score"]
