"""Seasons by REST: lists with cursors, final tables by page, around a player, with ETags; titles in profiles."""

from typing import Any

import jsonschema
import pytest
from django.test import Client

from accounts.models import Player, SeasonLine
from accounts.services.people import create_player
from accounts.services.seasons import close_season
from common.clock import now_ms
from tests.accounts.ledgers import KEY, players
from tests.accounts.test_seasons import DUE, END, START, play, season

pytestmark = pytest.mark.django_db


def _get(address: str, **headers: str) -> Any:
    path = address if address.startswith("/") else f"/api/v1/{address}"
    return Client().get(path, headers=headers)


def _closed(count: int = 6) -> tuple[Any, list[int]]:
    people = players(count)
    play(people, rounds=8 if count > 3 else 12)
    held = season()
    close_season(season_id=held.pk, now=DUE)
    return held, people


def test_seasons_are_listed_those_that_begin_last_first() -> None:
    made = [season(name=f"S{n}", starts_at=START + n // 2, ends_at=END + n) for n in range(5)]
    address, seen = "seasons?limit=2", []
    while address:
        body = _get(address).json()
        seen += [each["id"] for each in body["seasons"]]
        address = body["next"]
    expected = sorted(made, key=lambda each: (each.starts_at, each.pk), reverse=True)
    assert seen == [each.pk for each in expected]
    for cursor in ("x", "1-2", f"{START}-", "-", "9" * 40 + "-" + made[0].pk):
        answer = _get(f"seasons?cursor={cursor}")
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid-cursor"), cursor


def test_a_season_says_when_it_is_who_counts_and_what_it_gives() -> None:
    held = season()
    body = _get(f"seasons/{held.pk}").json()
    assert body == {
        "id": held.pk,
        "name": "Winter",
        "state": "upcoming",
        "starts_at": "2027-01-01T00:00:00.000Z",
        "ends_at": "2027-04-01T00:00:00.000Z",
        "closed_at": None,
        "keys": [KEY],
        "min_games": 2,
        "titles": [
            {"title": "Champion", "rank": 1},
            {"title": "Top 10", "rank": 10},
            {"title": "Top 1 %", "percent": 1},
        ],
        "tables": [],
    }
    now = now_ms()
    running = season(name="Now", starts_at=now - 1000, ends_at=now + 600_000)
    over = season(name="Just over", starts_at=now - 1000, ends_at=now - 1)
    assert _get(f"seasons/{running.pk}").json()["state"] == "running"
    assert _get(f"seasons/{over.pk}").json()["state"] == "over"
    close_season(season_id=held.pk, now=DUE)
    body = _get(f"seasons/{held.pk}").json()
    assert (body["state"], body["closed_at"]) == ("closed", "2027-04-01T00:01:00.000Z")
    assert body["tables"] == [
        {"key": KEY, "lines": 0, "frozen_at": "2027-04-01T00:01:00.000Z", "late_changes": 0}
    ]
    assert _get(f"seasons/{held.pk}/tables/{KEY}").json()["entries"] == []


def test_pages_and_the_lines_around_everybody_are_the_table() -> None:
    held, people = _closed()
    lines = list(SeasonLine.objects.order_by("line"))
    expected = [(line.rank, line.name) for line in lines]
    base = f"seasons/{held.pk}/tables/{KEY}"
    for limit in range(1, 8):
        address, seen = f"{base}?limit={limit}", []
        while address:
            body = _get(address).json()
            seen += [(each["rank"], each["name"]) for each in body["entries"]]
            address = body["next"]
        assert seen == expected
        for place, line in enumerate(lines):
            body = _get(f"{base}/around/{line.name.lower()}?limit={limit}").json()
            first = max(min(place - limit // 2, len(lines) - limit), 0)
            shown = [(each["rank"], each["name"]) for each in body["entries"]]
            assert shown == expected[first : first + limit]
    body = _get(f"{base}?limit=1").json()
    assert (body["lines"], body["season"], body["key"]) == (6, held.pk, KEY)
    (entry,) = body["entries"]
    first_line = lines[0]
    assert entry == {
        "rank": 1,
        "name": first_line.name,
        "player": {"name": first_line.name, "kind": "registered"},
        "rating": entry["rating"],
        "mu": first_line.mu,
        "sigma": first_line.sigma,
        "games": 40,
        "title": "Champion",
    }
    assert len(people) == 6


def test_an_unchanged_answer_is_not_sent_twice() -> None:
    held, _ = _closed(3)
    for address in (
        "seasons",
        f"seasons/{held.pk}",
        f"seasons/{held.pk}/tables/{KEY}",
        f"seasons/{held.pk}/tables/{KEY}/around/Player1",
    ):
        first = _get(address)
        assert first["Cache-Control"] == "no-cache"
        again = _get(address, if_none_match=first["ETag"])
        assert (again.status_code, again.content) == (304, b"")


def test_who_has_another_name_or_is_gone_stays_in_the_table() -> None:
    held, people = _closed(3)
    line = SeasonLine.objects.get(player=people[1])
    Player.objects.filter(pk=people[1]).update(name="Renamed")
    body = _get(f"seasons/{held.pk}/tables/{KEY}/around/renamed?limit=1").json()
    assert body["entries"][0]["name"] == line.name
    assert body["entries"][0]["player"]["name"] == "Renamed"
    SeasonLine.objects.filter(player=people[1]).update(player=None)
    body = _get(f"seasons/{held.pk}/tables/{KEY}").json()
    assert [each["player"] is None for each in body["entries"]].count(True) == 1


def test_titles_are_in_profiles_for_as_long_as_the_name_changes() -> None:
    held, _ = _closed(3)
    best = SeasonLine.objects.get(line=1)
    assert best.player_id is not None
    Player.objects.filter(pk=best.player_id).update(name="Renamed")
    assert _get("players/Renamed").json()["titles"] == [
        {
            "title": "Champion",
            "season": held.pk,
            "season_name": "Winter",
            "key": KEY,
            "rank": 1,
        }
    ]
    create_player(name="Nobody")
    assert _get("players/Nobody").json()["titles"] == []


@pytest.mark.parametrize(
    ("address", "status", "code"),
    [
        ("seasons/nothing", 404, "unknown-season"),
        ("seasons/nothing1nope/tables/duo:blitz", 404, "unknown-season"),
        ("seasons/{open}/tables/duo:blitz", 409, "season-not-over"),
        ("seasons/{closed}/tables/duo:rapid", 404, "unknown-leaderboard"),
        ("seasons/{closed}/tables/%00", 404, "unknown-leaderboard"),
        ("seasons/{closed}/tables/duo:blitz?cursor=-1", 400, "invalid-cursor"),
        ("seasons/{closed}/tables/duo:blitz?cursor=99999999999999999", 400, "invalid-cursor"),
        ("seasons/{closed}/tables/duo:blitz?limit=0", 400, "invalid"),
        ("seasons/{closed}/tables/duo:blitz?before=3", 400, "invalid"),
        ("seasons/{closed}/tables/duo:blitz/around/Boss", 404, "not-on-leaderboard"),
        ("seasons/{closed}/tables/duo:blitz/around/Nobody", 404, "unknown-player"),
        ("seasons/{closed}/tables/duo:blitz/around/me", 401, "not-authenticated"),
    ],
)
def test_what_is_refused(address: str, status: int, code: str) -> None:
    create_player(name="Boss")
    closed = season()
    close_season(season_id=closed.pk, now=DUE)
    waiting = season(name="Open")
    answer = _get(address.format(open=waiting.pk, closed=closed.pk))
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_page_costs_the_same_few_queries_whatever_its_length(
    django_assert_num_queries: Any,
) -> None:
    held, _ = _closed(6)
    for limit in (1, 6):
        with django_assert_num_queries(3):
            _get(f"seasons/{held.pk}/tables/{KEY}?limit={limit}")


def test_the_answers_are_as_the_schema_says() -> None:
    held, _ = _closed(3)
    schema = _get("schema?format=json").json()
    table = f"seasons/{held.pk}/tables/{KEY}"
    for address, path in [
        ("seasons", "/api/v1/seasons"),
        (f"seasons/{held.pk}", "/api/v1/seasons/{season_id}"),
        (table, "/api/v1/seasons/{season_id}/tables/{key}"),
        (f"{table}/around/Player1", "/api/v1/seasons/{season_id}/tables/{key}/around/{name}"),
        ("players/Player1", "/api/v1/players/{name}"),
        (
            f"players/Player1/ratings/{KEY}/history",
            "/api/v1/players/{name}/ratings/{key}/history",
        ),
    ]:
        answers = schema["paths"][path]["get"]["responses"]
        promised = answers["200"]["content"]["application/json"]["schema"]
        whole = {**promised, "components": schema["components"]}
        jsonschema.validate(_get(address).json(), whole, cls=jsonschema.Draft202012Validator)
