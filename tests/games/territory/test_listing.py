"""The games that are being played now, and the one that is featured."""

from typing import Any

import pytest
import redis as redis_py
from django.db import connection
from django.test import Client

from accounts.services.tokens import issue_token
from common import states
from common.clock import now_ms
from games.territory import decide as de
from games.territory import listing, signals, watching
from games.territory.models import Game
from games.territory.rules import TimeControl
from games.territory.watchers import report
from tests.games.territory.tables import commit, registered, started

pytestmark = pytest.mark.django_db(transaction=True)


def play(strengths: list[int], **options: Any) -> list[str]:
    """Games of these strengths, each between two of its own."""
    games = []
    for strength in strengths:
        players = registered(2, f"P{Game.objects.count()}n")
        games.append(started(players, **options))
        Game.objects.filter(pk=games[-1]).update(strength=strength)
    return games


def names(**wish: Any) -> list[str]:
    return [view.game for view in listing.live_games(limit=100, **wish).games]


def test_the_strongest_games_that_are_being_played_come_first() -> None:
    low, high, middle = play([1400, 1900, 1600])
    (classic,) = play([1700], variant="classic-2")
    play([0], control=TimeControl.correspondence(2))
    Game.objects.filter(clock_kind="correspondence").update(strength=None)
    assert names() == [high, classic, middle, low]
    assert names(variant="duo") == [high, middle, low]
    assert names(min_rating=1600) == [high, classic, middle]
    assert names(variant="duo", min_rating=1901) == []
    commit(high, de.Resign(0), now_ms())
    assert names() == [classic, middle, low]


def test_a_game_is_as_strong_as_its_players_are_when_it_begins() -> None:
    players = registered(2)
    started(players)
    started(players, control=TimeControl.none(), matched=False)
    started([players[0]] * 2, matched=False)
    (view,) = listing.live_games(limit=10).games
    assert (view.strength, view.watchers, view.pool) == (1500, 0, "duo-blitz")
    assert [seat.player for seat in view.seats] == ["Player0", "Player1"]


def test_pages_by_http(client: Client, redis: "redis_py.Redis") -> None:
    games = play([1500, 1500, 1500, 1600, 1400])
    report("elsewhere", {games[0]: 12}, now=now_ms())
    secret = issue_token(player_id=registered(1, "Reader")[0], scopes=["play"])[1]

    def get(address: str) -> Any:
        return client.get(address, headers={"Authorization": f"Bearer {secret}"})

    seen, address = [], "/api/v1/games/live?limit=2&variant=duo&min_rating=1400"
    while address:
        page = get(address).json()
        assert len(page["games"]) <= 2
        seen += page["games"]
        address = page["next"]
    assert [each["game"] for each in seen] == [games[3], *sorted(games[:3]), games[4]]
    assert {each["game"]: each["watchers"] for each in seen}[games[0]] == 12
    for wrong in ("cursor=x", "cursor=1500.short", "cursor=1_5.NoSuchGame00"):
        assert get(f"/api/v1/games/live?{wrong}").json()["code"] == "invalid-cursor"
    for wrong in ("variant=chess", "min_rating=-1", "limit=0", "limit=101", "speed=blitz"):
        assert get(f"/api/v1/games/live?{wrong}").json()["code"] == "invalid"
    assert client.get("/api/v1/games/live").json()["code"] == "not-authenticated"


def test_a_page_is_read_from_the_index_alone() -> None:
    """With many games no page, wherever it begins, looks at more rows than it shows (and sorts none)."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO territory_game (id, variant, pool, rated, clock_kind, initial_ms, increment_ms, status,"
            " termination, version, created_at, strength)"
            " SELECT 'Many' || lpad(n::text, 8, '0'), (ARRAY['duo','classic'])[n %% 2 + 1], '', true, 'realtime',"
            " 1, 1, 'started', '', 1, now(), 1000 + n %% 997 FROM generate_series(1, 20000) n",
            [],
        )
        cursor.execute(
            "INSERT INTO territory_event (game_id, version, at, payload)"
            " SELECT id, number, 0, repeat('{}', 200) FROM territory_game, generate_series(1, 3) number"
        )
        cursor.execute("ANALYZE territory_game")
        cursor.execute("ANALYZE territory_event")
        after = " AND g.strength <= 1500 AND (g.strength < 1500 OR g.id > 'Many00000500')"
        for conditions, index in (
            ("", "game_live"),
            (after, "game_live"),
            (" AND g.variant = 'duo'" + after, "game_live_variant"),
        ):
            statement = listing.LIVE.format(conditions=conditions)
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", [21])
            plan = str(cursor.fetchone())
            assert f"'Index Name': '{index}'" in plan
            assert "'Sort" not in plan
            assert "Seq Scan" not in plan


# The featured game


def shown(stream: str = "featured") -> str | None:
    text = states.read([stream])[stream].text
    return None if text == b'{"game":null}' else text.decode().split('"')[5]


def test_a_featured_game_stays_until_it_is_over(redis: "redis_py.Redis") -> None:
    assert shown() is None
    weak, strong = play([1400, 1600])
    assert shown() == strong
    (stronger,) = play([1900])
    report("elsewhere", {weak: 100}, now=now_ms())
    assert shown() == strong
    commit(strong, de.Resign(0), now_ms())
    assert shown() == stronger
    commit(stronger, de.Resign(0), now_ms())
    assert shown() == weak
    commit(weak, de.Resign(0), now_ms())
    assert shown() is None
    (next_one,) = play([1000])
    assert shown() == next_one


def test_only_rated_games_are_featured_each_variant_has_its_own(redis: "redis_py.Redis") -> None:
    (duo,), (classic,) = play([1500]), play([1600], variant="classic-2")
    play([2000], rated=False)
    found = states.read(["featured", "featured:duo", "featured:classic-3"])
    assert [
        classic in found["featured"].text.decode(),
        duo in found["featured:duo"].text.decode(),
    ] == [True, True]
    assert found["featured:classic-3"].text == b'{"game":null}'


def test_the_end_of_a_featured_game_is_told_at_once(
    redis: "redis_py.Redis", monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = play([1600, 1500])
    assert (shown(), shown("featured:duo")) == (first, first)
    listener = redis.pubsub()  # type: ignore[no-untyped-call]
    listener.psubscribe("kado-state:*")
    listener.get_message(timeout=5)
    commit(first, de.Resign(0), now_ms())
    signals.games_finished.send(None, game_ids=[second])
    signals.games_finished.send(None, game_ids=[first])
    heard = {str(listener.get_message(timeout=5)["channel"], "ascii") for _ in range(2)}
    assert heard == {"kado-state:featured", "kado-state:featured:duo"}
    listener.close()


def test_who_chooses_second_takes_what_the_first_has_chosen(redis: "redis_py.Redis") -> None:
    weak, strong = play([1500, 1600])
    redis.set("kado-featured", weak)
    view = watching._follow("featured", before="")
    assert view is not None
    assert view.game == weak
    view = watching._follow("featured", before=weak)
    assert view is not None
    assert view.game == strong
    assert redis.get("kado-featured") == strong.encode()
