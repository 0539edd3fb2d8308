"""What spectators see: nothing that is too young, always a whole game at a version, and no delay after the end."""

import json
from typing import Any

import pytest
from django.test import Client

from accounts.services.tokens import issue_token
from common import streams
from common.clock import now_ms
from games.territory import decide as de
from games.territory import selectors, viewing
from games.territory.errors import NotFinishedError, UnknownGameError
from tests.games.territory.support import assert_stream_tells_all, view
from tests.games.territory.tables import commit, commit_moves, registered, started

pytestmark = pytest.mark.django_db(transaction=True)
DELAY = 30_000


@pytest.fixture(autouse=True)
def delay(settings: Any) -> None:
    settings.SPECTATOR_DELAY_MS = DELAY


def versions(game: str, player: int | None) -> list[int]:
    return [note.version for note in viewing.notes_after(viewing.view_of(game, player), 0)]


def test_players_see_at_once_and_spectators_what_is_old_enough() -> None:
    *players, stranger = registered(3)
    now = now_ms()
    game = started(players, now=now - DELAY - 40_000)
    commit_moves(game, 3, now=now - DELAY - 20_000)
    commit_moves(game, 2, now=now - DELAY + 20_000)
    for player in players:
        seen = viewing.view_of(game, player)
        assert (seen.is_seated, seen.is_late) == (True, False)
        assert versions(game, player) == [1, 2, 3, 4, 5, 6]
    for spectator in (stranger, None):
        seen = viewing.view_of(game, spectator)
        assert (seen.is_seated, seen.is_late) == (False, True)
        assert versions(game, spectator) == [1, 2, 3, 4]
        late = viewing.state(seen)
        assert_stream_tells_all(viewing.notes_after(seen, 0), view(late))
        with pytest.raises(NotFinishedError) as refused:
            viewing.ended(seen)
        assert refused.value.data == {"version": 4}
    stream = viewing.late_stream(game)
    assert streams.version_of(stream) == 4
    assert [note.version for note in streams.events_after(stream, 2)] == [3, 4]
    assert streams.events_after(stream, 4) == []
    assert streams.events_after(stream, 10**30) == []
    assert json.loads(streams.events_after(stream, 3)[0].frame())["stream"] == f"game:{game}"


def test_a_game_that_has_just_begun_can_be_seen_from_its_first_event() -> None:
    *players, stranger = registered(3)
    game = started(players)
    commit_moves(game, 2, now=now_ms())
    assert versions(game, stranger) == [1]


def test_the_end_is_seen_at_once() -> None:
    *players, stranger = registered(3)
    game = started(players)
    commit_moves(game, 2, now=now_ms())
    commit(game, de.Resign(0), now_ms())
    assert versions(game, stranger) == versions(game, players[0]) == [1, 2, 3, 4, 5]
    assert streams.version_of(viewing.late_stream(game)) == 5
    assert viewing.ended(viewing.view_of(game, stranger)).version == 5


def test_only_rated_games_are_late(settings: Any) -> None:
    *players, stranger = registered(3)
    casual, rated = started(players, rated=False, matched=False), started(players, matched=False)
    for game in (casual, rated):
        commit_moves(game, 2, now=now_ms())
    assert versions(casual, stranger) == [1, 2, 3]
    assert versions(rated, stranger) == [1]
    settings.SPECTATOR_DELAY_MS = 0
    assert versions(rated, stranger) == [1, 2, 3]


def test_games_that_there_are_not() -> None:
    for strange in ("NoSuchGame00", "", "a\x00b", "☃"):
        with pytest.raises(UnknownGameError):
            viewing.view_of(strange, None)
        assert streams.version_of(viewing.late_stream(strange)) == 0
        assert streams.events_after(viewing.late_stream(strange), 0) == []


def test_everything_that_is_read_by_http_is_as_late(client: Client) -> None:
    *players, stranger = registered(3)
    game = started(players)
    commit_moves(game, 4, now=now_ms())

    def read(player: int, rest: str = "") -> Any:
        headers = {"Authorization": f"Bearer {secret_of(player)}"}
        return client.get(f"/api/v1/games/{game}{rest}", headers=headers)

    for player, version in ((players[0], 5), (players[1], 5), (stranger, 1)):
        assert read(player).json()["version"] == version
        events = read(player, "/events").json()["events"]
        assert [event["version"] for event in events] == list(range(1, version + 1))
        assert read(player, "/events?after=1").json()["events"] == events[1:]
        legal = read(player, "/legal-moves").json()
        assert (legal["version"], legal["ply"]) == (version, version - 1)
        for kind in ("record", "record.blksgf"):
            refusal = read(player, f"/{kind}").json()
            assert (refusal["code"], refusal["version"]) == ("not-finished", version)
        assert read(player, "/analysis").json()["version"] == 1, "nobody's view but the late one"
    picture = client.get(f"/api/v1/games/{game}/board.svg")
    commit(game, de.Resign(1), now_ms())
    assert picture.content != client.get(f"/api/v1/games/{game}/board.svg").content
    assert read(stranger).json()["version"] == selectors.version_of(game) == 7


def secret_of(player: int) -> str:
    return issue_token(player_id=player, scopes=["play"])[1]
