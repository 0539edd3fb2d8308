"""From a proposal to a game, with a failure at every step."""

from contextlib import suppress
from random import Random
from threading import Timer

import pytest
from redis import Redis

from accounts.models import InboxItem
from games.territory.errors import EngagedError
from games.territory.models import Game
from games.territory.services.start import start_game
from matchmaking import pairing
from matchmaking.pairing import Proposal
from matchmaking.pools import CLAIM_LEASE_MS, LEASE_MS, Pools
from matchmaking.selectors import pool_card
from matchmaking.services import matching, waves
from matchmaking.services.matching import Match, make_match
from matchmaking.services.recover import recover, recover_expired
from matchmaking.services.tickets import join_pool, leave_pool
from matchmaking.services.waves import run_wave, sweep_tickets
from matchmaking.tickets import Ticket
from tests.matchmaking.people import (
    BLITZ,
    CASUAL,
    LETTERS,
    NOW,
    RAPID,
    assert_one_game_each,
    at_once,
    registered,
    seed,
    states,
)

pytestmark = pytest.mark.django_db(transaction=True)
WITHIN = NOW + 10_000
"""Whatever is killed, a ticket is matchable again by then."""


@pytest.fixture(autouse=True)
def _pools(store: Pools) -> None:
    seed()


def put(
    store: Pools, player: int, pool: str = BLITZ, mu: float = 1500.0, **rest: frozenset[int]
) -> Ticket:
    """A waiting ticket, without the attempt that joining makes."""
    ticket = Ticket(f"t{player}", player, pool, mu, 500.0, NOW, **rest)
    store.join(ticket, lease_until=NOW + LEASE_MS)
    return ticket


def match(*tickets: Ticket) -> Match | None:
    proposal = Proposal(tickets)
    return make_match(pool=pool_card(tickets[0].pool), proposal=proposal, now=NOW, random=Random(1))


def wave(pool: str = BLITZ, now: int = NOW) -> int:
    sweep_tickets(now=now)
    report = run_wave(pool=pool_card(pool), clock=lambda: now)
    return report.matches if report else 0


def test_a_match(store: Pools, redis: Redis) -> None:
    one, two = registered(2)
    made = match(put(store, one), put(store, two))
    assert made is not None
    assert sorted(made.player_ids) == [one, two]
    seats = Game.objects.get(id=made.game_id).seats.order_by("index")
    assert tuple(seats.values_list("player_id", flat=True)) == made.player_ids
    assert redis.keys("{mm}claim*") == []


def test_a_proposal_that_somebody_else_has_taken(store: Pools, redis: Redis) -> None:
    one, two, three = registered(3)
    first, second, third = (put(store, player) for player in (one, two, three))
    assert match(first, second)
    assert match(second, third) is None
    assert states(redis, three) == [BLITZ]
    assert_one_game_each([one, two])


def test_an_engaged_player_is_dropped_and_the_other_waits_on(store: Pools, redis: Redis) -> None:
    one, two, three = registered(3)
    match(put(store, one), put(store, two))
    stale, third = put(store, one), put(store, three)
    assert match(stale, third) is None
    assert (states(redis, one), states(redis, three)) == ([], [BLITZ])
    assert_one_game_each([one, two])
    assert InboxItem.objects.count() == 2, "nothing of the refused match was told"


def test_one_failing_proposal_does_not_stop_the_wave(
    store: Pools, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    players = registered(6)
    for step, player in enumerate(players):
        put(store, player, mu=1500.0 + 1_000 * (step // 2))
    unlucky = players[2]

    def breaking(**plan: object) -> str:
        if unlucky in [seat.player_id for seat in plan["seats"]]:  # type: ignore[attr-defined]
            raise RuntimeError("no luck")
        return start_game(**plan)  # type: ignore[arg-type]

    monkeypatch.setattr(matching, "start_game", breaking)
    assert wave() == 2
    assert_one_game_each([players[at] for at in (0, 1, 4, 5)])
    assert states(redis, unlucky) == states(redis, players[3]) == [BLITZ]
    monkeypatch.undo()
    assert wave() == 1
    assert_one_game_each(players)


def test_one_unreadable_ticket_does_not_stop_the_wave(store: Pools, redis: Redis) -> None:
    players = registered(3)
    for player in players:
        put(store, player)
    redis.hset("{mm}tickets", str(players[0]), b"nonsense")
    assert wave() == 1
    assert_one_game_each(players[1:])


def test_killed_between_claim_and_commit(store: Pools, redis: Redis) -> None:
    one, two = registered(2)
    tickets = [put(store, one), put(store, two)]
    assert store.claim("claim", BLITZ, tickets, now=NOW)
    assert wave() == 0
    assert wave(now=NOW + CLAIM_LEASE_MS) == 1
    assert NOW + CLAIM_LEASE_MS < WITHIN
    assert_one_game_each([one, two])
    assert states(redis, one) == states(redis, two) == []


def test_killed_between_commit_and_settle(
    store: Pools, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = registered(3)
    tickets = [put(store, one), put(store, two)]

    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    # The process dies right after the commit: neither the started game's signal nor the settling is seen.
    monkeypatch.setattr(matching, "_end_claim", killed)
    monkeypatch.setattr("matchmaking.receivers.drop_tickets", lambda **_: None)
    with pytest.raises(Killed):
        match(*tickets)
    monkeypatch.undo()
    assert states(redis, one) == ["claimed"]
    put(store, three)
    assert wave(now=NOW + CLAIM_LEASE_MS) == 0
    assert states(redis, one) == states(redis, two) == []
    assert states(redis, three) == [BLITZ]
    assert_one_game_each([one, two])


def test_a_slow_commit_after_the_recovery(
    store: Pools, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = registered(3)
    tickets = [put(store, one), put(store, two)]

    def slowly(**plan: object) -> str:
        assert [claim.id for claim in recover_expired(now=NOW + CLAIM_LEASE_MS)]
        assert states(redis, one) == [BLITZ]
        return start_game(**plan)  # type: ignore[arg-type]

    monkeypatch.setattr(matching, "start_game", slowly)
    assert match(*tickets)
    assert states(redis, one) == states(redis, two) == []
    put(store, three)
    assert wave(now=NOW + CLAIM_LEASE_MS) == 0
    assert_one_game_each([one, two])


def test_recovering_twice_changes_nothing(store: Pools, redis: Redis) -> None:
    one, two = registered(2)
    claim = store.claim("claim", BLITZ, [put(store, one), put(store, two)], now=NOW)
    assert claim is not None
    assert sorted(recover(claim=claim, now=NOW)) == [one, two]
    assert recover(claim=claim, now=NOW) == []
    assert states(redis, one) == [BLITZ]


def test_blocks_and_recent_opponents_are_respected_by_waves(store: Pools) -> None:
    one, two, three = registered(3)
    put(store, one, blocked=frozenset({two}))
    put(store, two)
    assert wave(now=NOW + 20_000) == 0
    put(store, three, mu=1590.0, recent=frozenset({one, two}))
    assert wave(now=NOW + pairing.RULE.repeat_patience - 1) == 0
    assert wave(now=NOW + pairing.RULE.repeat_patience) == 1
    assert Game.objects.filter(seats__player_id=three).exists()


def test_dead_clients_are_not_matched(store: Pools) -> None:
    dead, alive = registered(2)
    put(store, dead)
    mine = Ticket("alive", alive, BLITZ, 1500.0, 500.0, NOW)
    store.join(mine, lease_until=NOW + 3 * LEASE_MS)
    assert wave(now=NOW + LEASE_MS) == 0
    assert {each.player_id for each in store.waiting(BLITZ)} == {alive}


def test_a_wave_matches_everybody_it_can(store: Pools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waves, "BUDGET_SECONDS", 60.0)  # however slow the machine is
    players = registered(41)
    for step, player in enumerate(players):
        put(store, player, mu=1500.0 + step)
    assert wave() == 20
    (left,) = store.waiting(BLITZ)
    assert_one_game_each([player for player in players if player != left.player_id])


@pytest.mark.parametrize("round_", range(3))
def test_several_waves_and_joins_at_once_give_each_player_one_game(
    store: Pools, redis: Redis, monkeypatch: pytest.MonkeyPatch, round_: int
) -> None:
    """Four waves that ignore each other's lease, while players join three pools from two devices each."""
    players = registered(30, prefix=f"Racer{round_}-")
    keys = (BLITZ, RAPID, CASUAL)
    monkeypatch.setattr(Pools, "lock_wave", lambda self, pool: "everybody")

    def work(number: int) -> None:
        if number < 4:
            for _ in range(15):
                for key in keys:
                    run_wave(pool=pool_card(key), clock=lambda: NOW)
            return
        for at, player in enumerate(players):
            if at % 2 == number % 2:
                join_quietly(player, keys[at % 3])

    def join_quietly(player: int, key: str) -> None:
        with suppress(EngagedError):
            join_pool(player_id=player, pool_key=key, now=NOW)

    at_once(8, work)
    for key in keys:
        while wave(key):
            pass
    assert_one_game_each(players)
    assert all(states(redis, player) == [] for player in players)
    assert redis.keys("{mm}claim*") == []


# By correspondence, where a player has many games


def test_one_plays_many_games_by_correspondence(store: Pools, redis: Redis) -> None:
    one, two, three = registered(3)
    join_pool(player_id=one, pool_key=LETTERS, now=NOW)
    first = join_pool(player_id=two, pool_key=LETTERS, now=NOW)
    assert first.state == "matched"
    assert states(redis, one) == states(redis, two) == []
    join_pool(player_id=one, pool_key=LETTERS, now=NOW)
    second = join_pool(player_id=three, pool_key=LETTERS, now=NOW)
    assert second.state == "matched"
    assert first.game != second.game
    assert join_pool(player_id=one, pool_key=BLITZ, now=NOW).state == "waiting"


def test_a_correspondence_ticket_becomes_one_game(
    store: Pools, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit that is slower than the recovery of its claim, and the tickets wait again."""
    one, two, three = registered(3)
    tickets = [put(store, one, LETTERS), put(store, two, LETTERS)]

    def slowly(**plan: object) -> str:
        assert recover_expired(now=NOW + CLAIM_LEASE_MS)
        assert states(redis, one) == [LETTERS]
        monkeypatch.undo()
        return start_game(**plan)  # type: ignore[arg-type]

    monkeypatch.setattr(matching, "start_game", slowly)
    assert match(*tickets)
    put(store, one, LETTERS)
    put(store, three, LETTERS)
    assert wave(LETTERS, now=NOW + CLAIM_LEASE_MS) == 0
    assert Game.objects.count() == 1
    assert (states(redis, one), states(redis, three)) == ([], [LETTERS])


def test_killed_between_commit_and_settle_by_correspondence(
    store: Pools, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = registered(2)
    tickets = [put(store, one, LETTERS), put(store, two, LETTERS)]
    monkeypatch.setattr(matching, "_end_claim", lambda *_: None)
    assert match(*tickets)
    assert states(redis, one) == ["claimed"]
    assert wave(LETTERS, now=NOW + CLAIM_LEASE_MS) == 0
    assert states(redis, one) == states(redis, two) == []
    assert Game.objects.count() == 1


def test_leaving_too_late_by_correspondence_says_so(
    store: Pools, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = registered(2)
    tickets = [put(store, one, LETTERS), put(store, two, LETTERS)]
    claim = store.claim("claim", LETTERS, tickets, now=NOW)
    assert claim is not None
    monkeypatch.setattr(Pools, "claim", lambda *_, **__: claim)
    monkeypatch.setattr(matching, "_end_claim", lambda *_: None)
    assert match(*tickets)
    timer = Timer(0.1, lambda: store.end_claim(claim, [], now=NOW))
    timer.start()
    with pytest.raises(EngagedError):
        leave_pool(player_id=one, now=NOW)
    timer.join()
