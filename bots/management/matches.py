"""Playing a match on every core, with its results kept and its progress shown."""

from contextlib import closing
from functools import partial

from bots.arena import REFERENCES, Contestant, Game, Match, Tally, play
from bots.management.results import Results
from common.workers import on_each, watched


def play_match(
    match: Match, games: int, tally: Tally, *, jobs: int, file: Results[Game] | None
) -> None:
    """Count into the tally the games that are in the file, and play the others, each kept as soon as it has ended.

    Raises `ArenaError` if a player chooses an illegal move, or the file cannot be written.
    """
    there = file.entries if file else {}
    for number in range(games):
        if number in there:
            tally.add(there[number])
    missing = [number for number in range(games) if number not in there]
    if not missing:
        return
    if not {Contestant.parse(match.a).name, Contestant.parse(match.b).name} <= set(REFERENCES):
        from bots.engine import prepare

        prepare()  # once, before there are processes that each would
    played = on_each(partial(play, match), missing, jobs=min(jobs, len(missing)))
    so_far = partial(_score, match, tally)
    with closing(watched(played, len(missing), "games", so_far)) as games_played:
        for game in games_played:
            if file:
                file.append(game)
            tally.add(game)


def _score(match: Match, tally: Tally) -> str:
    return f", {match.a} {tally.places:g} : {tally.games - tally.places:g} {match.b}"
