"""A guest who signs in brings scores to the shared boards, whatever happens at the same moment.

The fixture of this folder then finds every registered player's best on its board.
"""

import random
from typing import Any

import pytest

from accounts.models import Player, ScoreBoard, ScoreEntry
from accounts.services.sign_in import How, Identity, sign_in
from games.puzzle import rules
from games.puzzle.models import Best, Run
from games.puzzle.receivers import enter_bests_of_guest
from games.puzzle.services import days, play
from tests.games.puzzle.tables import (
    EASY,
    FORGIVING,
    STRICT,
    a_guest,
    at_once,
    choices,
    place,
    placed,
    play_out,
    started,
    state,
    take_back,
)
from tests.games.puzzle.test_daily import DAY, END, NOON, at, attempt

pytestmark = pytest.mark.django_db(transaction=True)


def _sign_in(guest: int, uid: str = "1") -> How:
    """Under the name that the runs began with, which the fixture wants to find in them."""
    name = Player.objects.get(pk=guest).name
    how = sign_in(identity=Identity("oidc", uid, names=("Ada",)), guest_id=guest).how
    Player.objects.filter(pk=guest).update(name=name)
    return how


def _board(key: str) -> dict[int, tuple[int, str]]:
    entries = ScoreEntry.objects.filter(board__key=key, listed=True)
    return {entry.player_id: (entry.score, entry.source) for entry in entries}


def test_bests_and_todays_attempt_are_on_the_boards() -> None:
    guest = a_guest()
    runs = [started(guest, STRICT, seed=bytes([number] * 32)) for number in range(1)]
    play_out(runs[0])
    other = started(guest, FORGIVING)
    play_out(other, random.Random(3))
    today = attempt(guest)
    placed(today, 1_000, random.Random(8), clock=at(NOON + 5_000))
    unfinished = started(guest, EASY)
    placed(unfinished, 2)
    assert not ScoreEntry.objects.exists()
    assert not ScoreBoard.objects.exists(), "a guest's score makes no board"
    assert _sign_in(guest) is How.UPGRADED
    assert _board(f"puzzle:{STRICT.key}") == {guest: (state(runs[0]).score, runs[0])}
    assert _board(f"puzzle:{FORGIVING.key}") == {guest: (state(other).score, other)}
    assert _board(f"daily:{DAY}") == {guest: (state(today).score, today)}
    assert not ScoreEntry.objects.filter(source=unfinished).exists()
    kept = list(ScoreEntry.objects.order_by("id").values())
    enter_bests_of_guest(player_id=guest)
    assert list(ScoreEntry.objects.order_by("id").values()) == kept, "twice is once"
    assert _sign_in(guest) is How.RETURNED
    placed(unfinished, 1_000)
    assert guest in _board(f"puzzle:{EASY.key}"), "and goes on as any player"


def test_a_day_that_is_over_stays_as_it_is() -> None:
    guest = a_guest()
    placed(attempt(guest), 4, clock=at(NOON))
    while days.sweep_days(now=END):
        pass
    assert Run.objects.get().status == Run.Status.CLOSED
    _sign_in(guest)
    assert _board(f"daily:{DAY}") == {}
    assert list(_board(f"puzzle:{Best.objects.get().key}")) == [guest], "of all time it is"


def test_an_end_that_is_taken_back_takes_the_score_away() -> None:
    guest = a_guest()
    run = started(guest, FORGIVING)
    play_out(run)
    _sign_in(guest)
    take_back(run, state(run).turn)
    assert _board(f"puzzle:{FORGIVING.key}") == {}


def test_a_run_that_ends_while_its_guest_signs_in() -> None:
    """Whoever is first: the score is on the board."""
    for number in range(12):
        guest = a_guest()
        run = started(guest, STRICT, seed=bytes([number] * 32))
        chance = random.Random(number)
        while True:
            legal = choices(run)
            wish = chance.choice(legal)
            if _would_end(run, wish):
                break
            place(run, wish)

        def work(side: int, guest: int = guest, run: str = run, wish: Any = wish) -> None:
            if side:
                _sign_in(guest, uid=f"uid{guest}")
            else:
                play.place(run_id=run, player_id=guest, **wish)

        assert at_once(2, work) == [None, None]
        assert Run.objects.get(id=run).status == Run.Status.OVER
        assert ScoreEntry.objects.get(player_id=guest).source == run
    assert Player.objects.filter(kind="registered").count() == 12


def _would_end(run_id: str, wish: dict[str, Any]) -> bool:
    after, _ = rules.place(
        state(run_id),
        bytes(Run.objects.get(id=run_id).seed),
        wish["slot"],
        wish["rotation"],
        wish["at"],
    )
    return after.over
