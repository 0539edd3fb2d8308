"""Games of three and four from ticket to game, and who moves first."""

import pytest
from redis import Redis

from accounts.models import InboxItem
from games.territory.models import Engagement, Game
from matchmaking.pairing import RULE
from matchmaking.pools import CLAIM_LEASE_MS, LEASE_MS, Pools
from matchmaking.selectors import pool_card, ticket_view
from matchmaking.services.tickets import join_pool
from matchmaking.services.waves import run_wave, sweep_tickets
from matchmaking.tickets import Ticket
from tests.matchmaking.people import (
    BLITZ,
    FOUR,
    NOW,
    THREE,
    assert_one_game_each,
    at_once,
    registered,
    seed,
    states,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _pools(store: Pools) -> None:
    seed()


def put(
    store: Pools, player: int, pool: str = FOUR, mu: float = 1500.0, **rest: frozenset[int]
) -> Ticket:
    """A waiting ticket, without the attempt that joining makes."""
    ticket = Ticket(f"t{player}", player, pool, mu, 500.0, NOW, **rest)
    store.join(ticket, lease_until=NOW + 10 * LEASE_MS)
    return ticket


def wave(pool: str = FOUR, now: int = NOW) -> int:
    sweep_tickets(now=now)
    report = run_wave(pool=pool_card(pool), clock=lambda: now)
    return report.matches if report else 0


@pytest.mark.parametrize(("pool", "size"), [(THREE, 3), (FOUR, 4)])
def test_the_last_to_join_is_matched_at_once_and_all_are_told(
    redis: Redis, pool: str, size: int
) -> None:
    players = registered(size)
    for place, player in enumerate(players[:-1], start=1):
        view = join_pool(player_id=player, pool_key=pool, now=NOW)
        assert (view.state, view.position, view.compatible) == ("waiting", place, place - 1)
    view = join_pool(player_id=players[-1], pool_key=pool, now=NOW)
    assert (view.state, view.pool) == ("matched", pool)
    assert_one_game_each(players, size)
    game = Game.objects.get()
    assert game.variant == pool_card(pool).variant
    for player in players:
        assert states(redis, player) == []
        assert ticket_view(player_id=player, now=NOW).game == game.id
    assert {item.player_id for item in InboxItem.objects.all()} == set(players)
    assert all('"opponents":["' in item.payload for item in InboxItem.objects.all())


def test_a_wave_makes_every_game_that_can_be_made(store: Pools) -> None:
    players = registered(11)
    for step, player in enumerate(players):
        put(store, player, mu=1500.0 + step)
    assert wave() == 2
    left = {each.player_id for each in store.waiting(FOUR)}
    assert len(left) == 3
    assert_one_game_each([player for player in players if player not in left], 4)


def test_a_block_between_any_two_keeps_the_four_apart(store: Pools) -> None:
    one, two, three, four, five = registered(5)
    put(store, one, blocked=frozenset({four}))
    for player in (two, three, four):
        put(store, player)
    assert wave(now=NOW + 60_000) == 0
    put(store, five, mu=1700.0)
    assert wave(now=NOW + 60_000) == 1
    engaged = set(Engagement.objects.values_list("player_id", flat=True))
    assert len({one, four} & engaged) == 1
    assert {two, three, five} < engaged


def test_all_four_are_claimed_or_none(store: Pools, redis: Redis) -> None:
    players = registered(5)
    tickets = [put(store, player) for player in players]
    assert store.claim("first", FOUR, tickets[:4], now=NOW)
    assert store.claim("second", FOUR, tickets[1:], now=NOW) is None
    assert states(redis, players[4]) == [FOUR]
    assert [states(redis, player) for player in players[:4]] == [["claimed"]] * 4


@pytest.mark.parametrize("round_", range(3))
def test_claims_of_overlapping_fours_at_once_take_nobody_twice(store: Pools, round_: int) -> None:
    players = registered(10, prefix=f"Claim{round_}-")
    tickets = [put(store, player) for player in players]
    taken: list[int] = []

    def work(number: int) -> None:
        for start in range(10):
            four = [tickets[(start + number * 3 + step) % 10] for step in range(4)]
            if store.claim(f"c{number}x{start}", FOUR, four, now=NOW):
                taken.extend(ticket.player_id for ticket in four)

    at_once(8, work)
    assert len(taken) == len(set(taken)) == 8


def test_killed_between_claim_and_commit_the_four_meet_by_the_next_wave(
    store: Pools, redis: Redis
) -> None:
    players = registered(4)
    tickets = [put(store, player) for player in players]
    assert store.claim("claim", FOUR, tickets, now=NOW)
    assert wave() == 0
    assert wave(now=NOW + CLAIM_LEASE_MS) == 1
    assert_one_game_each(players, 4)
    assert all(states(redis, player) == [] for player in players)
    assert redis.keys("{mm}claim*") == []


def test_one_who_plays_elsewhere_does_not_keep_the_others(store: Pools, redis: Redis) -> None:
    one, two, three, four, five = registered(5)
    put(store, one, BLITZ)
    put(store, five, BLITZ)
    assert wave(BLITZ) == 1
    for player in (one, two, three, four):  # the first one's ticket is left over from an outage
        put(store, player)
    assert wave() == 0
    assert states(redis, one) == []
    assert [states(redis, player) for player in (two, three, four)] == [[FOUR]] * 3
    assert_one_game_each([one, five])


def test_who_met_at_one_table_counts_as_recent_for_all_the_others(store: Pools) -> None:
    players = registered(4)
    for player in players:
        join_pool(player_id=player, pool_key=FOUR, now=NOW)
    assert store.met(players[0], now=NOW) == frozenset(players[1:])
    Engagement.objects.all().delete()
    views = [join_pool(player_id=player, pool_key=FOUR, now=NOW) for player in players]
    assert {view.state for view in views} == {"waiting"}
    assert wave(now=NOW + RULE.repeat_patience - 1) == 0
    assert wave(now=NOW + RULE.repeat_patience) == 1


@pytest.mark.parametrize("round_", range(2))
def test_several_waves_and_joins_at_once_give_each_player_one_game(
    store: Pools, redis: Redis, monkeypatch: pytest.MonkeyPatch, round_: int
) -> None:
    players = registered(24, prefix=f"Racer{round_}-")
    monkeypatch.setattr(Pools, "lock_wave", lambda self, pool: "everybody")

    def work(number: int) -> None:
        if number < 3:
            for _ in range(12):
                run_wave(pool=pool_card(FOUR), clock=lambda: NOW)
            return
        for player in players[number - 3 :: 4]:
            join_pool(player_id=player, pool_key=FOUR, now=NOW)

    at_once(7, work)
    while wave():
        pass
    assert_one_game_each(players, 4)
    assert redis.keys("{mm}claim*") == []


# Who moves first


def first_mover(*players: int, minute: int) -> int:
    """Match these two; who moves first. They are free again afterwards, and the game began at that minute."""
    known = set(Game.objects.values_list("id", flat=True))
    views = [join_pool(player_id=player, pool_key=BLITZ, now=NOW) for player in players]
    if views[-1].state != "matched":
        assert wave(BLITZ, now=NOW + RULE.repeat_patience) == 1
    Engagement.objects.all().delete()
    (game,) = Game.objects.exclude(id__in=known)
    game.created_at = f"2027-01-15T08:{minute:02}:00Z"
    game.save()
    return int(game.seats.get(index=0).player_id)


def test_over_a_pairs_games_the_first_move_alternates() -> None:
    one, two, three = registered(3)
    movers = []
    for minute in range(6):
        movers.append(first_mover(one, two, minute=minute))
        first_mover(
            one, three, minute=30 + minute
        )  # games with others change nothing between the two
    assert set(movers) == {one, two}
    assert movers == [movers[0], movers[1]] * 3


def test_an_aborted_game_does_not_count_for_the_first_move() -> None:
    one, two = registered(2)
    before = first_mover(one, two, minute=1)
    assert first_mover(one, two, minute=2) != before
    Game.objects.filter(created_at="2027-01-15T08:02:00Z").update(status="aborted")
    assert first_mover(one, two, minute=3) != before
