"""Joining, leaving and keeping tickets, by the services."""

import threading
import time
from random import Random

import pytest
from django.db import connections, transaction
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from accounts.models import InboxItem, Player
from accounts.services.people import become_bot, create_guest, create_player
from common.errors import UnavailableError
from games.territory.errors import EngagedError
from games.territory.models import Game
from matchmaking import selectors
from matchmaking.errors import (
    AlreadyWaitingError,
    BotsNotAllowedError,
    GuestsNotAllowedError,
    PeopleNotAllowedError,
    PoolClosedError,
    RatingOutsidePoolError,
    UnknownPoolError,
)
from matchmaking.models import Pool
from matchmaking.pools import LEASE_MS, Pools
from matchmaking.selectors import FRESH_SECONDS, forget_pools, pool_card, ticket_view
from matchmaking.services import tickets as tickets_service
from matchmaking.services.tickets import join_pool, keep_tickets, leave_pool
from tests.matchmaking.people import (
    BLITZ,
    CASUAL,
    NOW,
    RAPID,
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


def test_the_first_waits_and_learns_what_for() -> None:
    (one,) = registered(1)
    view = join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    assert view == ticket_view(player_id=one, now=NOW)
    assert view.wire() == {
        "state": "waiting",
        "pool": BLITZ,
        "id": view.id,
        "joined": "2027-01-15T08:00:00.000Z",
        "waited_ms": 0,
        "window": 100.0,
        "window_limit": 500.0,
        "compatible": 0,
        "waiting": 1,
        "position": 1,
        "estimate_matches": 0,
        "renew_within_ms": LEASE_MS,
    }
    later = ticket_view(player_id=one, now=NOW + 10_000)
    assert (later.waited_ms, later.window) == (10_000, 350.0)
    assert ticket_view(player_id=one, now=NOW, pool_key=RAPID).state == "none"


def test_the_second_is_matched_at_once_and_both_are_told(redis: Redis) -> None:
    one, two = registered(2)
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    view = join_pool(player_id=two, pool_key=BLITZ, now=NOW + 3_000, random=Random(1))
    assert view.wire() == {"state": "matched", "pool": BLITZ, "game": view.game}
    assert_one_game_each([one, two])
    game = Game.objects.get()
    assert (game.id, game.pool, game.rated, game.initial_ms) == (view.game, BLITZ, True, 120_000)
    assert states(redis, one) == states(redis, two) == []
    for player in (one, two):
        assert ticket_view(player_id=player, now=NOW).wire() == {
            "state": "matched",
            "game": game.id,
        }
    told = {item.player_id: item.payload for item in InboxItem.objects.all()}
    seats = dict(game.seats.values_list("player_id", "index"))
    assert told == {
        player: f'{{"type":"match_found","game":"{game.id}","pool":"{BLITZ}",'
        f'"seat":{seats[player]},"opponents":["{other}"]}}'
        for player, other in ((one, "Player1"), (two, "Player0"))
    }


def test_the_draw_of_seats_is_fair() -> None:
    first = 0
    for number in range(40):
        one, two = registered(2, prefix=f"Draw{number}-")
        join_pool(player_id=one, pool_key=BLITZ, now=NOW)
        join_pool(player_id=two, pool_key=BLITZ, now=NOW, random=Random(number))
        first += Game.objects.filter(seats__player_id=one, seats__index=0).count()
    assert 10 < first < 30


def test_two_posts_of_one_tap_are_one_ticket() -> None:
    (one,) = registered(1)
    views = []
    at_once(8, lambda _: views.append(join_pool(player_id=one, pool_key=BLITZ, now=NOW)))
    assert len({view.id for view in views}) == 1
    assert {view.waiting for view in views} == {1}
    assert Game.objects.count() == 0, "two sessions of one player never meet"


def test_one_pool_at_a_time_and_leaving_from_anywhere(redis: Redis) -> None:
    (one,) = registered(1)
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    with pytest.raises(AlreadyWaitingError) as refusal:
        join_pool(player_id=one, pool_key=RAPID, now=NOW)
    assert refusal.value.problem()["pool"] == BLITZ
    leave_pool(player_id=one, pool_key=RAPID, now=NOW)
    assert states(redis, one) == [BLITZ]
    leave_pool(player_id=one, now=NOW)
    leave_pool(player_id=one, now=NOW)
    assert ticket_view(player_id=one, now=NOW).wire() == {"state": "none"}
    assert join_pool(player_id=one, pool_key=RAPID, now=NOW).pool == RAPID


def test_who_may_not_wait() -> None:
    guest, _ = create_guest()
    bot = create_player(name="Robot", kind="bot")
    with pytest.raises(GuestsNotAllowedError):
        join_pool(player_id=guest.pk, pool_key=CASUAL, now=NOW)
    with pytest.raises(BotsNotAllowedError):
        join_pool(player_id=bot.pk, pool_key=BLITZ, now=NOW)


def test_bots_wait_where_the_pool_says_so() -> None:
    (person,) = registered(1)
    bots = [create_player(name=f"Robot{number}", kind="bot").pk for number in range(2)]
    _pool_for_bots("only")
    with pytest.raises(PeopleNotAllowedError):
        join_pool(player_id=person, pool_key=BLITZ, now=NOW)
    assert join_pool(player_id=bots[0], pool_key=BLITZ, now=NOW).state == "waiting"
    assert join_pool(player_id=bots[1], pool_key=BLITZ, now=NOW).state == "matched"


def test_bots_and_people_meet_where_both_are_welcome() -> None:
    (person,) = registered(1)
    bot = create_player(name="Robot", kind="bot").pk
    guest, _ = create_guest()
    _pool_for_bots("welcome")
    with pytest.raises(GuestsNotAllowedError):
        join_pool(player_id=guest.pk, pool_key=BLITZ, now=NOW)
    assert join_pool(player_id=bot, pool_key=BLITZ, now=NOW).state == "waiting"
    assert join_pool(player_id=person, pool_key=BLITZ, now=NOW).state == "matched"


@pytest.mark.django_db(transaction=True)
def test_who_becomes_a_bot_does_not_wait_among_people(redis: Redis) -> None:
    one, two = registered(2)
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    become_bot(player_id=one)
    assert states(redis, one) == []
    assert join_pool(player_id=two, pool_key=BLITZ, now=NOW).state == "waiting"


def test_a_match_with_somebody_who_has_just_become_a_bot_is_refused(redis: Redis) -> None:
    """The news of it has not dropped the ticket yet."""
    one, two = registered(2)
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    Player.objects.filter(pk=one).update(kind="bot")
    assert join_pool(player_id=two, pool_key=BLITZ, now=NOW).state == "waiting"
    assert states(redis, one) == []
    assert states(redis, two) == [BLITZ]


def _pool_for_bots(bots: str) -> None:
    Pool.objects.filter(key=BLITZ).update(bots=bots)
    forget_pools()


def test_who_plays_may_not_wait() -> None:
    one, two = registered(2)
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    game = join_pool(player_id=two, pool_key=BLITZ, now=NOW).game
    with pytest.raises(EngagedError) as refusal:
        join_pool(player_id=one, pool_key=RAPID, now=NOW)
    assert refusal.value.problem()["code"] == "already-playing"
    assert refusal.value.problem()["game"] == game


def test_pools_change_without_a_restart() -> None:
    (one,) = registered(1)
    assert pool_card(BLITZ).open
    Pool.objects.filter(key=BLITZ).update(open=False)
    time.sleep(FRESH_SECONDS)
    with pytest.raises(PoolClosedError):
        join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    Pool.objects.filter(key=BLITZ).update(open=True, min_rating=1600, variant="nonsense")
    Pool.objects.filter(key=RAPID).update(max_rating=1499)
    forget_pools()
    with pytest.raises(UnknownPoolError):
        join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    with pytest.raises(RatingOutsidePoolError) as refusal:
        join_pool(player_id=one, pool_key=RAPID, now=NOW)
    assert refusal.value.problem()["max_rating"] == 1499
    assert join_pool(player_id=one, pool_key=CASUAL, now=NOW).state == "waiting"


def test_recent_opponents_do_not_meet_again_at_once(store: Pools) -> None:
    one, two, three = registered(3)
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    game = Game.objects.get(id=join_pool(player_id=two, pool_key=BLITZ, now=NOW).game)
    game.engagements.all().delete()
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    view = join_pool(player_id=two, pool_key=BLITZ, now=NOW)
    assert (view.state, view.compatible) == ("waiting", 0)
    assert ticket_view(player_id=two, now=NOW + 5_000).compatible == 1
    assert join_pool(player_id=three, pool_key=BLITZ, now=NOW).state == "matched"


def test_estimates_come_from_recent_matches() -> None:
    one, two, three = registered(3)
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    join_pool(player_id=two, pool_key=BLITZ, now=NOW + 4_000)
    view = join_pool(player_id=three, pool_key=BLITZ, now=NOW)
    assert (view.estimate_ms, view.estimate_matches) == (2_000, 2)


# Leaving while a match is being made


def test_leaving_too_late_says_so(store: Pools) -> None:
    one, two = registered(2)
    for player in (one, two):
        join_pool(player_id=player, pool_key=BLITZ if player == one else RAPID, now=NOW)
    mine = store.ticket(one)
    assert mine is not None
    claim = store.claim("claim", BLITZ, [mine], now=NOW)
    assert claim is not None

    def finish() -> None:
        time.sleep(0.1)
        from games.territory.rules import TimeControl
        from games.territory.services.start import SeatPlan, start_game

        with transaction.atomic():
            start_game(
                variant="duo",
                time_control=TimeControl.realtime(120_000),
                seats=[SeatPlan(one), SeatPlan(two)],
                rated=False,
                pool=BLITZ,
                matched=True,
                now=NOW,
            )
        store.end_claim(claim, [one], now=NOW)
        connections.close_all()

    thread = threading.Thread(target=finish)
    thread.start()
    with pytest.raises(EngagedError):
        leave_pool(player_id=one, now=NOW)
    thread.join()


def test_leaving_a_claim_that_fails(store: Pools, redis: Redis) -> None:
    (one,) = registered(1)
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    mine = store.ticket(one)
    assert mine is not None
    claim = store.claim("claim", BLITZ, [mine], now=NOW)
    assert claim is not None
    timer = threading.Timer(0.1, lambda: store.release(claim, now=NOW))
    timer.start()
    leave_pool(player_id=one, now=NOW)
    timer.join()
    assert states(redis, one) == []


def test_leaving_a_claim_that_nobody_ends(store: Pools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tickets_service, "LEAVE_PATIENCE_SECONDS", 0.1)
    (one,) = registered(1)
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    mine = store.ticket(one)
    assert mine is not None
    store.claim("claim", BLITZ, [mine], now=NOW)
    with pytest.raises(UnavailableError):
        leave_pool(player_id=one, now=NOW)


# Without Redis


def test_everything_says_unavailable_while_redis_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = registered(1)
    away = Pools(Redis(port=1, retry=Retry(NoBackoff(), 0)))
    for module in (tickets_service, selectors):
        monkeypatch.setattr(module, "pools", lambda: away)
    with pytest.raises(UnavailableError):
        join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    with pytest.raises(UnavailableError):
        leave_pool(player_id=one, now=NOW)
    with pytest.raises(UnavailableError):
        keep_tickets(wishes={one: BLITZ}, now=NOW)
    with pytest.raises(UnavailableError):
        ticket_view(player_id=one, now=NOW)
    with pytest.raises(UnavailableError):
        selectors.pool_sizes([BLITZ])


# Keeping


def test_connections_keep_tickets_and_make_lost_ones_anew(store: Pools, redis: Redis) -> None:
    one, two, three, four = registered(4)
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    join_pool(player_id=two, pool_key=RAPID, now=NOW)
    leave_pool(player_id=two, now=NOW)
    guest, _ = create_guest()
    wishes = {one: BLITZ, two: RAPID, three: CASUAL, guest.pk: BLITZ}
    assert keep_tickets(wishes=wishes, now=NOW + 10_000) == {two, guest.pk}
    assert redis.zscore("{mm}leases", one) == NOW + 10_000 + LEASE_MS
    assert states(redis, three) == [CASUAL]
    redis.flushall()
    assert keep_tickets(wishes={one: BLITZ, four: BLITZ}, now=NOW + 20_000) == {four}
    assert_one_game_each([one, four])
    assert keep_tickets(wishes={one: BLITZ}, now=NOW + 30_000) == {one}


def test_a_wish_outlasts_a_redis_that_fails_while_it_is_made_anew(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = registered(1)

    def away(**_: object) -> None:
        raise UnavailableError

    monkeypatch.setattr(tickets_service, "join_pool", away)
    with pytest.raises(UnavailableError):
        keep_tickets(wishes={one: BLITZ}, now=NOW)
    monkeypatch.undo()
    assert keep_tickets(wishes={one: BLITZ}, now=NOW) == set()
    assert states(redis, one) == [BLITZ]


def test_any_live_game_takes_the_ticket(redis: Redis) -> None:
    from games.territory.signals import game_started

    one, two = registered(2)
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    join_pool(player_id=two, pool_key=RAPID, now=NOW)
    game_started.send_robust(sender=None, game_id="g", player_ids=[one], live=True)
    assert (states(redis, one), states(redis, two)) == ([], [RAPID])
