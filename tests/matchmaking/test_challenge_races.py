"""Everything about a challenge that may happen at the same moment: threads on the real database."""

from collections import Counter
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from games.territory.models import Engagement, Game
from games.territory.rules import TimeKind
from matchmaking.models import Challenge
from matchmaking.pools import Pools
from matchmaking.services.challenges import (
    MOST_MADE,
    PATIENCE,
    accept_challenge,
    ask_rematch,
    decline_challenge,
    expire_challenges,
)
from tests.games.territory.tables import at_once, started
from tests.matchmaking.people import NOW, registered
from tests.matchmaking.tables import DAYS, inbox_of, seats_of
from tests.matchmaking.test_challenges import made, over
from tests.matchmaking.test_room_races import ROUNDS, together, what

pytestmark = pytest.mark.django_db(transaction=True)
LATE = NOW + PATIENCE[TimeKind.CORRESPONDENCE] // timedelta(milliseconds=1)


@pytest.fixture(autouse=True)
def _redis(store: Pools) -> None:
    """No tickets of other tests."""


def accept(challenge: str, player: int, now: int = NOW) -> str | None:
    view = accept_challenge(challenge_id=challenge, player_id=player, now=now)
    return view.row.game_id


def decline(challenge: str, player: int, now: int = NOW) -> str:
    view = decline_challenge(
        challenge_id=challenge, player_id=player, reason="busy", words="", now=now
    )
    return view.row.status


def test_accepted_many_times() -> None:
    one, two = registered(2)
    challenge = made(one)
    outcomes = at_once(12, lambda _: accept(challenge, two))
    assert what(outcomes) == {"done": 12}
    assert set(outcomes) == set(Game.objects.values_list("id", flat=True))
    assert Game.objects.count() == 1
    assert [event["type"] for event in inbox_of(one)] == ["challenge_accepted"]


def test_accepted_declined_and_cancelled() -> None:
    seen = Counter[str]()
    for round_ in range(ROUNDS):
        one, two = registered(2, f"R{round_}P")
        challenge = made(one, f"R{round_}P1", control=DAYS)
        outcomes = together(
            partial(accept, challenge, two),
            partial(decline, challenge, two),
            partial(decline, challenge, one),
        )
        assert what(outcomes) == {"done": 1, "challenge-over": 2}
        row = Challenge.objects.get(id=challenge)
        seen[row.status] += 1
        assert (row.status == "accepted") == (row.game_id is not None)
    assert Game.objects.count() == seen["accepted"]


def test_expiry_while_it_is_accepted() -> None:
    for round_ in range(ROUNDS):
        one, two = registered(2, f"R{round_}P")
        challenge = made(one, f"R{round_}P1", control=DAYS)
        game, *_ = together(
            partial(accept, challenge, two, LATE - 1),
            partial(expire_challenges, now=LATE),
            partial(expire_challenges, now=LATE),
        )
        row = Challenge.objects.get(id=challenge)
        if row.status == "accepted":
            assert game == row.game_id
        else:
            assert (row.status, what([game])) == ("expired", {"challenge-over": 1})
        last = [event["type"] for event in inbox_of(one)]
        assert last == ["challenge_accepted" if row.game_id else "challenge_ended"]


def test_many_challenges_of_one_player_are_accepted_at_once() -> None:
    """All by the clock: one becomes a game, and nobody is in two."""
    one, *others = registered(7)
    ids = [made(one, f"Player{number}") for number in range(1, 7)]
    outcomes = at_once(6, lambda number: accept(ids[number], others[number]))
    assert what(outcomes) == {"done": 1, "others-playing": 5}
    assert (Game.objects.count(), Engagement.objects.count()) == (1, 2)
    assert Challenge.objects.filter(status="open").count() == 5


def test_challenging_each_other() -> None:
    one, two = registered(2)
    back, forth = made(one), made(two, "Player0")
    outcomes = together(partial(accept, back, two), partial(accept, forth, one))
    assert what(outcomes) == {"done": 1, "already-playing": 1}
    assert Engagement.objects.count() == 2


def test_limits_hold_when_many_are_made_at_once() -> None:
    one, *_ = registered(MOST_MADE + 6)
    outcomes = at_once(MOST_MADE + 5, lambda number: made(one, f"Player{number + 1}"))
    assert what(outcomes) == {"done": MOST_MADE, "too-many-challenges": 5}
    again = registered(1, "Again")[0]
    outcomes = at_once(6, lambda _: made(again))
    assert what(outcomes) == {"done": 1, "challenge-waiting": 5}


def rematch(game: str, player: int) -> Any:
    return ask_rematch(game_id=game, player_id=player, now=NOW).row.game_id


def test_both_ask_for_a_rematch_at_once() -> None:
    for round_ in range(ROUNDS):
        one, two = registered(2, f"R{round_}P")
        game = over(started([one, two]))
        outcomes = together(
            *[partial(rematch, game, one), partial(rematch, game, two)] * 3,
        )
        assert what(outcomes) == {"done": 6}
        second = rematch(game, one)
        assert set(outcomes) <= {None, second}
        assert Challenge.objects.filter(rematch_of=game).count() == 1
        assert seats_of(second) == (two, one)
        over(second)


def test_four_ask_for_a_rematch_at_once() -> None:
    people = registered(4)
    game = over(started(people, variant="classic", rated=False))
    outcomes = at_once(8, lambda number: rematch(game, people[number % 4]))
    assert what(outcomes) == {"done": 8}
    assert seats_of(rematch(game, people[0])) == (*people[1:], people[0])
    assert Game.objects.count() == 2
