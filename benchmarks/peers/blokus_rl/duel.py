"""Our rules and blokus-rl side by side in one process, run by the Python of the environment that blokus-rl is in.

    python duel.py GAMES WARM_UP ROUNDS SEED        prints one JSON object: what `Duel` holds

blokus-rl plays random classic games first; ours plays the same moves, and both have to agree in every position. Then
rounds alternate between the two: lists of legal moves in the positions of these games, and random games.
blokus-rl answers with a byte for each of its 36,400 actions, along with other planes; numpy finds those that are set.
Its own environment `BlokusEnv` is measured as its users would drive it, and its compiled core called directly.
"""

import json
import sys
from dataclasses import asdict, dataclass, field
from importlib import import_module
from random import Random
from typing import Any

from benchmarks.lib.positions import play_out, warm_up
from benchmarks.lib.rounds import cost_us, rate
from games.territory.rules import Position, RulesError, move_at, outcome, variant

# Neither is in the project's own environment, so a plain import would be unknown to the type checker.
np = import_module("numpy")
core = import_module("blokus_rl._blokus").PyBlokus
environment = import_module("blokus_rl").BlokusEnv

CLASSIC = variant("classic")


@dataclass
class Duel:
    """What was found; lists have one entry a round."""

    games: int = 0
    positions: int = 0
    moves: int = 0
    """Legal moves in all these positions together."""
    disagreements: list[str] = field(default_factory=list)
    our_list_us: list[float] = field(default_factory=list)
    their_list_us: list[float] = field(default_factory=list)
    our_plies: list[float] = field(default_factory=list)
    """Random plies a second."""
    their_core_plies: list[float] = field(default_factory=list)
    their_environment_plies: list[float] = field(default_factory=list)


class DisagreementError(Exception):
    """The two find different things in the same position."""


def their_list(game: Any) -> Any:
    """The legal actions of whoever is to move, as an array of numbers."""
    mask = game.observe(game.agent_selection).action_mask
    return np.flatnonzero(
        np.frombuffer(mask, dtype=bool)
    )  # as bool it is five times as fast as int8


def their_squares(game: Any) -> Any:
    """The covered cells of each colour, seen from the first one, whose first cell is a20 at the top left."""
    return np.frombuffer(game.observe(0).observation, dtype=bool).reshape(4, 20, 20)


def play_together(duel: Duel, chance: Random) -> list[tuple[Any, Position]]:
    """One random game in both, up to the first disagreement; returns its positions in theirs and ours."""
    theirs, ours = core(), Position.start(CLASSIC)
    pairs: list[tuple[Any, Position]] = []
    try:
        while not theirs.is_over:
            actions = their_list(theirs)
            if not len(actions):
                theirs.step(None)
                continue
            pairs.append((theirs.copy(), ours))
            ours = play_both(duel, theirs, ours, int(chance.choice(actions)), len(actions))
        _agree("final scores", list(theirs.scores), list(outcome(ours).penalty_points))
    except (RulesError, DisagreementError) as error:
        duel.disagreements.append(f"ply {len(pairs) - 1}: {error}")
    return pairs


def play_both(duel: Duel, theirs: Any, ours: Position, action: int, actions: int) -> Position:
    """Compare the turn and the number of moves, and make the move in both; returns ours after it."""
    legal = len(ours.legal())
    duel.moves += legal
    _agree("colour to move", theirs.agent_selection, ours.turn)
    _agree("legal moves", actions, legal)
    before = their_squares(theirs)
    theirs.step(action)
    cells = np.argwhere(their_squares(theirs) ^ before)[:, 1:].tolist()
    return ours.play(move_at(((row, column) for row, column in cells), CLASSIC))


def _agree(what: str, there: object, here: object) -> None:
    if there != here:
        raise DisagreementError(f"{what}: {there} there, {here} here")


def play_out_core(chance: Random) -> int:
    """A random game by the compiled core; returns its plies."""
    game = core()
    while not game.is_over:
        actions = their_list(game)
        game.step(int(chance.choice(actions)) if len(actions) else None)
    return int(game.ply)


def play_out_environment(chance: Random) -> int:
    """A random game by the environment, choosing as its documentation does."""
    env = environment(seed=chance.randrange(2**31))
    env.reset()
    plies = 0
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
        else:
            env.step(env.action_space(agent).sample(observation["action_mask"]))
            plies += 1
    return plies


def main(games: int, warm_up_games: int, rounds: int, seed: int) -> None:
    warm_up(CLASSIC, warm_up_games)
    duel = Duel(games=games)
    chance = Random(seed)
    pairs = [pair for _ in range(games) for pair in play_together(duel, chance)]
    duel.positions = len(pairs)
    for number in range(rounds + 1):
        seeds = [Random(f"{seed} {number} {game}") for game in range(games)]
        found = (
            (duel.our_list_us, cost_us(lambda pair: pair[1].legal().masks(), pairs)),
            # A copy each time: nothing that was worked out before is still known.
            (duel.their_list_us, cost_us(their_list, [theirs.copy() for theirs, _ in pairs])),
            (duel.our_plies, rate(lambda luck: play_out(CLASSIC, luck), seeds)),
            (duel.their_core_plies, rate(play_out_core, seeds)),
            (duel.their_environment_plies, rate(play_out_environment, seeds)),
        )
        for figures, figure in found if number else ():  # the first round warms up
            figures.append(figure)
    print(json.dumps(asdict(duel)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
