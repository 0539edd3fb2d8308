"""Claims, returns, departures and outages on the real database and Redis, with everybody at once."""

import asyncio
import json
from typing import Any

import pytest
from django.conf import LazySettings
from redis import Redis

from accounts.models import LedgerRow
from accounts.presence import Presence
from accounts.selectors.sanctions import ban_of
from accounts.services.people import cpu_player
from common import streams
from common.clock import now_ms
from common.database import wait
from common.errors import KadoError, UnavailableError
from games.territory import decide as de
from games.territory import lag, leaving, present, selectors, signals
from games.territory.departures import LADDER_MS, MEMORY_MS
from games.territory.errors import (
    AbortNotAllowedError,
    ClaimNotAllowedError,
    GameOverError,
    NotSeatedError,
    OpponentPresentError,
)
from games.territory.models import Departure, Game, Heartbeat, Outage
from games.territory.rules import Speed, TimeControl
from games.territory.services import leave, outages
from games.territory.services.play import check_clock, play_move
from games.territory.services.settle import settle
from games.territory.services.sweep import sweep
from tests.games.territory.support import a_move
from tests.games.territory.tables import (
    assert_record_is_whole,
    at_once,
    commit,
    commit_moves,
    registered,
    started,
)

pytestmark = pytest.mark.django_db(transaction=True)
AWAY = leaving.AWAY_MS[Speed.BLITZ]


@pytest.fixture
def store(redis: Redis) -> Presence:
    return Presence(redis)


def underway(players: list[int], moves: int, ago: int = 60_000, **more: Any) -> str:
    """A game with so many moves, begun some time ago, in which nobody has moved since soon after."""
    now = now_ms() - ago
    game = started(players, now=now, **more)
    commit_moves(game, moves, now=now + 100)
    return game


def gone(store: Presence, player: int, *, ago: int) -> None:
    """The player's only connection ended some time ago."""
    store.enter("web", [player], now=now_ms() - ago - 1_000)
    store.leave("web", [player], now=now_ms() - ago)


def claim(game: str, player: int, result: leaving.Result, seat: int | None = None) -> int:
    return wait(leave.claim(game_id=game, player_id=player, result=result, seat=seat)).version


def inbox_of(player: int) -> list[dict[str, Any]]:
    return [json.loads(note.payload) for note in streams.events_after(f"inbox:{player}", 0)]


# Claims


@pytest.mark.parametrize(("result", "winners"), [("win", 1), ("draw", 2)])
def test_a_claim_ends_a_game_of_two_and_is_rated(
    store: Presence, result: leaving.Result, winners: int
) -> None:
    one, two = registered(2)
    game = underway([one, two], 4)
    gone(store, two, ago=AWAY)
    before = selectors.version_of(game)
    assert claim(game, one, result) == before + 1
    state = assert_record_is_whole(game)
    assert state.outcome is not None
    assert [seat.rank for seat in state.outcome.seats].count(1) == winners
    with pytest.raises(GameOverError):
        claim(game, one, result)
    assert settle(game_id=game, now=now_ms())
    mine, theirs = LedgerRow.objects.order_by("player_id").values_list("mu_after", flat=True)
    assert (mine > theirs) == (winners == 1)
    assert Game.objects.get(id=game).termination == ("abandoned" if winners == 1 else "drawn")


def test_who_is_there_who_only_flickers_and_who_is_unknown_keep_their_seats(
    store: Presence, redis: Redis
) -> None:
    one, two = registered(2)
    game = underway([one, two], 4)
    with pytest.raises(OpponentPresentError) as error:
        claim(game, one, "win")
    assert error.value.data["claimable_at"] is None, "never connected: perhaps a client by REST"
    gone(store, two, ago=AWAY - 5_000)
    with pytest.raises(OpponentPresentError) as error:
        claim(game, one, "win")
    assert error.value.data["claimable_at"] is not None
    gone(store, two, ago=AWAY)
    store.enter("other", [two], now=now_ms())
    with pytest.raises(OpponentPresentError):
        claim(game, one, "win")
    store.leave("other", [two], now=now_ms())
    with pytest.raises(OpponentPresentError):
        claim(game, one, "win")
    gone(store, two, ago=AWAY)
    redis.flushall()
    with pytest.raises(OpponentPresentError):
        claim(game, one, "win")
    assert not selectors.load_state(game).is_over


def test_only_players_claim_and_not_from_themselves(store: Presence) -> None:
    one, two, other = registered(3)
    game = underway([one, two], 4)
    gone(store, two, ago=AWAY)
    with pytest.raises(NotSeatedError):
        claim(game, other, "win")
    for seat in (0, 5):
        with pytest.raises(ClaimNotAllowedError):
            claim(game, one, "win", seat)
    with pytest.raises(ClaimNotAllowedError):
        claim(game, one, "cpu")


def test_a_claim_races_the_claimed_players_move(store: Presence) -> None:
    """One or the other, never both: whoever is second learns of it."""
    one, two = registered(2)
    for _ in range(8):
        game = underway([one, two], 5, matched=False)
        gone(store, two, ago=AWAY)
        state = selectors.load_state(game)
        move = a_move(state)

        def work(number: int, game: str = game, move: str = move) -> int:
            if number:
                return claim(game, one, "win")
            play = play_move(game_id=game, player_id=two, ply=5, move=move)
            return wait(play).version

        results = at_once(2, work)
        after = assert_record_is_whole(game)
        if after.ply == 6:
            assert isinstance(results[1], OpponentPresentError), results
            assert not after.is_over
        else:
            assert isinstance(results[0], GameOverError), results
            assert after.is_over


def test_twenty_claims_at_once_end_the_game_once(store: Presence) -> None:
    one, two = registered(2)
    game = underway([one, two], 4)
    gone(store, two, ago=AWAY)
    results = at_once(20, lambda number: claim(game, one, "draw" if number % 2 else "win"))
    done = [result for result in results if isinstance(result, int)]
    assert len(done) == 1
    assert all(isinstance(result, GameOverError) for result in results if result not in done)
    assert_record_is_whole(game)


# A CPU takes the seat


def test_a_cpu_is_asked_to_move_for_who_went_away_until_the_player_is_back(
    store: Presence,
) -> None:
    players = registered(4)
    asked: list[tuple[int, str]] = []

    def hear(version: int, level: str, **_: Any) -> None:
        asked.append((version, level))

    signals.turn_started.connect(hear)
    try:
        game = underway(players, 6, variant="classic")
        gone(store, players[2], ago=AWAY)
        version = claim(game, players[0], "cpu")
        state = selectors.load_state(game)
        assert state.position.seat_to_move == 2
        for _ in range(200):
            if asked:
                break
            wait(_moment())
        assert asked == [(version, leaving.STAND_IN)]
        wake_at = Game.objects.get(id=game).wake_at
        assert wake_at is not None
        assert wake_at <= now_ms() + 10_000, "the sweeper asks again if the task is lost"
        assert selectors.seating(game).level_to_move(state) == leaving.STAND_IN
        played = play_move(
            game_id=game,
            player_id=players[2],
            ply=6,
            move=a_move(state),
            chosen_at=state.version,
        )
        wait(played)
    finally:
        signals.turn_started.disconnect(hear)
    assert wait(leave.take_back(game_id=game, player_id=players[2])).version == version + 2
    state = assert_record_is_whole(game)
    assert state.stand_ins == ()
    assert state.leavers == ()


async def _moment() -> None:
    await asyncio.sleep(0.01)


def test_who_was_replaced_and_never_came_back_ranks_last(store: Presence) -> None:
    players = registered(3)
    game = underway(players, 4, variant="classic-3")
    gone(store, players[1], ago=AWAY)
    claim(game, players[0], "cpu", 1)
    now = now_ms()
    for number in range(200):
        state = selectors.load_state(game)
        seat = state.position.seat_to_move
        if state.is_over or seat is None:
            break
        chosen = state.version if state.stand_in(seat) else None
        commit(game, de.PlayMove(seat, state.ply, a_move(state), chosen), now + number)
    state = assert_record_is_whole(game)
    assert state.outcome is not None
    assert state.outcome.termination == "completed"
    assert state.outcome.seats[1].rank == 3
    assert settle(game_id=game, now=now_ms())
    assert [(d.player_id, d.kind) for d in Departure.objects.all()] == [(players[1], "claimed")]


# Presence that is shown


def test_everybody_sees_who_is_there(store: Presence) -> None:
    one, two = registered(2)
    game = underway([one, two], 4)
    store.enter("web", [one], now=now_ms())
    gone(store, two, ago=5_000)
    (shown,) = present.PresenceStates().current([present.stream_of(game)]).values()
    assert shown == present.presence_of(game)
    here, away = shown.seats
    assert (here.online, here.away_since, here.claimable_at) == (True, None, None)
    assert away.online is False
    assert away.away_since is not None
    assert away.claimable_at is not None
    commit(game, de.Resign(0), now_ms())
    assert present.PresenceStates().current([present.stream_of(game)]) == {}


# Departures


def spoilt(player: int, other: int, now: int) -> str:
    """A matched game that the player aborts at once, settled."""
    game = started([player, other], now=now - 1_000)
    commit(game, leaving.Abort(0), now - 500)
    assert settle(game_id=game, now=now)
    return game


def test_leaving_again_and_again_keeps_from_the_pools_for_longer_and_longer() -> None:
    one, two = registered(2)
    now = now_ms()
    for number, expected in enumerate([*LADDER_MS, LADDER_MS[-1]]):
        now += 2 * LADDER_MS[-1] // 10
        spoilt(one, two, now)
        ban = ban_of(one, "queue", now)
        if expected == 0:
            assert ban is None
        else:
            assert ban is not None
            assert ban.until == now + expected, number
        assert ban_of(two, "queue", now) is None
    told = [event for event in inbox_of(one) if event["type"] == "banned"]
    assert len(told) == len(LADDER_MS)
    assert Departure.objects.filter(player_id=one, kind="aborted").count() == len(LADDER_MS) + 1


def test_after_a_week_it_is_forgotten() -> None:
    one, two = registered(2)
    now = now_ms()
    spoilt(one, two, now)
    spoilt(one, two, now + MEMORY_MS)
    assert ban_of(one, "queue", now + MEMORY_MS) is None


def test_one_game_counts_once_however_often_it_is_settled() -> None:
    one, two = registered(2)
    spoilt(one, two, now_ms())
    game = started([one, two])
    commit(game, leaving.Abort(0), now_ms())
    at_once(8, lambda _: settle(game_id=game, now=now_ms()))
    assert Departure.objects.filter(player_id=one).count() == 2
    assert len([event for event in inbox_of(one) if event["type"] == "banned"]) == 1


def test_games_at_once_are_counted_one_by_one() -> None:
    one, *others = registered(5)
    games = []
    for other in others:
        games.append(started([one, other], matched=False))
        Game.objects.filter(id=games[-1]).update(pool="duo-blitz")
        commit(games[-1], leaving.Abort(0), now_ms())
    at_once(4, lambda number: settle(game_id=games[number], now=now_ms()))
    assert Departure.objects.count() == 4
    assert len([event for event in inbox_of(one) if event["type"] == "banned"]) == 3


def test_what_is_no_departure(store: Presence) -> None:
    one, two = registered(2)
    # Resigned; thought for too long while connected; a game that nobody was matched for.
    resigned = underway([one, two], 4)
    commit(resigned, de.Resign(0), now_ms())
    settle(game_id=resigned, now=now_ms())
    store.enter("web", [one], now=now_ms())
    slow = underway([one, two], 4, ago=600_000)
    sweep(now=now_ms())
    settle(game_id=slow, now=now_ms())
    assert Game.objects.get(id=slow).termination == "timeout"
    casual = started([one, two], matched=False, now=now_ms() - 1_000)
    commit(casual, leaving.Abort(0), now_ms())
    settle(game_id=casual, now=now_ms())
    assert not Departure.objects.exists()


def test_a_time_that_ran_out_while_away_counts(store: Presence) -> None:
    one, two = registered(2)
    game = underway([one, two], 4, ago=600_000)
    gone(store, one, ago=300_000)
    sweep(now=now_ms())
    settle(game_id=game, now=now_ms())
    assert [(d.player_id, d.kind) for d in Departure.objects.all()] == [(one, "timeout")]


def test_abort_by_a_player(store: Presence) -> None:
    one, two = registered(2)
    game = started([one, two])
    wait(leave.abort(game_id=game, player_id=two))
    assert Game.objects.get(id=game).status == "aborted"
    with pytest.raises(GameOverError):
        wait(leave.abort(game_id=game, player_id=one))
    settle(game_id=game, now=now_ms())
    other = underway([one, two], 1, ago=1_000)
    with pytest.raises(AbortNotAllowedError):
        wait(leave.abort(game_id=other, player_id=one))


def test_a_cpu_is_never_counted() -> None:
    (one,) = registered(1)
    game = started(
        [one, cpu_player("starter").pk], levels=["", "starter"], matched=False, rated=False
    )
    Game.objects.filter(id=game).update(pool="x")
    commit_moves(game, 1, now=now_ms())
    commit(game, de.CheckClock(), now_ms() + 40_000)
    settle(game_id=game, now=now_ms())
    assert not Departure.objects.exists()


# Outages


def away_from_to(began: int, ended: int) -> None:
    """The last beat before an outage, and the first one after it."""
    Heartbeat.objects.update_or_create(pk=Heartbeat.ONLY, defaults={"at": began})
    assert outages.beat(ended) is not None


def test_the_first_beat_after_a_gap_writes_it_down_once(settings: LazySettings) -> None:
    now = now_ms()
    outages.beat(now)
    outages.beat(now + settings.OUTAGE_MS)
    assert not Outage.objects.exists()
    ended = now + 3 * settings.OUTAGE_MS
    at_once(8, lambda number: outages.beat(ended + number))
    (outage,) = Outage.objects.all()
    assert outage.began == now + settings.OUTAGE_MS
    assert ended <= outage.ended <= ended + 7
    outages.beat(ended - 60_000)  # a clock that is behind
    assert Heartbeat.objects.get().at >= ended


def test_time_is_given_before_the_turn_ends_whoever_comes_first() -> None:
    one, two = registered(2)
    now = now_ms()
    game = underway([one, two], 4, ago=200_000)
    state = selectors.load_state(game)
    assert state.expiry is not None
    assert state.expiry < now, "without the outage this would be over"
    away_from_to(now - 150_000, now)
    at_once(8, lambda _: wait(check_clock(game_id=game)))
    state = assert_record_is_whole(game)
    assert not state.is_over
    assert state.outages == (Outage.objects.get().pk,)
    sweep(now=now_ms())
    assert selectors.version_of(game) == state.version
    move = a_move(state)
    wait(play_move(game_id=game, player_id=one, ply=4, move=move))


def test_the_sweeper_gives_it_to_all_realtime_games_and_to_no_others() -> None:
    one, two = registered(2)
    now = now_ms()
    live = [underway([one, two], 4, matched=False, ago=20_000) for _ in range(3)]
    days = underway([one, two], 2, matched=False, control=TimeControl.correspondence(2))
    ended = underway([one, two], 4, matched=False, ago=20_000)
    commit(ended, de.Resign(0), now - 12_000)
    before = {game: selectors.load_state(game) for game in [*live, days]}
    away_from_to(now - 10_000, now - 1_000)
    later = started([one, two], matched=False)
    for _ in range(3):
        sweep(now=now_ms())
    for game in live:
        state = assert_record_is_whole(game)
        gained = [
            a - b for a, b in zip(state.clock.left_ms, before[game].clock.left_ms, strict=True)
        ]
        assert gained[1] == 9_000
        assert state.deadline == (before[game].deadline or 0) + 9_000
    assert selectors.load_state(days) == before[days]
    assert selectors.load_state(ended).outages == ()
    assert selectors.version_of(later) == 1
    assert Outage.objects.get().done


def test_while_nobody_knows_no_turn_ends(settings: LazySettings) -> None:
    """The last beat is older than the deadline: an outage may have begun, so another process leaves the turn alone."""
    one, two = registered(2)
    game = underway([one, two], 4, ago=600_000)
    deadline = selectors.load_state(game).deadline
    assert deadline is not None
    Heartbeat.objects.create(at=deadline - 1)
    with pytest.raises(UnavailableError):
        wait(check_clock(game_id=game))
    sweep(now=now_ms())
    assert not selectors.load_state(game).is_over
    Heartbeat.objects.update(at=now_ms())
    sweep(now=now_ms())
    assert selectors.load_state(game).is_over


def test_a_long_outage_aborts_and_counts_against_nobody() -> None:
    one, two = registered(2)
    game = underway([one, two], 4, ago=2 * leaving.LONG_OUTAGE_MS)
    now = now_ms()
    away_from_to(now - leaving.LONG_OUTAGE_MS - 10_000, now)
    sweep(now=now_ms())
    assert assert_record_is_whole(game).outcome is not None
    assert settle(game_id=game, now=now_ms())
    assert Game.objects.get(id=game).status == "aborted"
    assert not Departure.objects.exists()
    assert not LedgerRow.objects.exists()


# The edge of a turn, with sweepers and the player at once


@pytest.mark.parametrize("early_ms", [40, 0, -40])
def test_sweepers_race_a_move_at_the_end_of_the_turn(early_ms: int) -> None:
    """The move arrives when the lag's allowance ends, the sweepers look at the same moment: one of them is right."""
    one, two = registered(2)
    control = TimeControl.realtime(3_000)
    for _ in range(4):
        now = now_ms()
        game = started([one, two], control=control, matched=False, now=now - 2_900 - 200)
        commit_moves(game, 4, now=now - 3_090, every=10)
        state = selectors.load_state(game)
        assert state.expiry is not None
        target, move = state.expiry - early_ms, a_move(state)

        def work(number: int, game: str = game, move: str = move, target: int = target) -> Any:
            wait(_until(target))
            if number:
                return wait(check_clock(game_id=game))
            play = play_move(game_id=game, player_id=one, ply=4, move=move, lag_ms=lag.MOST_MS)
            return wait(play)

        results = at_once(4, work)
        after = assert_record_is_whole(game)
        moved = after.ply == 5
        assert moved != after.is_over
        assert isinstance(results[0], KadoError) != moved, results


async def _until(instant: int) -> None:
    await asyncio.sleep(max(0, instant - now_ms()) / 1000)
