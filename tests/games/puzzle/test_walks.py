"""Anything at all, in any order, by three people: what must hold of runs, bests and leaderboards holds at every end.

The checks are in conftest.py; here it is only done, on a clock that the walk moves on, over some days.
"""

import random
from collections import Counter
from collections.abc import Callable
from datetime import date

import pytest

from common.errors import KadoError
from games.puzzle import rules
from games.puzzle.models import Run
from games.puzzle.rules import Rules
from games.puzzle.services import begin, days, play
from tests.games.puzzle.tables import (
    FORGIVING,
    Json,
    a_guest,
    choices,
    owner,
    place,
    registered,
    take_back,
)

pytestmark = pytest.mark.django_db(transaction=True)

STEPS = 120
BEGAN = rules.opens_at(date(2026, 5, 1))
RULES = (FORGIVING, Rules.of("hard", "9x9", "once"))


class Walk:
    """One walk: who plays, what has been answered, and how often each thing was done or refused."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.people = [*registered(2), a_guest()]
        self.runs: list[str] = []
        self.answers: list[tuple[str, Json, str]] = []
        self.done: Counter[str] = Counter()
        self.now = BEGAN

    def clock(self) -> int:
        """Time goes on with every look at it."""
        self.now += 1_000
        return self.now

    def start(self) -> None:
        chosen, player = self.chance.choice(RULES), self.chance.choice(self.people)
        seed = self.chance.randbytes(32)
        run = begin.start_run(player_id=player, chosen=chosen, seed=seed, clock=self.clock)
        self.runs.append(run)

    def attempt(self) -> None:
        player, today = self.chance.choice(self.people), rules.date_at(self.now)
        self.runs.append(begin.play_daily(player_id=player, day=today, clock=self.clock)[0])

    def practise(self) -> None:
        player, day = self.chance.choice(self.people), rules.date_at(BEGAN)
        self.runs.append(begin.practise_daily(player_id=player, day=day, clock=self.clock))

    def place(self) -> None:
        run = self._a_run()
        for _ in range(4):
            if legal := choices(run):
                wish = self.chance.choice(legal)
                self.answers.append((run, wish, place(run, wish, clock=self.clock).body()))

    def place_much(self) -> None:
        """To the end, or to that of the day."""
        run = self._a_run()
        while legal := choices(run):
            wish = self.chance.choice(legal)
            self.answers.append((run, wish, place(run, wish, clock=self.clock).body()))

    def place_wrongly(self) -> None:
        run = self._a_run()
        turn = Run.objects.get(id=run).turn + self.chance.randint(-1, 1)
        at = self.chance.choice(["a1", "h8", "d4", "z9"])
        place(run, {"turn": turn, "slot": 0, "rotation": 0, "at": at}, clock=self.clock)

    def undo(self) -> None:
        run = self._a_run()
        take_back(run, Run.objects.get(id=run).turn, clock=self.clock)

    def say_again(self) -> None:
        run, wish, answer = self.chance.choice(self.answers)
        again = play.place(run_id=run, player_id=owner(run), **wish, clock=self.clock)
        assert again.body() == answer

    def sleep(self) -> None:
        self.now += self.chance.choice([3_600_000, 86_400_000])

    def sweep(self) -> None:
        days.sweep_days(now=self.now)

    def _a_run(self) -> str:
        return self.chance.choice(self.runs[-6:])


@pytest.mark.parametrize("seed", range(3))
def test_a_walk(seed: int) -> None:
    walk = Walk(seed)
    walk.start()
    walk.place()
    steps: list[Callable[[], None]] = [
        *(walk.start, walk.start, walk.attempt, walk.practise, walk.place, walk.place_much),
        *(walk.place_much, walk.place_wrongly, walk.undo, walk.undo, walk.undo, walk.say_again),
        *(walk.sleep, walk.sweep),
    ]
    for _ in range(STEPS):
        step = walk.chance.choice(steps)
        try:
            step()
        except KadoError as refusal:
            walk.done[refusal.code] += 1
        else:
            walk.done[step.__name__] += 1
    assert walk.done["place_much"] > 5
    assert walk.done["undo"] > 0, walk.done
    statuses = set(Run.objects.values_list("status", flat=True))
    assert {"over", "abandoned"} <= statuses, walk.done
