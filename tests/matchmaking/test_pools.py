"""The store's scripts on a real Valkey: a ticket is in exactly one state, whoever asks at once."""

from collections import Counter
from dataclasses import replace
from random import Random
from typing import cast

import pytest
from redis import Redis

from common.ids import new_id
from matchmaking.estimates import KEPT
from matchmaking.pools import CLAIM_LEASE_MS, LEASE_MS, REMEMBERED_MS, Claim, Pools
from matchmaking.tickets import Ticket
from tests.matchmaking.people import at_once

NOW = 1_800_000_000_000
BLITZ, RAPID = "duo-blitz", "duo-rapid"


def ticket(player: int, mu: float = 1500.0, pool: str = BLITZ, joined: int = NOW) -> Ticket:
    return Ticket(new_id(), player, pool, mu, 321.125, joined, frozenset({7, 8}), frozenset({9}))


def join(store: Pools, *tickets: Ticket, now: int = NOW) -> None:
    for each in tickets:
        store.join(each, lease_until=now + LEASE_MS)


def claim(store: Pools, *tickets: Ticket, now: int = NOW) -> Claim:
    taken = store.claim(new_id(), tickets[0].pool, tickets, now=now)
    assert taken is not None
    return taken


def waiting(store: Pools, pool: str = BLITZ) -> set[int]:
    return {each.player_id for each in store.waiting(pool)}


def is_empty(redis: Redis) -> bool:
    """Nothing is left of any ticket or claim; memories of ends and matches may be."""
    keys = {str(key, "ascii") for key in cast("list[bytes]", redis.keys("{mm}*"))}
    return not {
        key for key in keys if key != "{mm}gone" and not key.startswith(("{mm}met", "{mm}ends"))
    }


def state_of(redis: Redis, player: int) -> str:
    """The one state of a player's ticket, read from the keys themselves; it must not be in two."""
    wanted = redis.hexists("{mm}tickets", str(player))
    places = [
        *(
            pool
            for pool in (BLITZ, RAPID)
            if redis.zscore(f"{{mm}}waiting:{pool}", player) is not None
        ),
        *(["claimed"] if redis.hexists("{mm}claimed", str(player)) else []),
    ]
    assert len(places) == (1 if wanted else 0), (player, wanted, places)
    assert (redis.zscore("{mm}leases", player) is not None) == wanted
    return places[0] if places else "none"


# Joining and leaving


def test_a_ticket_comes_back_as_it_was_put_in(store: Pools) -> None:
    mine = ticket(1, mu=1500.123456789)
    assert store.join(mine, lease_until=NOW + LEASE_MS) == (mine, True)
    assert store.ticket(1) == mine
    assert store.waiting(BLITZ) == [mine]


def test_joining_twice_returns_the_first_ticket_and_renews_its_lease(
    store: Pools, redis: Redis
) -> None:
    first, second = ticket(1), ticket(1, mu=1700)
    join(store, first)
    assert store.join(second, lease_until=NOW + 2 * LEASE_MS) == (first, False)
    assert store.waiting(BLITZ) == [first]
    assert redis.zscore("{mm}leases", 1) == NOW + 2 * LEASE_MS
    store.join(second, lease_until=NOW)
    assert redis.zscore("{mm}leases", 1) == NOW + 2 * LEASE_MS, "a lease never gets shorter"


def test_joining_another_pool_returns_the_standing_ticket_and_changes_nothing(
    store: Pools, redis: Redis
) -> None:
    first = ticket(1)
    join(store, first)
    assert store.join(ticket(1, pool=RAPID), lease_until=NOW + 9 * LEASE_MS) == (first, False)
    assert (waiting(store), waiting(store, RAPID)) == ({1}, set())
    assert redis.zscore("{mm}leases", 1) == NOW + LEASE_MS


def test_joining_while_claimed_returns_the_claimed_ticket(store: Pools, redis: Redis) -> None:
    mine, other = ticket(1), ticket(2)
    join(store, mine, other)
    claim(store, mine, other)
    assert store.join(ticket(1), lease_until=NOW + LEASE_MS) == (mine, False)
    assert state_of(redis, 1) == "claimed"


def test_leaving(store: Pools, redis: Redis) -> None:
    join(store, ticket(1), ticket(2))
    assert store.leave(1, RAPID, now=NOW).state == "none"
    assert state_of(redis, 1) == BLITZ
    assert store.leave(1, BLITZ, now=NOW).state == "left"
    assert store.leave(1, None, now=NOW).state == "none"
    assert store.leave(2, None, now=NOW).state == "left"
    assert is_empty(redis)


def test_dropping_forgets_waiting_and_claimed_tickets(store: Pools, redis: Redis) -> None:
    one, two, three = ticket(1), ticket(2), ticket(3, pool=RAPID)
    join(store, one, two, three)
    taken = claim(store, one, two)
    assert store.drop([1, 3, 4], now=NOW) == [1, 3]
    assert (state_of(redis, 1), state_of(redis, 3)) == ("none", "none")
    assert store.release(taken, now=NOW) == [2]
    assert state_of(redis, 2) == BLITZ
    assert store.drop([], now=NOW) == []


# Leases


def test_a_dead_clients_ticket_is_gone_after_its_lease(store: Pools, redis: Redis) -> None:
    join(store, ticket(1), ticket(2))
    assert store.renew([2], lease_until=NOW + LEASE_MS + 10_000).lost == []
    assert store.expire(now=NOW + LEASE_MS - 1) == []
    assert store.expire(now=NOW + LEASE_MS) == [1]
    assert waiting(store) == {2}
    assert store.expire(now=NOW + LEASE_MS + 10_000) == [2]
    assert is_empty(redis)


def test_a_claimed_ticket_does_not_expire_but_does_after_its_release(store: Pools) -> None:
    one, two = ticket(1), ticket(2)
    join(store, one, two)
    taken = claim(store, one, two, now=NOW + LEASE_MS - 1)
    assert store.expire(now=NOW + LEASE_MS) == []
    store.release(taken, now=NOW + LEASE_MS)
    assert sorted(store.expire(now=NOW + LEASE_MS)) == [1, 2]


def test_a_lapsed_ticket_cannot_be_claimed(store: Pools) -> None:
    one, two = ticket(1), ticket(2)
    join(store, one, two)
    assert store.claim(new_id(), BLITZ, [one, two], now=NOW + LEASE_MS) is None
    assert waiting(store) == {1, 2}


def test_renewing_tells_what_was_lost_from_what_ended_on_purpose(
    store: Pools, redis: Redis
) -> None:
    join(store, ticket(1), ticket(2), ticket(3))
    store.leave(2, None, now=NOW)
    renewed = store.renew([1, 2, 4], lease_until=NOW + LEASE_MS)
    assert (renewed.lost, renewed.gone) == ([4], [2])
    assert store.renew([], lease_until=NOW).lost == []
    join(store, ticket(2))
    assert store.renew([2], lease_until=NOW + LEASE_MS).gone == []
    store.leave(2, None, now=NOW)
    store.expire(now=NOW + REMEMBERED_MS + 1)
    assert store.renew([2], lease_until=NOW).lost == [2], "ends are not remembered for ever"


# Claims


def test_a_claim_takes_all_tickets_or_none(store: Pools, redis: Redis) -> None:
    one, two, three = ticket(1), ticket(2), ticket(3)
    join(store, one, two, three)
    claim(store, one, two)
    assert waiting(store) == {3}
    assert store.claim(new_id(), BLITZ, [three, two], now=NOW) is None
    assert store.claim(new_id(), BLITZ, [three, ticket(4)], now=NOW) is None
    assert store.claim(new_id(), RAPID, [three], now=NOW) is None
    assert store.claim(new_id(), BLITZ, [ticket(3)], now=NOW) is None, (
        "another ticket of the player"
    )
    assert state_of(redis, 3) == BLITZ
    assert store.waiting(BLITZ) == [three]


def test_settling_and_releasing(store: Pools, redis: Redis) -> None:
    tickets = [ticket(player) for player in range(1, 7)]
    join(store, *tickets)
    first, second, third = (claim(store, *tickets[at : at + 2]) for at in (0, 2, 4))
    assert store.is_open(first.id)
    assert store.end_claim(first, [1, 2], now=NOW) == []
    assert store.end_claim(second, [3], now=NOW) == [4]
    assert sorted(store.release(third, now=NOW)) == [5, 6]
    assert not store.is_open(first.id)
    assert waiting(store) == {4, 5, 6}
    assert {state_of(redis, player) for player in (1, 2, 3)} == {"none"}
    assert store.release(second, drop=[4], now=NOW) == [], "a drop holds although the claim is over"
    assert waiting(store) == {5, 6}


def test_a_ticket_left_while_claimed_does_not_return(store: Pools, redis: Redis) -> None:
    one, two = ticket(1), ticket(2)
    join(store, one, two)
    taken = claim(store, one, two)
    left = store.leave(1, BLITZ, now=NOW)
    assert (left.state, left.claim_id) == ("claimed", taken.id)
    assert store.leave(1, None, now=NOW) == left, "the same until the claim has ended"
    assert store.release(taken, now=NOW) == [2]
    assert state_of(redis, 1) == "none"
    assert store.leave(1, None, now=NOW).state == "none"
    assert not redis.exists("{mm}leaving")


@pytest.mark.parametrize("matched", [(), (1, 2)])
def test_a_new_ticket_of_the_player_is_not_touched_by_an_old_claim(
    store: Pools, redis: Redis, matched: tuple[int, ...]
) -> None:
    one, two, again = ticket(1), ticket(2), ticket(1)
    join(store, one, two)
    taken = claim(store, one, two)
    store.leave(1, None, now=NOW)
    join(store, again)
    store.end_claim(taken, matched, now=NOW)
    assert store.ticket(1) == again
    assert state_of(redis, 1) == BLITZ


def test_settling_late_takes_tickets_that_returned_meanwhile(store: Pools, redis: Redis) -> None:
    one, two, three = ticket(1), ticket(2), ticket(3)
    join(store, one, two, three)
    slow = claim(store, one, two)
    store.release(slow, now=NOW)  # by the recovery
    quick = claim(store, one, three)
    store.end_claim(slow, [1, 2], now=NOW)  # its owner was alive after all
    assert store.release(quick, now=NOW) == [3]
    assert (state_of(redis, 1), state_of(redis, 2)) == ("none", "none")


def test_expired_claims_are_found(store: Pools) -> None:
    one, two = ticket(1), ticket(2)
    join(store, one, two)
    taken = claim(store, one, two)
    assert store.expired_claims(now=NOW + CLAIM_LEASE_MS - 1) == []
    assert store.expired_claims(now=NOW + CLAIM_LEASE_MS) == [taken]
    assert sorted(store.release(taken, now=NOW + CLAIM_LEASE_MS)) == [1, 2]
    assert store.expired_claims(now=NOW + CLAIM_LEASE_MS) == []


# Reading a pool


def test_neighbours_are_the_nearest_ratings_within_the_span(store: Pools) -> None:
    ratings = {1: 1500.0, 2: 1510.0, 3: 1490.0, 4: 1550.5, 5: 1400.0, 6: 1601.0, 7: 1500.0}
    join(store, *(ticket(player, mu) for player, mu in ratings.items()), ticket(8, 1500, RAPID))
    mine = store.ticket(1)
    assert mine is not None
    near = {each.player_id for each in store.near(mine, span=100, most=10)}
    assert near == {2, 3, 4, 5, 7}
    assert {each.player_id for each in store.near(mine, span=100, most=1)} <= {3, 7}


def test_sizes_and_positions(store: Pools) -> None:
    tickets = [ticket(1, joined=NOW + 5), ticket(2, joined=NOW + 1), ticket(3, joined=NOW + 9)]
    join(store, *tickets, ticket(4, pool=RAPID))
    assert store.sizes([BLITZ, RAPID, "nobody"]) == {BLITZ: 3, RAPID: 1, "nobody": 0}
    assert [store.place(each).position for each in tickets] == [2, 1, 3]
    store.leave(2, None, now=NOW)
    assert [store.place(each).position for each in tickets] == [1, 0, 2]


@pytest.mark.parametrize(
    "corrupt",
    [b"", b"nonsense", b"id|duo-blitz|1500|1|{", b"id|duo-blitz|x|1|{}", b"a|duo-blitz|1.0|1|[]"],
)
def test_one_unreadable_ticket_does_not_stop_the_others(
    store: Pools, redis: Redis, corrupt: bytes
) -> None:
    join(store, ticket(1), ticket(2), ticket(3))
    redis.hset("{mm}tickets", "2", corrupt)
    assert waiting(store) == {1, 3}
    assert waiting(store) == {1, 3}
    assert store.ticket(2) is None
    fresh = ticket(2)
    assert store.join(fresh, lease_until=NOW + LEASE_MS) == (fresh, True)
    assert waiting(store) == {1, 2, 3}
    assert state_of(redis, 2) == BLITZ


def test_joining_over_an_unreadable_ticket_makes_a_new_one(store: Pools, redis: Redis) -> None:
    join(store, ticket(1))
    redis.hset("{mm}tickets", "1", b"a|duo-blitz|1.0|1|[]")
    fresh = ticket(1)
    assert store.join(fresh, lease_until=NOW + LEASE_MS) == (fresh, True)
    assert store.waiting(BLITZ) == [fresh]


@pytest.mark.parametrize("rating", ["NaN", "1e999", "null"])
def test_a_rating_that_is_no_number_is_unreadable(store: Pools, redis: Redis, rating: str) -> None:
    join(store, ticket(1), ticket(2))
    record = redis.hget("{mm}tickets", "2")
    assert isinstance(record, bytes)
    redis.hset("{mm}tickets", "2", record.replace(b"321.125", rating.encode()))
    assert waiting(store) == {1}


def test_everything_lost(store: Pools, redis: Redis) -> None:
    one, two = ticket(1), ticket(2)
    join(store, one, two)
    taken = claim(store, one, two)
    redis.flushall()
    redis.script_flush()
    assert store.end_claim(taken, [1], now=NOW) == []
    assert store.renew([1, 2], lease_until=NOW).lost == [1, 2]
    join(store, two)
    assert waiting(store) == {2}


# Memory, and the waves' lease


def test_recent_opponents_are_remembered_for_a_while(store: Pools) -> None:
    one, two = ticket(1), ticket(2)
    join(store, one, two)
    store.remember(claim(store, one, two), [one, replace(two, joined=NOW - 3_000)], now=NOW)
    assert [*store.met(1, now=NOW), *store.met(2, now=NOW)] == [2, 1]
    assert store.met(1, now=NOW + REMEMBERED_MS + 1) == frozenset()
    ended = store.place(one).ended
    assert {(end.mu, end.matched, end.at) for end in ended} == {(1500.0, True, NOW)}
    assert sorted(end.wait for end in ended) == [0, 3_000]


def test_who_waited_in_vain_is_remembered_too(store: Pools, redis: Redis) -> None:
    left, dead, plays, taken = (ticket(player) for player in (1, 2, 3, 4))
    join(store, left, plays, taken)
    store.join(dead, lease_until=NOW + 9_000)
    claim(store, taken)
    store.leave(1, None, now=NOW + 4_000)
    store.drop([3, 4], now=NOW + 6_000)
    store.expire(now=NOW + 9_000)
    ended = store.queues([BLITZ])[BLITZ].ended
    assert [(end.wait, end.matched) for end in ended] == [
        (9_000, False), (6_000, False), (4_000, False),
    ]  # fmt: skip
    for number in range(KEPT + 10):
        join(store, ticket(number))
        store.leave(number, None, now=NOW + number)
    assert len(store.queues([BLITZ])[BLITZ].ended) == KEPT


def test_what_stands_in_several_pools(store: Pools) -> None:
    one, two = ticket(1), replace(ticket(2), mu=1720.0, joined=NOW - 5_000)
    join(store, one, two)
    found = store.queues([BLITZ, "nowhere"])
    assert (found[BLITZ].oldest, sorted(found[BLITZ].ratings)) == (NOW - 5_000, [1500.0, 1720.0])
    assert (found["nowhere"].oldest, found["nowhere"].ratings) == (None, [])


def test_one_wave_a_pool(store: Pools) -> None:
    token = store.lock_wave(BLITZ)
    assert token is not None
    assert store.lock_wave(BLITZ) is None
    assert store.lock_wave(RAPID) is not None
    store.unlock_wave(BLITZ, "another's")
    assert store.lock_wave(BLITZ) is None
    store.unlock_wave(BLITZ, token)
    assert store.lock_wave(BLITZ) is not None


# Races


def test_fifty_joins_at_once_make_one_ticket(store: Pools) -> None:
    answers: list[tuple[Ticket, bool]] = []
    at_once(50, lambda _: answers.append(store.join(ticket(1), lease_until=NOW + LEASE_MS)))
    assert len({mine.id for mine, _ in answers}) == 1
    assert sum(new for _, new in answers) == 1
    assert len(store.waiting(BLITZ)) == 1


def test_fifty_claims_at_once_take_each_ticket_once(store: Pools) -> None:
    tickets = [ticket(player) for player in range(11)]
    join(store, *tickets)
    taken: list[Claim] = []

    def work(number: int) -> None:
        random = Random(number)
        for _ in range(20):
            two = random.sample(tickets, 2)
            if got := store.claim(new_id(), BLITZ, two, now=NOW):
                taken.append(got)

    at_once(50, work)
    claimed = Counter(player for each in taken for player in each.player_ids)
    assert set(claimed.values()) == {1}
    assert len(taken) == 5
    assert len(store.waiting(BLITZ)) == 1


def test_whatever_fifty_threads_do_a_ticket_is_in_one_state(store: Pools, redis: Redis) -> None:
    """Joins, leaves, claims, settlings, releases and expiries, all at once; then everything is put in order."""

    def work(number: int) -> None:
        random = Random(number)
        for step in range(40):
            now = NOW + step
            player = random.randrange(1, 12)
            match random.randrange(6):
                case 0 | 1:
                    pool = random.choice((BLITZ, RAPID))
                    store.join(ticket(player, pool=pool), lease_until=now + 20)
                case 2:
                    store.leave(player, None, now=now)
                case 3 | 4:
                    tickets = store.waiting(BLITZ)
                    if len(tickets) < 2:
                        continue
                    got = store.claim(new_id(), BLITZ, random.sample(tickets, 2), now=now)
                    if got and random.random() < 0.8:
                        matched = got.player_ids if random.random() < 0.5 else []
                        store.end_claim(got, matched, now=now)
                case _:
                    store.expire(now=now)

    at_once(50, work)
    for player in range(1, 12):
        state_of(redis, player)
    for lapsed in store.expired_claims(now=NOW + 10 * CLAIM_LEASE_MS):
        store.release(lapsed, now=NOW)
    assert "claimed" not in {state_of(redis, player) for player in range(1, 12)}
    store.expire(now=NOW + 10 * LEASE_MS)
    assert is_empty(redis)
