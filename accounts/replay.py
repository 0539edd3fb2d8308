"""The ledger played again: what each of its rows should say. PURE: no Django.

From nothing, it proves the ratings: equal ledgers give equal figures, to the last bit, because a game's players are
taken in the order in which they were rated. From one game on, it is what an annulment asks for: only those who played
in it, and whoever met them later, and so on, are rated again; everybody else's figures are taken as they are kept.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from accounts.rules import Rating, rate


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the ledger as it is kept."""

    id: int
    game_id: str
    player_id: int
    sequence: int
    rank: int
    annulled: bool
    mu_before: float
    sigma_before: float
    mu_after: float
    sigma_after: float


@dataclass(slots=True)
class Standing:
    """Where a player stands in the replay: `games` count, `annulled` ones are beside them."""

    mu: float
    sigma: float
    games: int = 0
    annulled: int = 0

    @property
    def rating(self) -> Rating:
        return Rating(self.mu, self.sigma, self.games)


Figures = tuple[float, float, float, float]
"""mu and sigma before, mu and sigma after."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A row, and what it should say; `sequence` is none where the replay did not begin from nothing."""

    line: Line
    figures: Figures
    sequence: int | None

    @property
    def kept(self) -> Figures:
        line = self.line
        return (line.mu_before, line.sigma_before, line.mu_after, line.sigma_after)

    @property
    def differs(self) -> bool:
        return self.figures != self.kept or self.sequence not in (None, self.line.sequence)


def games_of(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Lines that come game by game, as games."""
    for _, game in groupby(lines, key=lambda line: line.game_id):
        yield list(game)


def from_nothing(
    games: Iterable[list[Line]], standings: dict[int, Standing]
) -> Iterator[list[Replayed]]:
    """Every game again; `standings`, empty at first, are those of everybody so far."""
    for game in games:
        for line in game:
            if line.player_id not in standings:
                first = Rating()
                standings[line.player_id] = Standing(first.mu, first.sigma)
        yield _again(game, [standings[line.player_id] for line in game], numbered=True)


def from_game_on(
    games: Iterable[list[Line]], standings: dict[int, Standing]
) -> Iterator[list[Replayed]]:
    """The first of the games again, and those after it that it changes. `standings` are of those it has changed.

    Their `games` and `annulled` count what this replay has seen, and no more.
    """
    for number, game in enumerate(games):
        if number > 0 and not any(line.player_id in standings for line in game):
            continue
        for line in game:
            if line.player_id not in standings:
                standings[line.player_id] = Standing(line.mu_before, line.sigma_before)
        yield _again(game, [standings[line.player_id] for line in game], numbered=False)


def _again(game: list[Line], players: list[Standing], *, numbered: bool) -> list[Replayed]:
    """Rate a game whose players stand as given, and let them stand as it leaves them."""
    counts = not game[0].annulled
    before = [player.rating for player in players]
    after = rate(before, [line.rank for line in game]) if counts else before
    replayed = []
    for line, player, old, new in zip(game, players, before, after, strict=True):
        player.mu, player.sigma = new.mu, new.sigma
        if counts:
            player.games += 1
        else:
            player.annulled += 1
        sequence = player.games + player.annulled if numbered else None
        replayed.append(Replayed(line, (old.mu, old.sigma, new.mu, new.sigma), sequence))
    return replayed
