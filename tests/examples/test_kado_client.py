"""The example client, as its readers will use it, against a real server that is killed in between."""

import asyncio
import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from examples.kado_client import Client, Refused, fold, request
from tests.games.territory.support import after_moves, begin, next_move, view
from tests.support.cluster import Cluster
from tests.support.town import Town


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    with Cluster() as cluster:
        own = Town(cluster, cluster.web())
        yield own
        assert own.complaints() == []


def test_fold_leaves_the_old_snapshot_alone() -> None:
    from games.territory import events as ev
    from games.territory.decide import decide

    state = after_moves(begin("classic"), 3)
    old = view(state)
    before = copy.deepcopy(old)
    decision = decide(state, next_move(state), 1_800_000_004_000)
    new = fold(old, state.version + 1, json.loads(ev.encode(decision.events[0])))
    assert old == before
    assert new != old
    assert new == view(decision.state)


def test_the_example_needs_nothing_of_the_server() -> None:
    import ast
    from pathlib import Path

    import examples.kado_client as module

    tree = ast.parse(Path(str(module.__file__)).read_text())
    roots = {
        (node.module or "").split(".")[0]
        if isinstance(node, ast.ImportFrom)
        else alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert not roots & {
        "accounts",
        "bots",
        "common",
        "config",
        "games",
        "matchmaking",
        "web",
        "django",
    }


@pytest.mark.slow
def test_a_game_with_the_server_killed_in_between(town: Town) -> None:
    """Every version once and in order over three connections; a move without an answer is said again."""
    person = town.guest()
    game_id = person.game()

    async def play() -> tuple[list[int], dict[str, Any], int]:
        async with Client(town.web.url, person.token) as client:
            assert client.name == person.name
            game = await client.follow(game_id)
            await game.until(lambda snapshot: snapshot["version"] == 1)
            for ply in range(9):
                moves = await client.legal_moves(game_id)
                if ply % 4 == 2:
                    town.web.kill9()
                    said = asyncio.create_task(client.move(game_id, ply, moves[0]["move"]))
                    await asyncio.sleep(0.2)
                    town.web.restart()  # in this thread: a process ends with the thread that started it
                    assert await said == {"version": ply + 2}
                else:
                    assert await client.move(game_id, ply, moves[0]["move"]) == {"version": ply + 2}
                await game.until(lambda snapshot, ply=ply: len(snapshot["moves"]) == ply + 1)
            return [version for version, _ in game.events], game.snapshot, client.connections

    versions, snapshot, connections = asyncio.run(play())
    assert versions == list(range(2, 11))
    assert snapshot == person.http("GET", f"/api/v1/games/{game_id}").json
    assert connections == 3


@pytest.mark.slow
def test_an_undo_that_got_no_answer_is_said_again(town: Town) -> None:
    """The server is killed before or after the commit: moves are taken back once, and the client has the board."""
    person = town.guest()
    game_id = person.game()

    async def play() -> dict[str, Any]:
        async with Client(town.web.url, person.token) as client:
            game = await client.follow(game_id)
            for ply in range(6):
                moves = await client.legal_moves(game_id)
                await client.move(game_id, ply, moves[0]["move"])
            for ply in (6, 5, 4):
                said = asyncio.create_task(client.undo(game_id, ply))
                await asyncio.sleep(0.01 * (6 - ply))
                town.web.kill9()
                town.web.restart()
                assert await said == {"version": 14 - ply}
            await game.until(lambda snapshot: snapshot["version"] == 10)
            return game.snapshot

    snapshot = asyncio.run(play())
    assert len(snapshot["moves"]) == 3
    assert snapshot == person.http("GET", f"/api/v1/games/{game_id}").json


@pytest.mark.slow
def test_a_hint_is_asked_for(town: Town) -> None:
    person = town.guest()
    game_id, hot_seat = person.game(level="starter"), person.game()

    async def play() -> None:
        async with Client(town.web.url, person.token) as client:
            asked = await client.hint(game_id, 0)
            assert (asked["colour"], asked["move"], asked["hints_left"]) == ("blue", None, 3)
            with pytest.raises(Refused, match="hint-not-allowed"):
                await client.hint(hot_seat, 0)

    asyncio.run(play())


@pytest.mark.slow
def test_a_refusal_has_its_code(town: Town) -> None:
    person = town.guest()
    game_id = person.game()

    async def play() -> None:
        async with Client(town.web.url, person.token) as client:
            with pytest.raises(Refused) as refused:
                await client.move(game_id, 1, "e10")
            assert refused.value.code == "stale-ply"
            assert refused.value.problem["version"] == 1
            with pytest.raises(Refused, match="unknown-game"):
                await client.follow("NoSuchGame00")

    asyncio.run(play())
    with pytest.raises(Refused, match="not-found"):
        request(town.web.url, "/api/v1/nothing", token=person.token)


def test_a_token_that_is_not_valid_is_said_at_once(town: Town) -> None:
    async def connect() -> None:
        async with Client(town.web.url, "kado_" + "x" * 40):
            pass

    with pytest.raises(Refused) as refused:
        asyncio.run(asyncio.wait_for(connect(), 10))
    assert refused.value.code == "invalid-token"


def test_friends_see_each_other_and_devices_what_was_read(town: Town) -> None:
    ada, ben = town.member("Ada"), town.member("Ben")

    async def act() -> None:
        async with Client(town.web.url, ada.token) as one, Client(town.web.url, ada.token) as two:
            shown, marks = await one.watch("friends"), await two.watch("inbox-read")
            await asyncio.to_thread(ben.http, "PUT", "/api/v1/friend-requests/Ada")
            assert (await one.inbox("friend_requested"))["player"] == "Ben"
            assert (await shown.until(lambda state: state["requests"]))["friends"] == 0
            assert await one.read_inbox() == {"version": 1, "read": 1, "unread": 0}
            await marks.until(lambda state: state["read"] == 1)
            await asyncio.to_thread(ada.http, "PUT", "/api/v1/friends/Ben")
            async with Client(town.web.url, ben.token) as friend:
                await shown.until(lambda state: state["online"])
                assert shown.state["online"] == [{"name": "Ben", "kind": "registered"}]
                assert friend.name == "Ben"

    asyncio.run(act())
