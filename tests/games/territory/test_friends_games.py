"""The live games of friends: who sees which."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import Friendship, Player
from accounts.services.friends import block
from accounts.services.people import cpu_player, create_player
from accounts.services.tokens import issue_token
from common.clock import to_datetime
from games.territory.models import Game, Seat

pytestmark = pytest.mark.django_db

NOW = 1_800_000_000_000


def game(*players: Player, at: int = NOW, **fields: Any) -> str:
    """A row of a game that is played by these."""
    row = Game.objects.create(
        **{
            "variant": "duo",
            "rated": True,
            "pool": "duo-blitz",
            "clock_kind": "realtime",
            "initial_ms": 120_000,
            "increment_ms": 3_000,
            "version": 1,
            "created_at": to_datetime(at),
            **fields,
        }
    )
    for index, player in enumerate(players):
        Seat.objects.create(game=row, index=index, player=player, level=player.level)
    return row.pk


def friends(one: Player, other: Player) -> None:
    Friendship.objects.create(sender=one, recipient=other, asked_at=NOW, since=NOW)


class Caller:
    def __init__(self, player: Player, scope: str = "friends") -> None:
        _, secret = issue_token(player_id=player.pk, scopes=[scope], label="")
        self.headers = {"Authorization": f"Bearer {secret}"}

    def get(self, address: str = "/api/v1/games/friends") -> Any:
        return Client().get(address, headers=self.headers).json()

    def ids(self, address: str = "/api/v1/games/friends") -> list[str]:
        return [line["game"] for line in self.get(address)["games"]]


def test_a_friends_live_game() -> None:
    ada, bob = create_player(name="Ada"), create_player(name="Bob")
    friends(bob, ada)
    cpu = cpu_player("starter")
    played = game(bob, cpu, rated=False, pool="", clock_kind="none", initial_ms=0, increment_ms=0)
    assert Caller(ada).get() == {
        "games": [
            {
                "game": played,
                "variant": "duo",
                "rated": False,
                "pool": None,
                "time_control": {"kind": "none", "initial_ms": 0, "increment_ms": 0},
                "started_at": "2027-01-15T08:00:00.000Z",
                "players": [
                    {"name": "Bob", "kind": "registered"},
                    {"name": "CPU-Starter", "kind": "bot", "level": "starter"},
                ],
            }
        ],
        "next": None,
    }
    assert Caller(bob).ids() == []  # one's own games are no friend's


def test_what_is_left_out(django_assert_max_num_queries: Any) -> None:
    ada, bob, eve, joe = (create_player(name=name) for name in ("Ada", "Bob", "Eve", "Joe"))
    for friend in (bob, eve):
        friends(ada, friend)
    game(joe, cpu_player("starter"))
    game(bob, eve, status="finished")
    game(bob, eve, status="aborted")
    game(bob, eve, spectators=False)
    with_joe = game(bob, joe, at=NOW + 1)
    both = game(bob, eve, at=NOW + 2)
    one = Caller(ada)
    with django_assert_max_num_queries(9):
        assert one.ids() == [both, with_joe]  # once, though both are friends
    block(player_id=joe.pk, other_id=ada.pk, now=NOW)
    assert one.ids() == [both]
    block(player_id=ada.pk, other_id=eve.pk, now=NOW)
    assert one.ids() == []


def test_pages() -> None:
    ada, bob = create_player(name="Ada"), create_player(name="Bob")
    friends(ada, bob)
    games = sorted((game(bob, bob, at=NOW + number // 2), NOW + number // 2) for number in range(7))
    newest_first = [
        pk for pk, at in sorted(games, key=lambda each: (each[1], each[0]), reverse=True)
    ]
    one, seen, address = Caller(ada), [], "/api/v1/games/friends?limit=3"
    while address:
        page = one.get(address)
        seen += [line["game"] for line in page["games"]]
        Game.objects.filter(pk=seen[-1]).update(status="finished")  # it ends while they read on
        address = page["next"]
    assert seen == newest_first
    assert (
        one.ids("/api/v1/games/friends?cursor=nonsense&limit=1")
        == [pk for pk in newest_first if Game.objects.filter(pk=pk, status="started")][:1]
    )


def test_refusals() -> None:
    ada = create_player(name="Ada")
    assert Client().get("/api/v1/games/friends").json()["code"] == "not-authenticated"
    assert Caller(ada, "play").get()["code"] == "missing-scope"
    for wrong in ("limit=0", "limit=101", "cursor=%00", "page=1"):
        assert Caller(ada).get(f"/api/v1/games/friends?{wrong}")["code"] == "invalid"
