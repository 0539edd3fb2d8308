"""The rules of fair play: what they find, what they leave alone, and how often they flag honest people."""

import random
from fractions import Fraction
from math import comb
from typing import Any

import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st

from accounts.models import InboxItem, JobRun, Report, Sanction
from common.clock import now_ms, to_datetime
from games.territory import fair_play as rules
from games.territory.fair_play import GameFacts, findings
from games.territory.models import Game, Seat
from games.territory.services import fair_play as service
from games.territory.services.settle import settle
from games.territory.tasks import fair_play as task
from tests.games.territory.tables import registered
from tests.games.territory.test_settle import finished

NOW = 1_800_000_000_000


def _games(
    results: str,
    *,
    pair: tuple[int, int] = (1, 2),
    plies: int = 5,
    resigned: bool = True,
    start: int = 0,
) -> list[GameFacts]:
    """A game for each letter: `a` or `b` wins, `=` is a draw."""
    winners = {"a": pair[0], "b": pair[1], "=": None}
    return [
        GameFacts(
            f"{pair[0]}-{pair[1]}-{start + n}", pair, winners[letter], plies, resigned, start + n
        )
        for n, letter in enumerate(results)
    ]


def _others(count: int = 400, seed: int = 1) -> list[GameFacts]:
    """Games of strangers, each pair too seldom to be looked at: the company in which a pair stands out."""
    chance = random.Random(seed)
    return [
        GameFacts(
            f"other{n}",
            (100 + n % 80, 200 + n % 81),
            100 + n % 80,
            30,
            False,
            chance.randrange(10**6),
        )
        for n in range(count)
    ]


def _kinds(games: list[GameFacts]) -> list[str]:
    return [each.kind for each in findings(games)]


# The rules, at their thresholds


EVEN = "abbabaabbabaabbababa"


def test_somebody_who_plays_mostly_one_opponent_is_flagged_at_twenty_games() -> None:
    assert _kinds(_games(EVEN, plies=30, resigned=False) + _others()) == ["repeated-pair"]
    assert _kinds(_games(EVEN[:19], plies=30, resigned=False) + _others()) == []


def test_a_share_below_seven_tenths_is_nothing() -> None:
    together = _games(EVEN, plies=30, resigned=False)
    apart = [
        GameFacts(f"{player}-{n}", (player, 300 + n), player, 30, False, n)
        for player in (1, 2)
        for n in range(9)
    ]
    assert _kinds(together + _others()) == ["repeated-pair"]
    assert _kinds(together + apart + _others()) == []
    assert _kinds(together + apart[:9] + _others()) == ["repeated-pair"], "one of the two is enough"


def test_where_few_people_play_they_meet_often_and_nobody_is_flagged() -> None:
    games = [
        game
        for one, two in [(1, 2), (1, 3), (2, 3)]
        for game in _games("ab" * 15, pair=(one, two), plies=30, resigned=False)
    ]
    assert _kinds(games) == []
    assert _kinds(_games("ab" * 15, plies=30, resigned=False)) == []


def test_alternating_quick_wins_are_flagged_at_eight_games() -> None:
    assert _kinds(_games("abababab", resigned=False)) == ["win-trading"]
    assert _kinds(_games("abababa", resigned=False)) == []
    assert _kinds(_games("aabbabba", resigned=False)) == [], "as a coin falls"
    assert _kinds(_games("abababab", plies=rules.QUICK_PLIES + 1, resigned=False)) == []
    assert _kinds(_games("ab=abab=ab", resigned=False)) == ["win-trading"], "draws do not count"


def test_early_resignations_to_one_opponent_are_flagged_at_six() -> None:
    (found,) = findings(_games("bbbbbb"))
    assert (found.kind, found.first, found.second) == ("resignation-farming", 2, 1)
    assert _kinds(_games("bbbbb")) == []
    assert _kinds(_games("bbbbbb", plies=rules.EARLY_PLIES + 1)) == []
    assert _kinds(_games("bbbbbb", resigned=False)) == [], "lost on time"
    later = _games("aababaa", plies=30, resigned=False, start=50)
    assert _kinds(_games("bbbbbb") + later) == [], "less than half of their games"


def test_the_evidence_says_what_was_counted() -> None:
    (found,) = findings(_games("bbbbbbb"))
    assert found.facts["early_resignations"] == found.facts["games_together"] == 7
    assert found.facts["chance"] == pytest.approx(1e-7)
    assert [game.ended for game in found.games] == list(range(7))
    assert found.enough == rules.FARMED_GAMES
    assert "resigned 7 of 7 games" in found.words


def test_the_tail_of_the_binomial_distribution() -> None:
    for trials in range(12):
        for least in range(trials + 2):
            exact = sum(
                comb(trials, hits) * Fraction(1, 10) ** hits * Fraction(9, 10) ** (trials - hits)
                for hits in range(least, trials + 1)
            )
            assert rules.tail(trials, least, 0.1) == pytest.approx(float(exact), rel=1e-9)
    assert rules.tail(20_000, 10_000, 0.5) == pytest.approx(0.5, abs=0.01)
    assert rules.tail(20_000, 20_000, 0.1) == 0.0


# Properties


def _random_games(numbers: random.Random, count: int, people: int) -> list[GameFacts]:
    games = []
    for number in range(count):
        one, two = numbers.sample(range(1, people + 1), 2)
        winner = numbers.choice([one, two, None])
        plies, resigned = numbers.choice([(4, True), (10, False), (30, False)])
        games.append(GameFacts(f"{number}", (one, two), winner, plies, resigned, number))
    return games


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32), count=st.integers(0, 150), people=st.integers(2, 6))
def test_the_order_of_games_and_seats_does_not_matter_and_what_is_left_out_neither(
    seed: int, count: int, people: int
) -> None:
    numbers = random.Random(seed)
    games = _random_games(numbers, count, people)
    found = findings(games)
    turned = [
        GameFacts(g.id, g.players[::-1], g.winner, g.plies, g.resigned, g.ended) for g in games
    ]
    numbers.shuffle(turned)
    key = [(each.kind, each.first, each.second, each.words) for each in found]
    assert [(each.kind, each.first, each.second, each.words) for each in findings(turned)] == key
    # As the database does it: pairs with few games stay there, and only their numbers come along.
    pairs = [tuple(sorted(game.players)) for game in games]
    kept = [
        game for game, pair in zip(games, pairs, strict=True) if pairs.count(pair) >= rules.FEWEST
    ]
    totals = rules._totals(games)
    assert findings(kept, totals, sum(totals.values())) == found
    for each in found:
        assert len(each.games) >= each.enough >= rules.FEWEST
        assert {player for game in each.games for player in game.players} == {
            each.first,
            each.second,
        }


# An honest population


def _honest(seed: int, people: int, days: int = rules.DAYS) -> list[GameFacts]:
    """Everybody plays when they have time, against somebody rated alike who is there, and as well as they can.

    One game in thirty is resigned early. A tenth of the people plays a lot, many play little.
    """
    chance = random.Random(seed)
    skill = [chance.gauss(1500, 250) for _ in range(people)]
    hours = [chance.randrange(24) for _ in range(people)]
    zeal = [min(12.0, chance.paretovariate(1.2)) for _ in range(people)]
    games: list[GameFacts] = []
    for day in range(days):
        for hour in range(24):
            there = [
                player
                for player in range(people)
                if (hour - hours[player]) % 24 < 4 and chance.random() < 0.1 * zeal[player]
            ]
            there.sort(key=lambda player: skill[player] + chance.gauss(0, 120))
            for one, two in zip(there[::2], there[1::2], strict=False):
                for game in range(chance.choice((1, 1, 1, 2, 3))):  # who won wants to give revenge
                    expected = 1 / (1 + 10 ** ((skill[two] - skill[one]) / 400))
                    winner = one if chance.random() < expected else two
                    early = chance.random() < 1 / 30
                    plies = chance.randrange(1, 9) if early else max(9, round(chance.gauss(32, 6)))
                    at = ((day * 24 + hour) * 60 + game) * 60_000
                    games.append(
                        GameFacts(f"{day}-{hour}-{one}-{game}", (one, two), winner, plies,
                                  early or chance.random() < 0.3, at)
                    )  # fmt: skip
    return games


@pytest.mark.parametrize(("people", "most"), [(20, 4), (40, 5), (200, 0)])
def test_how_many_honest_pairs_are_flagged(people: int, most: int) -> None:
    """In five months of each size. Small places have some: two who play much, at the same hours, meet mostly."""
    flagged = pairs = 0
    for seed in range(5):
        games = _honest(seed, people)
        flagged += len(findings(games))
        pairs += len({tuple(sorted(game.players)) for game in games})
    assert pairs > 100
    assert flagged <= most


def test_cheats_among_honest_people_are_found() -> None:
    games = _honest(7, 60)
    games += _games("ab" * 6, pair=(1001, 1002), resigned=False)
    games += _games("a" * 8, pair=(1003, 1004))
    found = {(each.kind, each.first, each.second) for each in findings(games)}
    assert {("win-trading", 1001, 1002), ("resignation-farming", 1003, 1004)} <= found


# The nightly look


@pytest.mark.django_db(transaction=True)
def test_a_real_game_gives_its_facts_and_raises_a_flag_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rules, "FEWEST", 2)
    monkeypatch.setattr(rules, "FARMED_GAMES", 2)
    monkeypatch.setattr(rules, "FARMED_CHANCE", 1.0)
    one, two = registered(2)
    ids = []
    for _ in range(2):
        ids.append(finished([one, two], moves=4))
        assert service.look(now=now_ms()).games == 0, "fewer than two are settled"
        settle(game_id=ids[-1], now=now_ms())
    looked: list[GameFacts] = []
    found = rules.findings

    def note(games: list[GameFacts], *rest: object) -> object:
        looked.extend(games)
        return found(games, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(rules, "findings", note)
    first = service.look(now=now_ms())
    assert (first.games, first.found, first.new) == (2, 1, 1)
    assert [(f.winner, f.plies, f.resigned) for f in looked] == [(two, 4, True)] * 2
    inboxes = InboxItem.objects.count()
    again = service.look(now=now_ms())
    assert (again.found, again.new) == (1, 0)
    (flag,) = Report.objects.all()
    assert (flag.kind, flag.player_id, flag.other_id) == ("resignation-farming", two, one)
    assert flag.evidence is not None
    assert sorted(flag.evidence["games"]) == sorted(ids)
    assert not Sanction.objects.exists()
    assert InboxItem.objects.count() == inboxes, "nobody is told but the moderators"


@pytest.mark.django_db(transaction=True)
def test_the_task_looks_once_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []

    def look(*, now: int) -> service.Looked:
        looks.append(now)
        return service.Looked(0, 0, 0)

    monkeypatch.setattr("games.territory.tasks.look", look)
    task()
    task()
    assert len(looks) == 1
    assert JobRun.objects.get().job == "fair-play"


def _insert(pairs: int, games: int, *, days_ago: int = 1) -> None:
    """So many settled rated games in the table, each pair of neighbours the same number of times."""
    players = registered(2 * pairs, prefix=f"Day{days_ago}-")
    start = to_datetime(now_ms() - days_ago * service.DAY_MS)
    rows = Game.objects.bulk_create(
        Game(
            variant="duo", rated=True, clock_kind="realtime", initial_ms=1, increment_ms=0,
            status="finished", termination="completed", version=33, created_at=start,
            finished_at=start, settled_at=start,
        )
        for _ in range(pairs * games)
    )  # fmt: skip
    Seat.objects.bulk_create(
        Seat(game=row, index=index, player_id=players[2 * (n % pairs) + index], rank=1 + index)
        for n, row in enumerate(rows)
        for index in range(2)
    )


@pytest.mark.django_db
def test_the_look_takes_the_games_of_the_window_by_an_index() -> None:
    _insert(4, 7)
    _insert(3, 10, days_ago=rules.DAYS + 1)
    assert service.look(now=now_ms()).games == 28
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO territory_game (id, variant, pool, rated, clock_kind, initial_ms, increment_ms, status,"
            " termination, version, created_at, finished_at, settled_at)"
            " SELECT 'x' || n, 'duo', '', true, 'realtime', 1, 0, 'finished', 'completed', 33,"
            " now() - n * interval '1 hour' - interval '30 days', now(), now() FROM generate_series(1, 20000) AS n"
        )
        cursor.execute(
            "INSERT INTO territory_seat (game_id, index, player_id, level, rank)"
            " SELECT game.id, seat, (SELECT min(player_id) FROM territory_seat) + seat, '', 1"
            " FROM territory_game AS game CROSS JOIN generate_series(0, 1) AS seat WHERE id LIKE 'x%'"
            " AND length(id) < 12"
        )
        cursor.execute("ANALYZE territory_game, territory_seat")
        window = [
            to_datetime(now_ms() - rules.DAYS * service.DAY_MS),
            to_datetime(now_ms()),
            ["duo"],
        ]
        plan = ""
        looks: list[tuple[str, list[Any]]] = [
            (service._GAMES, [*window, rules.FEWEST]),
            (service._TOTALS, window),
        ]
        for statement, parameters in looks:
            cursor.execute(f"EXPLAIN {statement}", parameters)
            plan += "\n".join(line for (line,) in cursor.fetchall())
    assert plan.count("game_newest") == 2
    assert "Seq Scan on territory_game" not in plan
