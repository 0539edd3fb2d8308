"""Challenges: made, agreed to, declined, cancelled, expired; and rematches."""

from datetime import timedelta
from random import Random
from typing import Any

import pytest

from accounts.models import Block, Friendship
from accounts.services.people import become_bot, cpu_player, create_guest
from common.errors import KadoError
from games.territory import selectors as games
from games.territory.decide import Resign
from games.territory.models import Engagement, Game
from games.territory.rules import TimeControl, TimeKind
from games.territory.services.casual import start_casual
from games.territory.services.settle import settle
from matchmaking.models import Challenge
from matchmaking.pools import Pools
from matchmaking.receivers import end_challenges_of_block
from matchmaking.selectors.challenges import (
    ChallengeView,
    challenge_view,
    open_challenges,
    taken_by,
)
from matchmaking.services.challenges import (
    MOST_MADE,
    MOST_RECEIVED,
    PATIENCE,
    accept_challenge,
    ask_rematch,
    decline_challenge,
    expire_challenges,
    make_challenge,
    take_challenges,
)
from tests.games.territory.tables import commit, started
from tests.matchmaking.people import NOW, registered
from tests.matchmaking.tables import BLITZ, DAYS, UNTIMED, bot, inbox_of, seats_of, terms

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _redis(store: Pools) -> None:
    """No tickets of other tests."""


def refused(problem: str, work: Any, /, *args: Any, **wish: Any) -> dict[str, Any]:
    before = list(Challenge.objects.order_by("id").values())
    with pytest.raises(KadoError) as caught:
        work(*args, **wish)
    assert caught.value.code == problem
    assert list(Challenge.objects.order_by("id").values()) == before, "nothing has changed"
    return caught.value.data


def made(one: int, name: str = "Player1", *, first: str = "challenger", **wish: Any) -> str:
    view = make_challenge(player_id=one, name=name, terms=terms(**wish), first=first, now=NOW)
    return view.row.id


def accepted(challenge: str, player: int, seed: int = 0, now: int = NOW) -> ChallengeView:
    return accept_challenge(challenge_id=challenge, player_id=player, now=now, random=Random(seed))


def declined(challenge: str, player: int, reason: str = "later", words: str = "") -> ChallengeView:
    return decline_challenge(
        challenge_id=challenge, player_id=player, reason=reason, words=words, now=NOW
    )


# Made and answered


def test_from_challenge_to_game() -> None:
    one, two = registered(2)
    challenge = made(one, "player1", rated=True, undo="ask", spectators=False)
    (received,) = inbox_of(two)
    assert received == {
        "type": "challenge_received",
        "challenge": challenge,
        "challenger": "Player0",
        "variant": "duo",
        "time_control": {"kind": "realtime", "initial_ms": 120_000, "increment_ms": 3_000},
        "rated": True,
        "undo": "ask",
        "spectators": False,
        "first": "challenger",
        "rematch_of": None,
        "expires_at": "2027-01-15T08:10:00.000Z",
    }
    assert inbox_of(one) == []
    view = accepted(challenge, two)
    assert (view.row.status, accepted(challenge, two).row.game_id) == ("accepted", view.row.game_id)
    game = view.row.game_id
    assert game is not None
    assert seats_of(game) == (one, two)
    for player, seat in ((one, 0), (two, 1)):
        event = {"type": "challenge_accepted", "challenge": challenge, "game": game, "seat": seat}
        assert inbox_of(player)[-1] == event
    begun = games.load_state(game).started
    assert (begun.rated, begun.undo, begun.spectators) == (True, "ask", False)
    assert Engagement.objects.count() == 2


def test_who_moves_first() -> None:
    one, two = registered(2)
    for first, seats in (("challenger", (one, two)), ("challenged", (two, one))):
        game = accepted(made(one, first=first, control=DAYS), two).row.game_id
        assert game is not None
        assert seats_of(game) == seats
    drawn = set()
    for seed in range(8):
        game = accepted(made(one, first="draw", control=DAYS), two, seed).row.game_id
        assert game is not None
        drawn.add(seats_of(game))
    assert drawn == {(one, two), (two, one)}


def test_declined_with_a_reason() -> None:
    one, two, three = registered(3)
    challenge = made(one)
    refused("unknown-challenge", declined, challenge, three)
    for _ in range(2):
        assert declined(challenge, two, "too-fast", "Sunday?").row.status == "declined"
    ended = {
        "type": "challenge_ended",
        "challenge": challenge,
        "status": "declined",
        "player": "Player1",
        "reason": "too-fast",
    }
    assert inbox_of(one) == [ended]
    assert refused("challenge-over", accepted, challenge, two) == {"status": "declined"}
    assert made(one) != challenge, "and may be made again"


def test_cancelled() -> None:
    one, two = registered(2)
    challenge = made(one)
    for _ in range(2):
        view = declined(challenge, one, "busy", "not told")
        assert (view.row.status, view.row.reason, view.row.words) == ("cancelled", "", "")
    assert inbox_of(two)[-1]["status"] == "cancelled"
    assert refused("challenge-over", accepted, challenge, two) == {"status": "cancelled"}
    assert refused("challenge-over", declined, challenge, two) == {"status": "cancelled"}


@pytest.mark.parametrize("control", [BLITZ, DAYS, UNTIMED])
def test_expired(control: TimeControl) -> None:
    one, two = registered(2)
    challenge = made(one, control=control)
    end = NOW + PATIENCE[control.kind] // timedelta(milliseconds=1)
    assert expire_challenges(now=end - 1) == 0
    assert refused("challenge-over", accepted, challenge, two, now=end) == {"status": "expired"}
    assert (expire_challenges(now=end), expire_challenges(now=end)) == (1, 0)
    for player in (one, two):
        assert inbox_of(player)[-1]["status"] == "expired"
    assert PATIENCE[TimeKind.REALTIME] < PATIENCE[TimeKind.CORRESPONDENCE]


def test_accepted_by_whom_it_does_not_concern() -> None:
    one, _, three = registered(3)
    challenge = made(one)
    for wrong in (challenge, "0" * 12, "", "x", "\0" * 12, "é" * 12):
        refused("unknown-challenge", accepted, wrong, three)
        refused("unknown-challenge", challenge_view, wrong, three)
    assert accepted(challenge, one).row.status == "open", "the challenger has agreed already"


# Whom one may challenge


def test_who_takes_no_challenges() -> None:
    one, two = registered(2)
    guest, _ = create_guest()
    refused("guests-not-allowed", made, guest.pk)
    for name in ("Player0", guest.name, cpu_player("starter").name):
        refused("no-challenges", made, one, name)
    refused("unknown-player", made, one, "Nobody")
    assert taken_by(two) == "everybody"
    take_challenges(player_id=two, whose="nobody")
    refused("no-challenges", made, one)
    take_challenges(player_id=two, whose="friends")
    refused("no-challenges", made, one)
    Friendship.objects.create(sender_id=one, recipient_id=two, asked_at=NOW, since=NOW)
    made(one)


@pytest.mark.parametrize("by", [0, 1])
def test_a_block(by: int) -> None:
    people = registered(2)
    waiting = made(people[0])
    Block.objects.create(blocker_id=people[by], blocked_id=people[1 - by], at=NOW)
    refused("no-challenges", accepted, waiting, people[1])
    end_challenges_of_block(blocker_id=people[by], blocked_id=people[1 - by])
    assert challenge_view(waiting, people[1]).row.status == "cancelled"
    assert inbox_of(people[1])[-1]["player"] is None
    refused("no-challenges", made, people[0])


def test_rated_and_settings() -> None:
    one, two = registered(2)
    bot()
    refused("rated-not-allowed", made, one, "Robot", rated=True)
    made(one, "Robot")
    refused("wrong-settings", made, one, rated=True, undo="free")
    assert refused("wrong-seats", made, one, variant="classic") == {"seats": 4}
    challenge = made(one, rated=True)
    become_bot(player_id=two)
    refused("rated-not-allowed", accepted, challenge, two)


def test_limits() -> None:
    people = registered(MOST_RECEIVED + 2)
    first = made(people[0])
    assert refused("challenge-waiting", made, people[0]) == {"challenge": first}
    for number in range(2, MOST_MADE + 1):
        made(people[0], f"Player{number}")
    assert refused("too-many-challenges", made, people[0], "Player20") == {"limit": MOST_MADE}
    declined(first, people[1])
    made(people[0], "Player20")
    for number in range(2, MOST_RECEIVED + 2):
        made(people[number])
    assert refused("challenge-waiting", made, people[2])["challenge"]
    late = registered(1, "Late")[0]
    assert refused("too-many-challenges", made, late) == {"limit": MOST_RECEIVED}


def test_lists() -> None:
    people = registered(5)
    ids = [made(each, "Player4") for each in people[:4]]
    declined(ids[0], people[4])
    assert [each.row.id for each in open_challenges(people[1], "out")] == [ids[1]]
    assert open_challenges(people[1], "in") == []
    seen = open_challenges(people[4], "in")
    assert {each.row.id for each in seen} == set(ids[1:])
    last = seen[0].row
    rest = open_challenges(people[4], "in", before=(last.created_at, last.id))
    assert [each.row.id for each in rest] == [each.row.id for each in seen[1:]]


# Live games


def test_the_challenger_has_gone_into_another_game() -> None:
    one, two, three = registered(3)
    challenge = made(one)
    started([one, three])
    assert refused("others-playing", accepted, challenge, two) == {"players": ["Player0"]}
    game = started([two, registered(1, "Four")[0]])
    assert refused("already-playing", accepted, challenge, two) == {"game": game}
    Engagement.objects.all().delete()
    assert accepted(challenge, two).row.status == "accepted", "it stayed open"


def test_games_by_correspondence_are_many() -> None:
    one, two = registered(2)
    started([one, two])
    for _ in range(3):
        assert accepted(made(one, control=DAYS), two).row.game_id
    assert Game.objects.count() == 4


# Rematches


def over(game_id: str) -> str:
    """The game after all but the last seat have given up."""
    give_up(game_id, *range(len(seats_of(game_id)) - 1))
    return game_id


def give_up(game_id: str, *seats: int) -> None:
    for seat in seats:
        now = games.notes_after(game_id, 0)[-1].at + 1_000
        commit(game_id, Resign(seat), now)
        settle(game_id=game_id, now=now)


def rematch(game: str, player: int, now: int = NOW) -> ChallengeView:
    return ask_rematch(game_id=game, player_id=player, now=now)


def test_a_rematch_begins_with_the_other_one() -> None:
    one, two = registered(2)
    game = over(started([one, two], rated=True))
    asked = rematch(game, one)
    assert (asked.row.status, asked.row.first, asked.row.rematch_of_id) == ("open", "seats", game)
    assert inbox_of(two)[-1]["rematch_of"] == game
    assert [each.row.id for each in open_challenges(two, "in")] == [asked.row.id]
    assert rematch(game, one).row.status == "open"
    done = rematch(game, two)
    assert (done.row.id, done.row.status) == (asked.row.id, "accepted")
    second = done.row.game_id
    assert second is not None
    assert rematch(game, one).row.game_id == second
    assert seats_of(second) == (two, one)
    before, after = games.load_state(game).started, games.load_state(second).started
    assert (after.variant, after.rated, after.time_control) == (
        before.variant, before.rated, before.time_control,
    )  # fmt: skip
    assert after.pool is None
    third = over(second)
    rematch(third, one)
    last = accepted(rematch(third, one).row.id, two).row.game_id
    assert last is not None
    assert seats_of(last) == (one, two), "the first move alternates"


def test_a_rematch_of_two_people_and_two_cpus() -> None:
    one, two = registered(2)
    cpu = cpu_player("starter").pk
    game = started(
        [one, cpu, two, cpu], variant="classic", levels=["", "starter", "", "starter"], rated=False
    )
    give_up(game, 0, 2)
    refused("not-finished", rematch, game, one)
    give_up(game, 1)
    rematch(game, one)
    second = rematch(game, two).row.game_id
    assert second is not None
    assert games.seating(second).levels == ("starter", "", "starter", "")
    assert seats_of(second) == (cpu, two, cpu, one)


def test_who_plays_alone_needs_nobody() -> None:
    guest, _ = create_guest()
    game = start_casual(player_id=guest.pk, variant="duo", levels=["", "starter"], now=NOW)
    refused("not-finished", rematch, game, guest.pk)
    commit(game, Resign(0), NOW + 1)
    second = rematch(game, guest.pk).row.game_id
    assert second is not None
    assert games.seating(second).levels == ("starter", "")
    assert rematch(game, guest.pk).row.game_id == second


def test_rematches_that_are_refused() -> None:
    one, two, three = registered(3)
    game = over(started([one, two]))
    refused("not-seated", rematch, game, three)
    refused("unknown-game", rematch, "0" * 12, one)
    asked = rematch(game, one).row.id
    declined(asked, two)
    assert refused("challenge-over", rematch, game, one) == {"status": "declined"}
    other = over(started([one, two]))
    Block.objects.create(blocker_id=two, blocked_id=one, at=NOW)
    refused("no-challenges", rematch, other, one)


def test_a_rematch_that_nobody_answered_may_be_asked_for_again() -> None:
    one, two = registered(2)
    game = over(started([one, two]))
    first = rematch(game, one).row.id
    late = NOW + PATIENCE[TimeKind.REALTIME] // timedelta(milliseconds=1)
    refused("challenge-over", rematch, game, two, now=late)
    expire_challenges(now=late)
    second = rematch(game, two, now=late)
    assert second.row.id != first
    declined(second.row.id, two)  # taken back
    assert rematch(game, one, now=late).row.status == "open"
