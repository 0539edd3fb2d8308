"""Leaderboards by REST: pages, the lines around somebody, what a client keeps, what is refused."""

from typing import Any

import jsonschema
import pytest
from drf_spectacular.generators import SchemaGenerator

from accounts import selectors
from accounts.models import Player, RatingRow
from accounts.services.people import create_guest, create_player
from accounts.services.scores import freeze_board, submit_score
from tests.accounts.http import Http, as_player, refused

pytestmark = pytest.mark.django_db

DAY = "daily:2026-11-30"
ADDRESS = f"leaderboards/{DAY}"


def _scores(count: int) -> list[Player]:
    """Players of whom each two, from the best on, are equal."""
    players = [create_player(name=f"Player{number}") for number in range(count)]
    for number, player in enumerate(players):
        submit_score(
            board=DAY,
            player_id=player.pk,
            score=1000 - number // 2,
            placements=40,
            finished_at=1_796_000_000_123,
            source="run",
        )
    return players


def _ranks(body: Any) -> list[tuple[int, str]]:
    return [(entry["rank"], entry["player"]["name"]) for entry in body["entries"]]


def test_a_board_of_scores_is_walked_by_its_next_addresses() -> None:
    _scores(7)
    http, found, address = Http(), [], f"{ADDRESS}?limit=3"
    while address:
        status, body = http.get(address)
        assert (status, body["key"], body["total"], body["frozen_at"]) == (200, DAY, 7, None)
        found += body["entries"]
        address = body["next"]
    assert [entry["rank"] for entry in found] == [1, 1, 3, 3, 5, 5, 7]
    assert found[0] == {
        "rank": 1,
        "player": {"name": "Player0", "kind": "registered"},
        "score": 1000,
        "placements": 40,
        "finished_at": "2026-11-30T00:53:20.123Z",
    }


def test_the_lines_around_somebody_and_around_me() -> None:
    players = _scores(7)
    status, body = Http().get(f"{ADDRESS}/around/player3?limit=3")
    assert (status, _ranks(body)) == (200, [(3, "Player2"), (3, "Player3"), (5, "Player4")])
    assert as_player(players[3]).get(f"{ADDRESS}/around/me?limit=3")[1] == body
    rest = Http().get(body["next"])[1]
    assert _ranks(rest) == [(5, "Player5"), (7, "Player6")]
    assert rest["next"] is None
    mine = as_player(players[6]).get(f"{ADDRESS}/around/me?limit=1")[1]
    assert (_ranks(mine), mine["next"], mine["total"]) == ([(7, "Player6")], None, 7)
    whole = Http().get(f"{ADDRESS}/around/Player0")[1]
    assert len(whole["entries"]) == 7


def test_ratings_have_lines_around_somebody_too() -> None:
    for number in range(5):
        player = create_player(name=f"Player{number}")
        RatingRow.objects.create(
            player=player, key="duo:blitz", mu=1800 - number, sigma=90, games=9
        )
    body = Http().get("leaderboards/duo:blitz/around/Player2?limit=3")[1]
    assert _ranks(body) == [(2, "Player1"), (3, "Player2"), (4, "Player3")]
    assert body["entries"][1]["rating"] == "1798"
    assert (body["total"], body["frozen_at"]) == (5, None)


def test_a_frozen_board_says_since_when() -> None:
    _scores(1)
    freeze_board(board=DAY, at=1_796_083_200_000)
    assert Http().get(ADDRESS)[1]["frozen_at"] == "2026-12-01T00:00:00.000Z"


@pytest.mark.parametrize("path", [ADDRESS, f"{ADDRESS}/around/Player1"])
def test_what_has_not_changed_is_not_sent_again(path: str) -> None:
    players = _scores(3)
    http = Http()
    status, body = http.get(path)
    tag = http.last.headers["ETag"]
    assert (status, http.last.headers["Cache-Control"]) == (200, "no-cache")
    assert http.send("GET", path, If_None_Match=tag) == (304, None)
    assert http.last.headers["ETag"] == tag
    Player.objects.filter(pk=players[0].pk).update(is_active=False)
    status, again = http.send("GET", path, If_None_Match=tag)
    assert status == 200
    assert http.last.headers["ETag"] != tag
    assert _ranks(again) == [(1, "Player1"), (2, "Player2")] != _ranks(body)


@pytest.mark.parametrize(
    ("path", "refusal"),
    [
        ("leaderboards/daily:2026-02-30", (404, "unknown-leaderboard")),
        ("leaderboards/daily:2026-02-30/around/Ada", (404, "unknown-leaderboard")),
        ("leaderboards/puzzle:", (404, "unknown-leaderboard")),
        ("leaderboards/puzzle:A%00", (404, "unknown-leaderboard")),
        (f"leaderboards/puzzle:{'x' * 5000}", (404, "unknown-leaderboard")),
        (f"{ADDRESS}?cursor=zzz", (400, "invalid-cursor")),
        (f"{ADDRESS}?cursor=bnVsbA", (400, "invalid-cursor")),
        (f"{ADDRESS}?limit=101", (400, "invalid")),
        (f"{ADDRESS}/around/Ada?limit=0", (400, "invalid")),
        (f"{ADDRESS}/around/Ada?limit=101", (400, "invalid")),
        (f"{ADDRESS}/around/Ada?cursor=x", (400, "invalid")),
        (f"{ADDRESS}/around/Ada", (404, "not-on-leaderboard")),
        (f"{ADDRESS}/around/Nobody", (404, "unknown-player")),
        (f"{ADDRESS}/around/%00", (404, "unknown-player")),
        (f"{ADDRESS}/around/me", (401, "not-authenticated")),
        ("leaderboards/duo:blitz/around/Ada", (404, "not-on-leaderboard")),
    ],
)
def test_malformed_questions(path: str, refusal: tuple[int, str]) -> None:
    create_player(name="Ada")
    assert refused(Http().get(path)) == refusal


def test_a_cursor_of_another_board_is_refused_and_one_of_a_banned_player_goes_on() -> None:
    players = _scores(5)
    address = Http().get(f"{ADDRESS}?limit=2")[1]["next"]
    other = address.replace("2026-11-30", "2026-11-29")
    assert refused(Http().get(other)) == (400, "invalid-cursor")
    Player.objects.filter(pk=players[1].pk).update(is_active=False)
    assert _ranks(Http().get(address)[1])[0] == (2, "Player2")
    players[1].delete()
    assert refused(Http().get(address)) == (400, "invalid-cursor")


def test_a_guest_asks_for_the_lines_around_me_and_is_on_none() -> None:
    _, secret = create_guest()
    assert refused(Http(secret).get(f"{ADDRESS}/around/me")) == (404, "not-on-leaderboard")


def test_the_answers_are_as_the_schema_says() -> None:
    generator: Any = SchemaGenerator
    schema = generator().get_schema(request=None, public=True)
    _scores(2)
    RatingRow.objects.create(
        player=create_player(name="Ada"), key="duo:blitz", mu=1800, sigma=90, games=9
    )
    for path, promised in [
        (ADDRESS, "/api/v1/leaderboards/{key}"),
        (f"{ADDRESS}?limit=1", "/api/v1/leaderboards/{key}"),
        ("leaderboards/daily:2026-11-29", "/api/v1/leaderboards/{key}"),
        ("leaderboards/duo:blitz", "/api/v1/leaderboards/{key}"),
        (f"{ADDRESS}/around/Player0", "/api/v1/leaderboards/{key}/around/{name}"),
        ("leaderboards/duo:blitz/around/Ada", "/api/v1/leaderboards/{key}/around/{name}"),
    ]:
        status, body = Http().get(path)
        assert status == 200
        answer = schema["paths"][promised]["get"]["responses"]["200"]
        form = answer["content"]["application/json"]["schema"]
        whole = {**form, "components": schema["components"]}
        jsonschema.validate(body, whole, cls=jsonschema.Draft202012Validator)


def test_a_page_of_scores_and_the_lines_around_cost_few_queries(
    django_assert_max_num_queries: Any,
) -> None:
    _scores(30)
    with django_assert_max_num_queries(1):
        body = Http().get(f"{ADDRESS}?limit=10")[1]
    with django_assert_max_num_queries(2):
        Http().get(body["next"])
    with django_assert_max_num_queries(2):
        Http().get(f"{ADDRESS}/around/Player20")


def test_the_score_of_somebody_renamed_is_under_the_new_name() -> None:
    players = _scores(2)
    Player.objects.filter(pk=players[0].pk).update(name="Renamed")
    assert [e.player.name for e in selectors.leaderboard_page(DAY).entries] == [
        "Renamed",
        "Player1",
    ]
