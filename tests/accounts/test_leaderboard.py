"""The leaderboard: the declared order, shared places, pages that fit together."""

import base64
import json
from itertools import pairwise

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts import rules, selectors
from accounts.errors import InvalidCursorError, UnknownLeaderboardError
from accounts.models import Player, RatingRow
from accounts.services.people import cpu_player, create_player

KEY = "duo:blitz"

pytestmark = pytest.mark.django_db


def _rated(name: str, mu: float, sigma: float = 100.0, key: str = KEY) -> Player:
    player = create_player(name=name)
    RatingRow.objects.create(player=player, key=key, mu=mu, sigma=sigma, games=20)
    return player


def _lines(limit: int = 50) -> list[tuple[int, str]]:
    """The whole leaderboard by its pages."""
    lines: list[tuple[int, str]] = []
    cursor = None
    while True:
        page = selectors.leaderboard_page(KEY, cursor=cursor, limit=limit)
        lines += [(entry.rank, entry.player.name) for entry in page.entries]
        if page.next is None:
            return lines
        assert len(page.entries) == limit
        assert len(lines) < 100, "the pages do not come to an end"
        cursor = page.next


def test_order_is_mu_then_sigma_then_the_older_account() -> None:
    _rated("Old", 1600, 90)
    _rated("Unsure", 1700, 200)
    _rated("Sure", 1700, 80)
    _rated("Young", 1600, 90)
    _rated("Top", 1900)
    _rated("Elsewhere", 2500, key="classic:rapid")
    assert [name for _, name in _lines()] == ["Top", "Sure", "Unsure", "Old", "Young"]


def test_equal_shown_ratings_share_the_place_and_leave_a_gap() -> None:
    for name, mu in [("Aa", 1700.4), ("Bb", 1699.6), ("Cc", 1699.5), ("Dd", 1699.4), ("Ee", 1600)]:
        _rated(name, mu)
    expected = [(1, "Aa"), (1, "Bb"), (1, "Cc"), (4, "Dd"), (5, "Ee")]
    for limit in (1, 2, 3, 4, 5, 6):
        assert _lines(limit) == expected


def test_provisional_banned_and_cpu_players_are_left_out_and_ranks_close_up() -> None:
    _rated("Lucky", 2500, rules.PROVISIONAL_SIGMA)
    banned = _rated("Banned", 2400)
    _rated("Best", 1800, rules.PROVISIONAL_SIGMA - 1)
    _rated("Next", 1700)
    RatingRow.objects.create(player=cpu_player("expert"), key=KEY, mu=2600, sigma=70, games=99)
    assert _lines() == [(1, "Banned"), (2, "Best"), (3, "Next")]
    Player.objects.filter(pk=banned.pk).update(is_active=False)
    assert _lines() == [(1, "Best"), (2, "Next")]


def test_a_board_that_nobody_is_on_is_empty() -> None:
    assert selectors.leaderboard_page("duo:rapid") == selectors.LeaderboardPage(
        key="duo:rapid", entries=[], next=None, total=0, frozen_at=None
    )


@pytest.mark.parametrize("key", ["", "duo", "duo:", ":blitz", "DUO:blitz", "duo:blitz:x", "a b:c"])
def test_a_key_is_variant_and_speed(key: str) -> None:
    with pytest.raises(UnknownLeaderboardError):
        selectors.leaderboard_page(key)


def _cursor(*fields: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "é",
        "!!!!",
        "AAAA",
        "bnVsbA",
        _cursor(),
        _cursor(KEY, 1, 2, 3),
        _cursor(KEY, 1, 2, 3, "Nobody"),
        _cursor(KEY, "nan", 2, 3, "Known"),
        _cursor(KEY, 1e400, 2, 3, "Known"),
        _cursor(KEY, 10**400, 2, 3, "Known"),
        _cursor(KEY, 1, 2, None, "Known"),
        _cursor(KEY, 1, 2, 3, "\0"),
        _cursor(KEY, 1, 2, 3, ["Known"]),
        _cursor(KEY, {}, 2, 3, "Known"),
        _cursor("duo:rapid", 1, 2, 3, "Known"),
        _cursor([KEY], 1, 2, 3, "Known"),
    ],
)
def test_a_made_up_cursor_is_refused(cursor: str) -> None:
    _rated("Known", 1500)
    with pytest.raises(InvalidCursorError):
        selectors.leaderboard_page(KEY, cursor=cursor)


def test_no_cursor_shows_an_internal_id() -> None:
    _rated("Aa", 1700)
    _rated("Bb", 1600)
    cursor = selectors.leaderboard_page(KEY, limit=1).next
    assert cursor is not None
    fields = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    assert fields == [KEY, -1700.0, -1700.0, 100.0, "Aa"]


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    figures=st.lists(
        st.tuples(
            st.sampled_from([1499.5, 1500.0, 1500.3, 1500.5, 1600.0]),
            st.sampled_from([90.0, 120.0]),
        ),
        max_size=12,
    ),
    limit=st.integers(1, 13),
)
def test_pages_of_any_size_are_the_whole_list(
    figures: list[tuple[float, float]], limit: int
) -> None:
    Player.objects.all().delete()
    players = [_rated(f"Player{n}", mu, sigma) for n, (mu, sigma) in enumerate(figures)]
    order = sorted(
        range(len(figures)), key=lambda n: (-figures[n][0], figures[n][1], players[n].pk)
    )
    shown = [rules.shown(figures[n][0]) for n in order]
    expected = [(shown.index(shown[i]) + 1, players[n].name) for i, n in enumerate(order)]
    assert _lines(limit) == expected
    assert all(a[0] <= b[0] for a, b in pairwise(expected))


def test_a_deep_page_reads_the_index_and_not_the_table() -> None:
    count = 20_000
    Player.objects.bulk_create(Player(name=f"P{n}", password="!") for n in range(count))
    RatingRow.objects.bulk_create(
        RatingRow(player_id=pk, key=KEY, mu=1000 + n, sigma=100, games=20)
        for n, pk in enumerate(Player.objects.order_by("id").values_list("pk", flat=True))
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE accounts_ratingrow, accounts_player")
    page = selectors.leaderboard_page(KEY, limit=50)
    middle = _cursor(KEY, -11000.0, -11000.0, 100.0, "P10000")
    with connection.execute_wrapper(_explained := _Explain()):
        deep = selectors.leaderboard_page(KEY, cursor=middle, limit=50)
    assert page.entries[0].player.name == "P19999"
    assert (deep.entries[0].player.name, deep.entries[0].rank) == ("P9999", count // 2 + 1)
    plan = _explained.plans[-1]
    assert "rating_place" in plan
    assert "Seq Scan on accounts_ratingrow" not in plan
    assert "Seq Scan on accounts_player" not in plan


class _Explain:
    """Keeps the plan of each query that runs."""

    def __init__(self) -> None:
        self.plans: list[str] = []

    def __call__(self, execute, sql, params, many, context):  # type: ignore[no-untyped-def]
        if sql.lstrip().startswith(("SELECT", "WITH")):
            with context["connection"].connection.cursor() as cursor:
                bound = context["cursor"].mogrify(sql, params)
                cursor.execute("EXPLAIN " + bound)
                self.plans.append("\n".join(line for (line,) in cursor.fetchall()))
        return execute(sql, params, many, context)


def test_people_and_bots_have_leaderboards_of_their_own() -> None:
    _rated("Ada", 1600)
    for name, mu in (("Deep", 1900), ("Deeper", 2000)):
        Player.objects.filter(pk=_rated(name, mu).pk).update(kind="bot")
    cpu = cpu_player("expert")
    RatingRow.objects.create(player=cpu, key=KEY, mu=2500, sigma=50, games=50)
    assert _lines() == [(1, "Ada")]
    page = selectors.leaderboard_page(KEY, bots=True, limit=1)
    assert [(each.rank, each.player.name) for each in page.entries] == [(1, "Deeper")]
    page = selectors.leaderboard_page(KEY, bots=True, limit=1, cursor=page.next)
    assert [(each.rank, each.player.name) for each in page.entries] == [(2, "Deep")]
    assert page.next is None
