"""Ratings from matches: those that make the first places likeliest, each with its standard error.

The model is the one by which people's ratings change (Plackett-Luce as in R. Weng and C.-J. Lin, "A Bayesian
approximation method for online ranking", Journal of Machine Learning Research 12 (2011), 267-300, algorithm 4, which
openskill computes): among k players of strengths r the i-th is first with the probability

    exp(r_i / c) / sum of exp(r_j / c),   c = sqrt(k) beta,

which is theirs, c = sqrt(sum of sigma² + beta²), for players whose strength is known.  For two it is the model of R.
Bradley and M. Terry (1952), with 814 points where Elo has 400.

>>> round(first_place(1500 + 814, 1500, seats=2), 3)
0.909
>>> first_place(1500, 1500, seats=4)
0.25
"""

import math
from collections.abc import Sequence

import numpy as np

from accounts.rules import BETA
from bots.ratings import ANCHOR, ANCHOR_RATING, Measured, Pairing

ENOUGH = 1e-9
"""Newton's method ends when no rating moves by more, in points."""


def scale(seats: int) -> float:
    """The points that make a player's odds e times as high in a game of so many."""
    return math.sqrt(seats) * BETA


def first_place(a: float, b: float, *, seats: int) -> float:
    """How probable it is that one who is rated a comes in first among others who are all rated b."""
    return 1 / (1 + (seats - 1) * math.exp((b - a) / scale(seats)))


def name_of(player: str) -> str:
    """The level of a player who may have a setting: `expert` of `expert:seconds=1`."""
    return player.partition(":")[0]


def fit(pairings: Sequence[Pairing], *, seats: int) -> dict[str, Measured]:
    """The maximum-likelihood ratings of everybody in the pairings, `ANCHOR` at its own, by Newton's method.

    The standard errors are those of the Fisher information there, so they are relative to the anchor's rating, and a
    little too large where first places were shared.  Each pair is counted as if it had shared the first place of one
    game more, so that who never won is not rated at minus infinity.  The pairings must connect all players.
    """
    names = sorted({name_of(each) for pair in pairings for each in (pair.a, pair.b)} - {ANCHOR})
    places = {name: number for number, name in enumerate(names)}
    contrasts = np.zeros((len(pairings), len(names)))
    for row, pair in enumerate(pairings):
        for player, sign in ((pair.a, 1.0), (pair.b, -1.0)):
            if name_of(player) != ANCHOR:
                contrasts[row, places[name_of(player)]] = sign
    games = np.array([pair.games + 1 for pair in pairings], float)
    first = np.array([pair.places + 1 / seats for pair in pairings])
    against = math.log(seats - 1)
    strengths = np.zeros(len(names))  # in units of the scale, above the anchor
    while True:
        expected = 1 / (1 + np.exp(against - contrasts @ strengths))
        weights = games * expected * (1 - expected)
        information = contrasts.T @ (weights[:, None] * contrasts)
        step = np.linalg.solve(information, contrasts.T @ (first - games * expected))
        strengths += np.clip(step, -1.0, 1.0)
        if np.abs(step).max() * scale(seats) < ENOUGH:
            break
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    found = {ANCHOR: (ANCHOR_RATING, 0.0)} | {
        name: (ANCHOR_RATING + strengths[n] * scale(seats), errors[n] * scale(seats))
        for name, n in places.items()
    }
    played = {
        name: sum(pair.games for pair in pairings if name in (name_of(pair.a), name_of(pair.b)))
        for name in found
    }
    return {
        name: Measured(round(float(rating), 1), round(float(sigma), 1), played[name])
        for name, (rating, sigma) in found.items()
    }
