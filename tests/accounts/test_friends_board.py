"""The leaderboard of oneself and one's friends."""

from collections.abc import Iterator
from random import Random

import pytest

from accounts.errors import InvalidCursorError, UnknownLeaderboardError
from accounts.models import Player, RatingRow
from accounts.selectors import leaderboard_rank
from accounts.selectors.friends_board import friends_board
from accounts.services.friends import block
from accounts.services.people import become_bot, create_guest, create_player
from accounts.services.scores import freeze_board, submit_score
from tests.accounts.boards import small_buckets
from tests.accounts.http import Http, as_player, refused
from tests.accounts.test_friends import NOW, befriended, people

pytestmark = pytest.mark.django_db

DAY = "daily:2026-11-30"
PUZZLE = "puzzle:easy:10x10:once"


@pytest.fixture
def _small_buckets() -> Iterator[None]:
    with small_buckets():
        yield


def submit(player: Player, score: int, board: str = PUZZLE) -> None:
    submit_score(
        board=board,
        player_id=player.pk,
        score=score,
        placements=40,
        finished_at=NOW,
        source="run",
    )


def rate(player: Player, mu: float, sigma: float = 90.0) -> None:
    RatingRow.objects.create(player=player, key="duo:blitz", mu=mu, sigma=sigma, games=30)


@pytest.mark.usefixtures("_small_buckets")
@pytest.mark.parametrize("seed", range(3))
def test_ranks_are_those_of_the_board_and_of_the_circle(seed: int) -> None:
    dice = Random(seed)
    crowd = [create_player(name=f"Player{number}") for number in range(60)]
    for player in crowd:
        submit(player, dice.randrange(12))  # many ties
        rate(player, 1500 + dice.randrange(8), 80 + dice.randrange(3))
    circle = dice.sample([player.pk for player in crowd], 17)
    for key, tied in ((PUZZLE, "score"), ("duo:blitz", "mu")):
        for limit in (1, 5, 16, 17, 18):
            found, cursor = [], None
            while True:
                page = friends_board(key, circle, cursor=cursor, limit=limit)
                assert (page.total, page.board_total) == (17, 60)
                found += page.entries
                if (cursor := page.next) is None:
                    break
            ids = [line.entry.player.id for line in found]
            assert sorted(ids) == sorted(circle)
            assert [line.board_rank for line in found] == [leaderboard_rank(key, pk) for pk in ids]
            values = [getattr(line.entry.standing, tied) for line in found]
            assert values == sorted(values, reverse=True)
            assert [line.entry.rank for line in found] == [
                values.index(value) + 1 for value in values
            ]


def test_who_has_no_line_on_the_board_has_none_here() -> None:
    ada, bob, eve, joe, kim = people("Ada", "Bob", "Eve", "Joe", "Kim")
    guest = Player.objects.get(pk=create_guest()[0].pk)
    become_bot(player_id=joe.pk)
    Player.objects.filter(pk=kim.pk).update(is_active=False)
    for number, player in enumerate((ada, bob, joe, kim)):
        rate(player, 1500 + number)
        submit(player, 10 + number)
    rate(eve, 1900, sigma=400)  # provisional
    submit(guest, 90)
    circle = [player.pk for player in (ada, bob, eve, joe, kim, guest)]
    for key in ("duo:blitz", PUZZLE):
        page = friends_board(key, circle)
        assert [line.entry.player.name for line in page.entries] == ["Bob", "Ada"]
        assert page.total == page.board_total == 2


def test_by_rest() -> None:
    ada, bob, eve, joe = people("Ada", "Bob", "Eve", "Joe")
    for player, score in ((ada, 10), (bob, 30), (eve, 20), (joe, 40)):
        submit(player, score)
    befriended(ada, bob)
    befriended(joe, ada)
    http, address = as_player(ada, "friends"), f"leaderboards/{PUZZLE}/friends"
    status, body = http.get(address)
    assert status == 200
    assert (body["key"], body["total"], body["board_total"]) == (PUZZLE, 3, 4)
    lines = [(e["player"]["name"], e["rank"], e["board_rank"], e["score"]) for e in body["entries"]]
    assert lines == [("Joe", 1, 1, 40), ("Bob", 2, 2, 30), ("Ada", 3, 4, 10)]
    assert http.last["Cache-Control"] == "private, no-cache"
    tag = http.last["ETag"]
    assert http.send("GET", address, If_None_Match=tag)[0] == 304
    first = http.get(f"{address}?limit=2")[1]
    second = http.get(first["next"])[1]
    assert first["entries"] + second["entries"] == body["entries"]
    assert second["next"] is None
    block(player_id=joe.pk, other_id=ada.pk, now=NOW)
    status, body = http.send("GET", address, If_None_Match=tag)
    assert [entry["player"]["name"] for entry in body["entries"]] == ["Bob", "Ada"]
    assert [entry["board_rank"] for entry in body["entries"]] == [2, 4]
    empty = http.get("leaderboards/duo:rapid/friends")[1]
    assert (empty["entries"], empty["total"], empty["board_total"]) == ([], 0, 0)


def test_a_frozen_board_and_a_board_without_friends() -> None:
    ada, bob = people("Ada", "Bob")
    submit(bob, 30, board=DAY)
    freeze_board(board=DAY, at=NOW)
    page = friends_board(DAY, [ada.pk])
    assert (page.entries, page.total, page.board_total, page.frozen_at) == ([], 0, 1, NOW)


def test_refusals() -> None:
    (ada,) = people("Ada")
    http = as_player(ada, "friends")
    for key in ("nonsense", "puzzle:", "daily:2026-02-30"):
        assert refused(http.get(f"leaderboards/{key}/friends")) == (404, "unknown-leaderboard")
        with pytest.raises(UnknownLeaderboardError):
            friends_board(key, [ada.pk])
    with pytest.raises(InvalidCursorError):
        friends_board(DAY, [ada.pk], cursor="nonsense")
    address = f"leaderboards/{DAY}/friends"
    assert refused(http.get(f"{address}?cursor=x")) == (400, "invalid-cursor")
    for wrong in ("limit=0", "limit=101", "players=bots"):
        assert refused(http.get(f"{address}?{wrong}")) == (400, "invalid")
    assert refused(Http().get(address)) == (401, "not-authenticated")
    assert refused(as_player(ada, "play").get(address)) == (403, "missing-scope")
    assert refused(Http(create_guest()[1]).get(address)) == (403, "not-for-guests")
