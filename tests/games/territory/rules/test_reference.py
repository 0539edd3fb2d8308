"""Games that another program has played and judged: every figure in them has to come out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from games.territory.proofs import Game, Report, read_game, verify
from games.territory.rules import VARIANTS, Position, parse_move

ROOT = Path(__file__).parents[4]
OWN = ROOT / "tests" / "reference" / "territory"
# The whole collection, of which the own games are a selection, may lie beside the project.
WHOLE = ROOT.parent / "shared" / "reference"


def games(*folders: Path) -> Iterator[Any]:
    for folder in folders:
        for path in sorted(folder.glob("*.jsonl")):
            for line in path.read_bytes().splitlines():
                game = read_game(line)
                yield pytest.param(game, id=f"{folder.name}-{game.id}")


@pytest.mark.parametrize("game", list(games(OWN, WHOLE)))
def test_game(game: Game) -> None:
    assert verify(game) == Report(positions=len(game.moves), differences=())
    position = Position.start(VARIANTS[game.variant.replace("_", "-")])
    for turn in game.moves:
        colour = game.colours.index(turn.colour)
        if turn.text == "pass":
            assert colour in position.out
            continue
        move = parse_move(turn.text, position.variant)
        assert move in position.legal()
        step = position.advance(move, colour)
        # A fold of trusted moves gives the same, and searches nothing if it knows who is out.
        assert position.apply(move) == step.position
        assert position.apply(move, step.newly_out) == step.position
        position = step.position
    assert position.is_over
