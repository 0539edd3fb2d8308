"""Bans and tickets: a waiting ticket goes with the ban, none is made while it lasts, and games that run go on."""

from contextlib import suppress

import pytest
from redis import Redis

from accounts.errors import BannedError, QueueBannedError
from accounts.selectors.sanctions import BanKind
from accounts.services.sanctions import ban, lift
from common.clock import now_ms
from common.database import wait
from common.errors import KadoError
from games.puzzle import rules as puzzle
from games.puzzle.models import Run
from games.puzzle.services.begin import play_daily, practise_daily, start_run
from games.territory.models import Engagement, Game
from games.territory.selectors import load_state
from games.territory.services.casual import start_casual
from games.territory.services.play import play_move
from matchmaking.pairing import Proposal
from matchmaking.pools import Pools
from matchmaking.selectors import pool_card, ticket_view
from matchmaking.services.matching import make_match
from matchmaking.services.tickets import join_pool, keep_tickets
from matchmaking.tickets import Ticket
from tests.games.territory.support import a_move
from tests.games.territory.tables import started
from tests.matchmaking.people import BLITZ, NOW, at_once, registered, seed, states

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(("kind", "error"), [("play", BannedError), ("queue", QueueBannedError)])
def test_a_ban_takes_the_waiting_ticket_along_and_lets_none_be_made(
    store: Pools, redis: Redis, kind: BanKind, error: type[KadoError]
) -> None:
    seed()
    (one,) = registered(1)
    join_pool(player_id=one, pool_key=BLITZ, now=NOW)
    assert states(redis, one) == [BLITZ]
    made = ban(player_id=one, kind=kind, reason="why", now=NOW, until=NOW + 1_000)
    assert states(redis, one) == []
    assert ticket_view(player_id=one, now=NOW).state == "none"
    with pytest.raises(error):
        join_pool(player_id=one, pool_key=BLITZ, now=NOW + 999)
    # The wish that its socket keeps is over too.
    assert keep_tickets(wishes={one: BLITZ}, now=NOW + 999) == {one}
    assert states(redis, one) == []
    assert join_pool(player_id=one, pool_key=BLITZ, now=NOW + 1_000).state == "waiting"
    assert made.until == NOW + 1_000


@pytest.mark.parametrize("kind", ["play", "queue"])
def test_a_ticket_that_outlived_its_ban_is_dropped_by_the_match_and_the_other_goes_on_waiting(
    store: Pools, redis: Redis, kind: BanKind
) -> None:
    """As after a ban that Redis did not hear of."""
    seed()
    banned, other = registered(2)
    ban(player_id=banned, kind=kind, reason="why", now=NOW)
    tickets = tuple(
        Ticket(f"{player:012}", player, BLITZ, 1500, 300, NOW) for player in (banned, other)
    )
    for ticket in tickets:
        store.join(ticket, lease_until=NOW + 60_000)
    assert make_match(pool=pool_card(BLITZ), proposal=Proposal(tickets), now=NOW) is None
    assert states(redis, banned) == []
    assert states(redis, other) == [BLITZ]
    assert not Game.objects.exists()
    assert not Engagement.objects.exists()


def test_bans_and_joins_at_once_leave_no_ticket_of_a_banned_player(
    store: Pools, redis: Redis
) -> None:
    seed()
    for player in registered(12):

        def work(number: int, player: int = player) -> None:
            if number:
                ban(player_id=player, kind="queue", reason="why", now=NOW)
            else:
                with suppress(QueueBannedError):
                    join_pool(player_id=player, pool_key=BLITZ, now=NOW)

        at_once(2, work)
        assert states(redis, player) == []
    assert not Game.objects.exists()


def test_a_play_ban_lets_nothing_be_started_and_what_runs_be_finished() -> None:
    (player,) = registered(1)
    now = now_ms()
    today = puzzle.date_at(now)
    easy = puzzle.Rules.of("easy", "8x8", "once")
    start_casual(player_id=player, variant="duo", levels=["", ""], now=now)
    attempt, _ = play_daily(player_id=player, day=today)
    run = start_run(player_id=player, chosen=easy)
    made = ban(player_id=player, kind="play", reason="why", now=now)
    with pytest.raises(BannedError) as caught:
        start_casual(player_id=player, variant="duo", levels=["", ""], now=now)
    assert caught.value.problem()["reason"] == "why"
    with pytest.raises(BannedError):
        start_run(player_id=player, chosen=easy)
    assert Run.objects.get(pk=run).status == Run.Status.RUNNING  # not abandoned for nothing
    assert play_daily(player_id=player, day=today) == (attempt, False)
    with pytest.raises(BannedError):
        practise_daily(player_id=player, day=puzzle.date_at(now - 86_400_000))
    lift(sanction_id=made.pk, reason="a mistake", by=registered(1, "Boss")[0], now=now)
    assert start_casual(player_id=player, variant="duo", levels=["", ""], now=now)


def test_a_ban_does_not_interrupt_a_game() -> None:
    one, two = registered(2)
    game = started([one, two])
    ban(player_id=one, kind="play", reason="why", now=now_ms())
    move = a_move(load_state(game))
    assert wait(play_move(game_id=game, player_id=one, ply=0, move=move)).version == 2
    assert Engagement.objects.get(player_id=one).game_id == game
