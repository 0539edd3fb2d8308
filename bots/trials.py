"""Playing runs of the block puzzle by the rules, to measure how far a player gets. Pure, and not for web processes.

>>> trial = play(Series("kado-deal-1", seed=1, most=1000), Which("hard", "8x8", "simple", 0))
>>> trial.placements, trial.cut
(14, False)
"""

import hashlib

from bots.baselines import Series, Trial, Which
from games.puzzle.rules import Rules, Run, place, start


def seed_of(series: Series, which: Which) -> bytes:
    """The seed of a run: the same for all players, so that their luck is the same."""
    text = f"baseline {series.seed} {which.level} {which.board} {which.number}"
    return hashlib.sha256(text.encode()).digest()


def play(series: Series, which: Which) -> Trial:
    """Play a run of a series to its end, or to where it is cut."""
    run = played(series, which)
    return Trial(series, which, run.score, run.statistics.placements, cut=not run.over)


def played(series: Series, which: Which) -> Run:
    """The run as the player leaves it."""
    from bots.engine import BlockPlayer  # compiled code, which the figures alone do not need

    seed = seed_of(series, which)
    run = start(Rules.of(which.level, which.board), seed)
    player = BlockPlayer(which.player, seed=int.from_bytes(seed[:8], "big"))
    while not run.over and run.statistics.placements < series.most:
        chosen = player.choose(run)
        run, _ = place(run, seed, chosen.slot, chosen.rotation, chosen.at)
    return run
