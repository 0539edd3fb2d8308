"""The rules of names, scopes and ratings. PURE: no Django.

Ratings are Plackett-Luce (Weng and Lin 2011, by openskill) on a scale that looks like chess: mu 1500, sigma 500 for
a newcomer, beta 250 (the scatter of one game's performance) and tau 5 (sigma never quite stops growing between games).
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from openskill.models import PlackettLuce, PlackettLuceRating

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{1,23}")
NAME_MOST = 24
ERASED_PREFIX = "Erased-"
RESERVED_PREFIXES = ("guest-", "cpu-", ERASED_PREFIX.lower())
"""Names that begin so are given by the server only, so that nobody looks like a guest, a CPU or an erased player."""
ME = "me"
"""Stands for the caller where an address wants a name, so nobody has it."""

KEY = re.compile(r"[a-z0-9-]{1,24}:[a-z]{1,20}")
"""A rating key is `variant:speed`, such as `duo:blitz`."""

SCORE_KEY = re.compile(r"puzzle:[a-z0-9:-]{1,57}|daily:(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})")
SCORE_KEY_LENGTH = 64
"""A board of scores is named by what was played: `puzzle:easy:10x10:once`, or `daily:2026-11-30` (a date of UTC)."""

MU = 1500.0
SIGMA = 500.0
BETA = 250.0
TAU = 5.0

PROVISIONAL_SIGMA = 300.0
"""A rating with this sigma or more is provisional: shown with a `?` and left out of leaderboards.

Why 300: a newcomer's variance is 500² = 250,000; at 300² = 90,000 the games explain 64 % of it, and the error left is
about the scatter of a single game (beta 250). Against settled opponents of equal strength this takes 11 two-player
games, among newcomers who know only each other 20 (tests/accounts/test_rules.py counts them). A limit of 250 would ask
30 games of a young community, so that its leaderboard stayed empty; one of 350 lets in ratings after 7 games, when
three lucky wins still decide the place.
"""

CONFIDENCE = 1.96
"""Sigmas to either side of mu between which a rating lies with 95 % confidence (a normal distribution)."""

_model = PlackettLuce(mu=MU, sigma=SIGMA, beta=BETA, tau=TAU)


class Scope(StrEnum):
    """What a token may be used for."""

    PLAY = "play"
    CHALLENGE = "challenge"
    PUZZLE = "puzzle"
    PROFILE = "profile"
    FRIENDS = "friends"
    BOT = "bot"


SCOPE_WORDS = {
    Scope.PLAY: "Play games for you, and wait in pools",
    Scope.CHALLENGE: "Challenge other players, and answer challenges",
    Scope.PUZZLE: "Play puzzles for you",
    Scope.PROFILE: "See your profile, and change your name",
    Scope.FRIENDS: "See and change your friends",
}
"""What a person is asked to allow an app. `bot` is for a bot's own tokens."""

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""Hosts that are the person's own machine."""

GUEST_SCOPES = frozenset({Scope.PLAY, Scope.PUZZLE, Scope.PROFILE})
PERSON_SCOPES = frozenset(Scope) - {Scope.BOT}


def scopes_of(kind: str) -> frozenset[Scope]:
    """All that a player of this kind may do, and give to tokens of their own."""
    return {"guest": GUEST_SCOPES, "bot": frozenset(Scope)}.get(kind, PERSON_SCOPES)


def is_name(text: str) -> bool:
    """Whether `text` has the form of a name: 2-24 of `A-Z a-z 0-9 _ -`, a letter first."""
    return NAME.fullmatch(text) is not None


def is_reserved(name: str) -> bool:
    """Whether only the server gives such a name, or nobody."""
    return name.lower().startswith(RESERVED_PREFIXES) or name.lower() == ME


def is_rating_key(key: str) -> bool:
    """Whether `key` names a rating, and with it a leaderboard of ratings."""
    return KEY.fullmatch(key) is not None and not key.startswith(("puzzle:", "daily:"))


def is_score_key(key: str) -> bool:
    """Whether `key` names a board of scores; a daily one's date is one of the calendar."""
    found = SCORE_KEY.fullmatch(key)
    if found is None:
        return False
    try:
        return found["date"] is None or bool(date.fromisoformat(found["date"]))
    except ValueError:
        return False


def name_from(texts: Iterable[str]) -> str:
    """A name made of the first of `texts` that yields one, as `Ada-Lovelace` of `Ada Lovelace`; `Player` of none.

    Accents are dropped. An e-mail address yields nothing: it is nobody's business.
    """
    for text in texts:
        if "@" in text:
            continue
        plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
        name = re.sub(r"[^A-Za-z0-9_]+", "-", plain).strip("-_").lstrip("0123456789-_")[:NAME_MOST]
        if is_name(name) and not is_reserved(name):
            return name
    return "Player"


def cpu_name(level: str) -> str:
    """The name of the CPU player of a level: `starter` is `CPU-Starter`."""
    return f"CPU-{level.title()}"


@dataclass(frozen=True, slots=True)
class Rating:
    """How strong a player is thought to be in one variant and speed, after `games` rated games.

    `calibrated`: a CPU level's, measured by matches between levels, and not by rated games; no ledger has it.
    """

    mu: float = MU
    sigma: float = SIGMA
    games: int = 0
    calibrated: bool = False

    @property
    def provisional(self) -> bool:
        return self.sigma >= PROVISIONAL_SIGMA

    def __str__(self) -> str:
        """The rating as shown: `1534`, or `1534?` while it is provisional."""
        return f"{shown(self.mu)}{'?' if self.provisional else ''}"


@dataclass(frozen=True, slots=True)
class RatingChange:
    """One rated game's effect on one player; `rank` 1 is the best, equal ranks are ties."""

    player_id: int
    rank: int
    mu_before: float
    sigma_before: float
    mu_after: float
    sigma_after: float

    @property
    def before(self) -> str:
        """The rating before the game as shown, such as `1500?`."""
        return str(Rating(self.mu_before, self.sigma_before))

    @property
    def after(self) -> str:
        """The rating after the game as shown."""
        return str(Rating(self.mu_after, self.sigma_after))

    @property
    def low(self) -> float:
        """With 95 % confidence the rating is not below this after the game."""
        return self.mu_after - CONFIDENCE * self.sigma_after

    @property
    def high(self) -> float:
        """With 95 % confidence the rating is not above this after the game."""
        return self.mu_after + CONFIDENCE * self.sigma_after


def shown(mu: float) -> int:
    """`mu` as a whole number, halves up. Equal shown ratings share a place on a leaderboard."""
    return math.floor(mu + 0.5)


def rate(ratings: Sequence[Rating], ranks: Sequence[int]) -> list[Rating]:
    """The ratings after a game in which the players, each alone, came in at `ranks` (1 is best, ties allowed).

    The result depends on the order of the players in the last bits only; a replay keeps the order.
    """
    teams = [[PlackettLuceRating(mu=r.mu, sigma=r.sigma)] for r in ratings]
    rated = _model.rate(teams, ranks=[float(rank) for rank in ranks])
    return [
        Rating(mu=team[0].mu, sigma=team[0].sigma, games=before.games + 1)
        for before, team in zip(ratings, rated, strict=True)
    ]
