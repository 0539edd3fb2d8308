"""A player's games by REST: the list with its filters and pages, statistics, and all records as files."""

import itertools
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from accounts.services.people import cpu_player
from common import database
from common.clock import now_ms
from games.territory import archive, players, profiles, rules
from games.territory.models import Game, PlayerGame
from games.territory.players import Filters
from games.territory.services.play import check_clock, play_move, resign
from games.territory.services.settle import settle
from games.territory.tally import Result
from tests.games.territory.tables import registered, started

pytestmark = pytest.mark.django_db(transaction=True)
GAMES = "/api/v1/players/player0/games"
Json = dict[str, Any]


def _get(address: str, **query: Any) -> Json:
    answer = Client().get(address, query)
    body: Json = answer.json()
    assert answer.status_code == 200, body
    return body


def _ended(players_: list[int], *, loser: int, **options: Any) -> str:
    game = started(players_, **options)
    variant = options.get("variant", "duo")
    first = rules.variant(variant).first_cells[0]
    database.wait(play_move(game_id=game, player_id=players_[0], ply=0, move=first))
    database.wait(resign(game_id=game, player_id=loser))
    settle(game_id=game, now=now_ms())
    return game


@pytest.fixture
def town() -> Json:
    """Games of Player0: with two people and a CPU, rated and not, of three variants, running, aborted, alone."""
    me, ben, cy = registered(3)
    cpu = cpu_player("starter").pk
    unrated: Json = {"rated": False, "matched": False}
    games = {
        "won": _ended([me, ben], loser=ben),
        "lost": _ended([ben, me], loser=me, variant="junior"),
        "cpu": _ended([me, cpu], loser=me, levels=["", "starter"], **unrated),
        "four": started(
            [me, ben, cy, cpu], variant="classic", levels=["", "", "", "starter"], **unrated
        ),
        "alone": _ended([me, me], loser=me, **unrated),
        "running": started([me, cy]),
    }
    games["aborted"] = started([me, ben], matched=False, now=now_ms() - 3_600_000)
    database.wait(check_clock(game_id=games["aborted"]))  # nobody made a first move
    settle(game_id=games["aborted"], now=now_ms())
    games["others"] = started([cy, ben], matched=False)
    return games | {"me": me, "ben": ben, "cy": cy, "cpu_id": cpu}


FILTERS: list[tuple[Json, list[str]]] = [
    ({}, ["running", "alone", "four", "cpu", "lost", "won", "aborted"]),
    ({"variant": "junior"}, ["lost"]),
    ({"rated": "true"}, ["running", "lost", "won", "aborted"]),
    ({"rated": "false"}, ["alone", "four", "cpu"]),
    ({"result": "lost"}, ["cpu", "lost"]),
    ({"status": "finished"}, ["alone", "cpu", "lost", "won"]),
    ({"status": "started"}, ["running", "four"]),
    ({"status": "aborted"}, ["aborted"]),
    ({"opponent": "PLAYER1"}, ["four", "lost", "won", "aborted"]),
    ({"opponent": "CPU-Starter"}, ["four", "cpu"]),
    ({"level": "starter", "status": "finished"}, ["cpu"]),
    ({"opponent": "player1", "result": "won", "variant": "duo", "rated": "true"}, ["won"]),
    ({"until": "2020-01-01T00:00:00Z"}, []),
    ({"since": "2020-01-01T00:00:00Z", "variant": "classic"}, ["four"]),
]


def test_filters(town: Json) -> None:
    for query, names in FILTERS:
        games = [game["game"] for game in _get(GAMES, **query)["games"]]
        assert games == [town[name] for name in names], query


def test_a_line_says_who_played_and_how_it_ended(town: Json) -> None:
    won = _get(GAMES, result="won")["games"][0]
    assert won | {"started_at": "", "finished_at": ""} == {
        "game": town["won"], "variant": "duo", "key": "duo:blitz", "rated": True, "pool": "duo-blitz",
        "status": "finished", "termination": "resigned", "result": "won", "points": 1,
        "started_at": "", "finished_at": "",
        "seats": [
            {"player": {"name": "Player0", "kind": "registered"}, "points": 1, "rank": 1},
            {"player": {"name": "Player1", "kind": "registered"}, "points": 0, "rank": 2},
        ],
    }  # fmt: skip
    running = _get(GAMES, status="started", variant="duo")["games"][0]
    for name in ("termination", "finished_at", "result", "points"):
        assert running[name] is None
    assert _get(GAMES)["games"][1]["result"] == "several"


def test_pages_are_the_whole_list_and_keep_the_filters(town: Json) -> None:
    seen, address = [], f"{GAMES}?limit=2&status=finished"
    while address:
        page = _get(address)
        assert len(page["games"]) <= 2
        seen += [game["game"] for game in page["games"]]
        address = page["next"]
    assert seen == [town[name] for name in ("alone", "cpu", "lost", "won")]


REFUSED: list[tuple[Json, str]] = [
    ({"cursor": "nothing"}, "invalid-cursor"),
    ({"cursor": "x" * 12}, "invalid-cursor"),
    ({"limit": "0"}, "invalid"),
    ({"limit": "101"}, "invalid"),
    ({"variant": "chess"}, "invalid"),
    ({"result": "several"}, "invalid"),
    ({"since": "yesterday"}, "invalid"),
    ({"opponent": "Nobody"}, "unknown-player"),
    ({"odd": "1"}, "invalid"),
    ({"opponent": "\0"}, "invalid"),
    ({"level": "\0"}, "invalid"),
]


def test_what_is_refused(town: Json) -> None:
    for query, code in [*REFUSED, ({"cursor": town["others"]}, "invalid-cursor")]:
        assert Client().get(GAMES, query).json()["code"] == code, query


def test_statistics(town: Json) -> None:
    body = _get("/api/v1/players/PLAYER0/statistics")
    assert body["player"] == {"name": "Player0", "kind": "registered"}
    by_key = {each["key"]: each for each in body["statistics"]}
    assert list(by_key) == ["duo", "duo:blitz", "junior", "junior:blitz"]
    assert by_key["duo"] == {
        "key": "duo", "games": 2, "won": 1, "drawn": 0, "lost": 1, "average_points": 1.0,
        "best_points": 1, "perfect_games": 0, "streak": 0, "longest_streak": 1,
        "levels": [{"level": "starter", "games": 1, "won": 0, "drawn": 0, "lost": 1}],
    }  # fmt: skip
    assert by_key["duo:blitz"]["levels"] == []
    assert _get("/api/v1/players/CPU-Starter/statistics")["statistics"] == []
    assert Client().get("/api/v1/players/Nobody/statistics").json()["code"] == "unknown-player"


# Many


@pytest.fixture
def crowd() -> tuple[int, int]:
    """A player with 20,000 games, and one whom they have met in 200 of them."""
    ada, ben = registered(2)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    kinds = itertools.cycle([Result.WON, Result.LOST, Result.LOST, Result.OPEN])
    games, rows = [], []
    for number in range(20_000):
        moment, result = at + timedelta(minutes=number), next(kinds)
        counted = {"points": 1, "ended_at": moment} if result != Result.OPEN else {}
        variant = "duo" if number % 50 else "junior"
        games.append(
            Game(
                id=f"game{number:08}", variant=variant, rated=number % 100 == 0, clock_kind="none",
                initial_ms=0, increment_ms=0, version=1, created_at=moment,
            )
        )  # fmt: skip
        rows += [
            PlayerGame(
                player_id=player, game_id=games[-1].id, variant=variant, key=f"{variant}:none",
                rated=games[-1].rated, started_at=moment, result=result, **counted,
            )
            for player in ((ada, ben) if number % 100 == 7 else (ada,))
        ]  # fmt: skip
    with transaction.atomic():
        Game.objects.bulk_create(games, batch_size=5_000)
        PlayerGame.objects.bulk_create(rows, batch_size=5_000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE territory_playergame, territory_game")
    return ada, ben


def _plan(filters: Filters, player: int, before: tuple[datetime, str] | None) -> Json:
    rows = players.rows_of(player, filters, before=before)[:51]
    (plan,) = json.loads(rows.explain(format="json", analyze=True))
    root: Json = plan["Plan"]
    return root


def _nodes(plan: Json) -> Iterator[Json]:
    yield plan
    for inner in plan.get("Plans", []):
        yield from _nodes(inner)


def test_a_page_reads_no_more_than_it_needs(crowd: tuple[int, int]) -> None:
    """So that a million games are no slower than these: an index is read from where the page begins."""
    ada, ben = crowd
    middle = datetime(2026, 1, 8, tzinfo=UTC), "game00010080"
    for filters in (
        Filters(), Filters(variant="junior"), Filters(result="won"), Filters(rated=True),
        Filters(status="started"), Filters(status="finished"),
    ):  # fmt: skip
        for before in (None, middle):
            nodes = list(_nodes(_plan(filters, ada, before)))
            assert not {node["Node Type"] for node in nodes} & {
                "Seq Scan",
                "Sort",
                "Bitmap Heap Scan",
            }
            read = max(
                node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in nodes
            )
            assert read <= 110, (filters, nodes)
    assert len(players.games_of(ada, Filters(opponent=ben), before=None, limit=300)) == 200
    assert len(players.games_of(ben, Filters(opponent=ada), before=None, limit=300)) == 200


# All of them


def test_all_records_come_back_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "PIECE", 7)
    me, ben = registered(2)
    variants = ["duo", "junior", "classic-2"]
    ended = [
        _ended([me, ben] if number % 2 else [ben, me], loser=ben, variant=variants[number % 3])
        for number in range(102)
    ]
    running = started([me, ben])
    kept = archive.records([*ended, running])

    lines = "".join(profiles.all_records(me, Filters(), rules.write_line)).splitlines()
    text = "".join(profiles.all_records(me, Filters(), rules.write_sgf))

    assert [rules.read_json(line) for line in lines] == [kept[game] for game in reversed(ended)]
    back = list(rules.read_sgf_collection(text.encode()))
    assert len(back) == 102
    for record, game in zip(back, reversed(ended), strict=True):
        assert record.replay().end == kept[game].replay().end
        assert record.players == kept[game].players
        assert record.nodes[0].properties["GN"] == (game,)
    only = list(profiles.all_records(me, Filters(variant="junior"), rules.write_line))
    assert len("".join(only).splitlines()) == 34
