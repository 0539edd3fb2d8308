"""One move said by many at once, and moves that must change nothing: by socket and by REST, through two processes."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from examples.kado_client import Client, Json, Refused
from tests.chaos.crowd import Board, Crowd, Player, make_players, report, rest, started
from tests.support.cluster import Cluster

pytestmark = pytest.mark.slow
SOCKETS = 9
"""Sockets of the mover on each of the two processes; with one REST call to each, twenty say the move."""


@dataclass(frozen=True, slots=True)
class Place:
    """Two web processes for all tests of this file, each of which has a pair of players of its own."""

    cluster: Cluster
    urls: list[str]
    tokens: dict[str, str]

    def pair(self, number: int) -> Crowd:
        names = [f"Ada{number}", f"Ben{number}"]
        return Crowd(self.cluster, {name: self.tokens[name] for name in names}, self.urls)


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with Cluster() as cluster:
        webs = [cluster.web(wait=False), cluster.web(wait=False)]
        names = [f"{name}{number}" for number in (1, 2, 3) for name in ("Ada", "Ben")]
        tokens = make_players(cluster, [(name, None) for name in [*names, "Cyd"]])
        started(*webs)
        yield Place(cluster, [web.url for web in webs], tokens)


class Table:
    """A game of Ada and Ben with one move made, and what it looks like from outside."""

    def __init__(self, place: Place, met: list[tuple[Player, Json]]) -> None:
        self.cluster, self.urls = place.cluster, place.urls
        by_seat = sorted(met, key=lambda each: int(each[1]["seat"]))
        self.other, self.mover = (
            player for player, _ in by_seat
        )  # after one move the second moves
        self.id: str = by_seat[0][1]["game"]

    async def begin(self) -> list[str]:
        """Follow the game, make the first move; the legal answers to it."""
        game = await self.other.follow(self.id)
        receipt = await self.other.move(self.id, 0, Board(game).legal()[0])
        await game.until(lambda s: s["version"] == receipt["version"])
        return Board(game).legal()

    def events(self) -> list[tuple[Any, ...]]:
        statement = (
            "SELECT version, payload FROM territory_event WHERE game_id = %s ORDER BY version"
        )
        return self.cluster.query(statement, self.id)

    def version(self) -> int:
        ((version,),) = self.cluster.query(
            "SELECT version FROM territory_game WHERE id = %s", self.id
        )
        return int(version)

    async def by_rest(self, url: str, player: Client, **body: Any) -> Json:
        path = f"/api/v1/games/{self.id}/moves"
        answer: Json = await rest(url, path, player.token, "POST", body)
        return answer


def test_the_same_move_twenty_times_at_once(place: Place) -> None:
    asyncio.run(_twenty_times(place))


async def _twenty_times(place: Place) -> None:
    async with place.pair(1) as crowd, AsyncExitStack() as stack:
        table = Table(place, await crowd.meet())
        answers_to = await table.begin()
        sockets = [Client(url, table.mover.token) for url in place.urls for _ in range(SOCKETS)]
        await asyncio.gather(*map(stack.enter_async_context, sockets))
        before = table.events()
        said = {"ply": 1, "move": answers_to[0]}
        answers = await asyncio.gather(
            *(socket.command("move", game=table.id, **said) for socket in sockets),
            *(table.by_rest(url, table.mover, **said) for url in place.urls),
        )
        report(f"{len(answers)} answers, different ones: {len({str(a) for a in answers})}")
        assert answers == [{"version": 3}] * 20
        assert len(table.events()) == len(before) + 1 == table.version()
        # Said in other words, and later, it is still the same move.
        shuffled = ", ".join(reversed(answers_to[0].upper().split(",")))
        assert await table.by_rest(place.urls[0], table.mover, ply=1, move=shuffled) == {
            "version": 3
        }


def test_both_players_and_two_different_moves_at_once(place: Place) -> None:
    asyncio.run(_at_once(place))


async def _at_once(place: Place) -> None:
    async with place.pair(2) as crowd:
        table = Table(place, await crowd.meet())
        legal = await table.begin()
        answers = await asyncio.gather(
            table.by_rest(place.urls[0], table.mover, ply=1, move=legal[0]),
            table.by_rest(place.urls[1], table.mover, ply=1, move=legal[1]),
            table.by_rest(place.urls[0], table.other, ply=1, move=legal[2]),
            table.other.move(table.id, 1, legal[3]),
            return_exceptions=True,
        )
        codes = [a.code if isinstance(a, Refused) else a for a in answers]
        report(f"two moves of the mover's and two of the other's at once: {codes}")
        accepted: Any = {"version": 3}
        assert sorted(codes[:2], key=str) == ["stale-ply", accepted]
        assert set(codes[2:]) <= {"not-your-turn", "stale-ply"}
        assert len(table.events()) == table.version() == 3


REFUSED = {
    "a ply that has been played": ("mover", {"ply": 0, "move": "{legal}"}, "stale-ply"),
    "a ply to come": ("mover", {"ply": 2, "move": "{legal}"}, "stale-ply"),
    "out of turn": ("other", {"ply": 1, "move": "{legal}"}, "not-your-turn"),
    "a stranger's": ("stranger", {"ply": 1, "move": "{legal}"}, "not-seated"),
    "not from the first cell": ("mover", {"ply": 1, "move": "a1"}, "illegal-move"),
    "on the other's squares": ("mover", {"ply": 1, "move": "{taken}"}, "illegal-move"),
    "no piece": ("mover", {"ply": 1, "move": "a1,c1"}, "illegal-move"),
    "no cells": ("mover", {"ply": 1, "move": "hello"}, "malformed-move"),
    "outside": ("mover", {"ply": 1, "move": "z99"}, "illegal-move"),
}


def test_moves_that_change_nothing_get_their_codes(place: Place) -> None:
    asyncio.run(_refused(place))


async def _refused(place: Place) -> None:
    async with place.pair(3) as crowd, Client(place.urls[1], place.tokens["Cyd"]) as stranger:
        table = Table(place, await crowd.meet())
        words = {
            "legal": (await table.begin())[0],
            "taken": table.other.log.frames(f"game:{table.id}")[-1].body["move"],
        }
        who: dict[str, Client] = {"mover": table.mover, "other": table.other, "stranger": stranger}
        before = table.events()
        for name, (sender, body, code) in REFUSED.items():
            said = {"ply": body["ply"], "move": str(body["move"]).format(**words)}
            for problem in await _both_ways(table, who[sender], said):
                assert problem["code"] == code, name
                if code not in {"not-seated", "malformed-move"}:
                    assert problem["version"] == 2, name
        await _malformed(table, stranger)
        assert table.events() == before
        assert table.version() == 2
        report(f"{2 * len(REFUSED)} refused moves changed nothing")
        legal = {"ply": 1, "move": words["legal"]}
        assert await table.by_rest(place.urls[0], table.mover, **legal) == {"version": 3}


async def _both_ways(table: Table, sender: Client, said: dict[str, Any]) -> list[Json]:
    """The problem documents that a move gets by socket and by REST."""
    with pytest.raises(Refused) as by_socket:
        await sender.command("move", game=table.id, **said)
    with pytest.raises(Refused) as by_rest:
        await table.by_rest(table.urls[0], sender, **said)
    return [by_socket.value.problem, by_rest.value.problem]


async def _malformed(table: Table, stranger: Client) -> None:
    """Input that is no command, or no move at all: an answer, and the socket stays."""
    for body in (
        {"ply": "x", "move": "a1"},
        {"ply": -1, "move": "a1"},
        {"ply": 1},
        {"ply": 1, "move": None},
    ):
        with pytest.raises(Refused) as refused:
            await table.by_rest(table.urls[0], table.mover, **body)
        assert refused.value.code == "invalid", body
        with pytest.raises(Refused) as refused:
            await table.mover.command("move", game=table.id, **body)
        assert refused.value.code == "bad-frame", body
    for game in ("NoSuchGame00", "../../x"):
        with pytest.raises(Refused) as refused:
            await stranger.command("move", game=game, ply=0, move="e10")
        assert refused.value.code == "unknown-game"
    assert (table.mover.connections, stranger.connections) == (1, 1)
