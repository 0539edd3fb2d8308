"""The pairing is a pure function; these are its promises, for games of two, three and four."""

import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchmaking.pairing import RULE, Rule, best_group, compatible, pair, window
from matchmaking.pairing.groups import SIZES
from matchmaking.pairing.line import Line
from matchmaking.tickets import Ticket

PROJECT = Path(__file__).resolve().parents[2]
NOW = 1_000_000
LIMIT = 500.0
WAVE_MS = 500

players = st.integers(1, 40)
sizes = st.sampled_from(SIZES)


@st.composite
def ticket_lists(draw: st.DrawFn, most: int = 30) -> list[Ticket]:
    """Tickets of different players, near enough in every respect that all rules have something to say."""
    ids = draw(st.lists(players, unique=True, max_size=most))
    wide = draw(st.sampled_from([60, 300, 900]))
    return [
        Ticket(
            id=f"t{player}",
            player_id=player,
            pool="duo-blitz",
            mu=draw(
                st.one_of(st.sampled_from([1500.0, 1600.0]), st.floats(1500 - wide, 1500 + wide))
            ),
            sigma=draw(st.floats(50, 500)),
            joined=NOW - draw(st.integers(-1_000, 90_000)),
            blocked=frozenset(draw(st.sets(players, max_size=4))),
            recent=frozenset(draw(st.sets(players, max_size=4))),
        )
        for player in ids
    ]


def ticket(player: int, mu: float = 1500.0, waited: int = 0, **rest: object) -> Ticket:
    fields = {"sigma": 100.0, "pool": "duo-blitz", "joined": NOW - waited} | rest
    return Ticket(id=f"t{player}", player_id=player, mu=mu, **fields)  # type: ignore[arg-type]


def may_play(group: tuple[Ticket, ...], now: int = NOW) -> bool:
    """What a compatible group is: every pair of it is compatible."""
    return all(compatible(a, b, now, LIMIT) for a, b in combinations(group, 2))


def cost(group: tuple[Ticket, ...]) -> float:
    """What the cheapest group has least of: spread, and repeats."""
    ratings = [each.mu for each in group]
    repeats = sum(
        b.player_id in a.recent or a.player_id in b.recent for a, b in combinations(group, 2)
    )
    return max(ratings) - min(ratings) + RULE.repeat_cost * repeats


@given(ticket_lists(), sizes)
def test_nobody_is_paired_twice_and_nobody_is_lost(tickets: list[Ticket], size: int) -> None:
    proposals, rest = pair(tickets, NOW, size, LIMIT)
    seen = [each for proposal in proposals for each in proposal.tickets] + rest
    assert sorted(each.id for each in seen) == sorted(each.id for each in tickets)
    assert all(len(proposal.tickets) == size for proposal in proposals)


@given(ticket_lists(), sizes)
def test_every_pair_of_every_proposal_is_compatible(tickets: list[Ticket], size: int) -> None:
    for proposal in pair(tickets, NOW, size, LIMIT)[0]:
        assert may_play(proposal.tickets)
        assert list(proposal.tickets) == sorted(proposal.tickets, key=lambda each: each.age)
        ratings = [each.mu for each in proposal.tickets]
        assert proposal.spread == max(ratings) - min(ratings) <= LIMIT


@given(ticket_lists(18), sizes)
def test_no_compatible_group_is_left_over(tickets: list[Ticket], size: int) -> None:
    _, rest = pair(tickets, NOW, size, LIMIT)
    assert not [group for group in combinations(rest, size) if may_play(group)]


@given(ticket_lists(12), ticket_lists(12), sizes)
def test_whoever_is_compatible_does_not_outlast_two_waves(
    here: list[Ticket], new: list[Ticket], size: int
) -> None:
    """Who came after the first wave had read its tickets is met by the second; no group waits for a third."""
    _, rest = pair(here, NOW, size, LIMIT)
    known = {each.player_id for each in here}
    joined = [replace(each, joined=NOW) for each in new if each.player_id not in known]
    later = NOW + WAVE_MS
    _, left = pair([*rest, *joined], later, size, LIMIT)
    was_possible = [group for group in combinations(here + joined, size) if may_play(group)]
    assert not [group for group in was_possible if all(each in left for each in group)]


@given(ticket_lists(), sizes, st.randoms(use_true_random=False))
def test_the_order_of_the_tickets_does_not_matter(
    tickets: list[Ticket], size: int, random: Random
) -> None:
    shuffled = random.sample(tickets, len(tickets))
    assert pair(shuffled, NOW, size, LIMIT) == pair(tickets, NOW, size, LIMIT)


@given(ticket_lists(14), sizes)
def test_the_oldest_that_can_be_matched_gets_the_cheapest_group(
    tickets: list[Ticket], size: int
) -> None:
    proposals, _ = pair(tickets, NOW, size, LIMIT)
    for oldest in sorted(tickets, key=lambda each: each.age):
        others = [each for each in tickets if each is not oldest]
        groups = [(oldest, *rest) for rest in combinations(others, size - 1)]
        costs = [cost(group) for group in groups if may_play(group)]
        found = best_group(oldest, others, now=NOW, size=size, limit=LIMIT)
        assert (found is not None) == bool(costs)
        if found is not None:
            assert cost(found.tickets) == pytest.approx(min(costs))
            assert proposals[0] == found
            return
    assert not proposals


@given(ticket_lists(), st.integers(0, 100_000))
def test_compatibility_is_symmetric_and_waiting_never_ends_it(
    tickets: list[Ticket], later: int
) -> None:
    for a, b in combinations(tickets, 2):
        assert compatible(a, b, NOW, LIMIT) == compatible(b, a, NOW, LIMIT)
        if compatible(a, b, NOW, LIMIT):
            assert compatible(a, b, NOW + later, LIMIT)


@given(st.floats(50, 500), st.floats(50, 500), st.integers(0, 600_000), st.floats(1, 2_000))
def test_windows_widen_faster_for_the_uncertain_and_never_past_the_limit(
    sigma: float, other: float, waited: int, limit: float
) -> None:
    low, high = sorted((sigma, other))
    sure = window(ticket(1, waited=waited, sigma=low), NOW, limit)
    unsure = window(ticket(2, waited=waited, sigma=high), NOW, limit)
    assert min(RULE.start, limit) <= sure <= unsure <= limit
    assert sure <= window(ticket(1, waited=waited + 1, sigma=low), NOW, limit)


def test_windows_count_both_ways() -> None:
    wide, narrow = ticket(1, 1500, waited=60_000), ticket(2, 1600)
    assert abs(wide.mu - narrow.mu) <= window(wide, NOW, LIMIT)
    assert not compatible(wide, narrow, NOW, LIMIT)
    assert compatible(wide, narrow, NOW + 15_000, LIMIT)


@pytest.mark.parametrize("narrow", range(4))
def test_windows_count_for_every_pair_of_four(narrow: int) -> None:
    """Three who have waited for long do not take along one whose window does not reach all of them."""
    ratings = (1500.0, 1600.0, 1700.0, 1800.0)
    table = [
        ticket(player, mu, waited=0 if player == narrow else 60_000)
        for player, mu in enumerate(ratings)
    ]
    assert pair(table, NOW, 4, LIMIT)[0] == []
    patient = replace(table[narrow], joined=NOW - 60_000)
    (proposal,), rest = pair([*table[:narrow], patient, *table[narrow + 1 :]], NOW, 4, LIMIT)
    assert (proposal.spread, rest) == (300.0, [])


def test_a_lonely_ticket_still_widens() -> None:
    lonely = ticket(1, 1500, sigma=60.0)
    hour = NOW + 3_600_000
    assert pair([lonely], hour, 2, LIMIT) == ([], [lonely])
    assert window(lonely, hour, LIMIT) == LIMIT
    late = replace(ticket(2, 1950, sigma=60.0), joined=hour)
    assert not compatible(lonely, late, hour, LIMIT)
    assert compatible(lonely, late, hour + 60_000, LIMIT)


@pytest.mark.parametrize("blocker", [1, 2])
def test_a_block_in_either_direction_keeps_two_apart(blocker: int) -> None:
    one = ticket(1, blocked=frozenset({2} if blocker == 1 else ()), waited=900_000)
    two = ticket(2, blocked=frozenset({1} if blocker == 2 else ()), waited=900_000)
    three = ticket(3, 1540.0)
    assert pair([one, two], NOW, 2, LIMIT)[0] == []
    (proposal,), rest = pair([one, two, three], NOW, 2, LIMIT)
    assert proposal.tickets == (one, three)
    assert rest == [two]
    assert pair([one, two, three, ticket(4)], NOW, 4, LIMIT)[0] == []
    (four,), _ = pair([one, two, three, ticket(4), ticket(5)], NOW, 4, LIMIT)
    assert len({one, two} & {*four.tickets}) == 1


@pytest.mark.parametrize("size", SIZES)
def test_recent_opponents_let_somebody_else_come_first(size: int) -> None:
    one, two = ticket(1, recent=frozenset({2})), ticket(2)
    strangers = [ticket(3 + n, 1540.0) for n in range(size - 1)]
    known = [one, two, *strangers[: size - 2]]
    later = NOW + RULE.repeat_patience
    assert pair(known, later - 1, size, LIMIT)[0] == []
    assert len(pair(known, later, size, LIMIT)[0]) == 1
    (proposal,), _ = pair([*known, *strangers[size - 2 :]], later, size, LIMIT)
    assert not {one, two} <= {*proposal.tickets}


@pytest.mark.parametrize("size", SIZES)
def test_a_player_is_never_paired_with_themselves(size: int) -> None:
    phone = ticket(1)
    laptop = replace(phone, id="t1b", joined=NOW + 1)
    others = [ticket(2 + n) for n in range(size - 1)]
    assert not compatible(phone, laptop, NOW, LIMIT)
    assert pair([phone, laptop, *others[1:]], NOW, size, LIMIT)[0] == []
    (proposal,), rest = pair([phone, laptop, *others], NOW, size, LIMIT)
    assert phone in proposal.tickets
    assert rest == [laptop]
    assert best_group(laptop, [phone, *others[1:]], now=NOW, size=size, limit=LIMIT) is None


def test_it_needs_the_standard_library_only() -> None:
    program = "import matchmaking.pairing, sys; assert 'django' not in sys.modules"
    subprocess.run([sys.executable, "-S", "-c", program], cwd=PROJECT, check=True)


@pytest.mark.parametrize("size", [1, 5])
def test_other_sizes_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match="cannot be paired"):
        pair([], NOW, size, LIMIT)


def test_other_rules_can_be_tried() -> None:
    strict = Rule(start=10.0, rate=0.0, sigma_share=1e9)
    two = [ticket(1), ticket(2, 1520.0, waited=60_000)]
    assert pair(two, NOW, 2, LIMIT, strict)[0] == []
    assert len(pair(two, NOW, 2, LIMIT)[0]) == 1


# Cost: what is looked at is counted, not timed


class Walks:
    """Counts the candidates that all walks give, and those they pass."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps = 0
        honest = Line.outwards

        def outwards(line: Line, place: int):  # type: ignore[no-untyped-def]
            for step in honest(line, place):
                self.steps += 1
                yield step

        monkeypatch.setattr(Line, "outwards", outwards)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("n", [1_000, 4_000])
def test_the_work_grows_with_the_number_of_tickets(
    n: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    walks = Walks(monkeypatch)
    random = Random(n)
    for spread in (0, 350):
        tickets = [
            ticket(player, random.gauss(1500, spread), waited=random.randrange(60_000))
            for player in range(n)
        ]
        proposals, _ = pair(tickets, NOW, size, LIMIT)
        assert len(proposals) > 0.98 * n / size
    assert walks.steps < n / 2, "almost always the nearest run is the answer"


@pytest.mark.parametrize("n", [1_000, 4_000])
def test_a_walk_leaps_over_those_who_do_not_reach_back(n: int) -> None:
    """A hundred old tickets around a fresh crowd: the walk over the crowd would be `n` steps for each of them."""
    crowd = [ticket(player, 1500.0) for player in range(n)]
    old = [ticket(n + step, 1700.0 + 2 * step, waited=600_000) for step in range(100)]
    line = Line(sorted([*crowd, *old], key=lambda each: each.age), NOW, LIMIT, RULE)
    looked = Counting(line.mus)
    line.mus = looked  # type: ignore[misc]
    for place in line.places()[:100]:
        assert len(list(line.outwards(place))) == 99
    assert looked.asked < 100 * (99 + 100) * 4


class Counting(list[float]):
    """A list that counts how often it is asked."""

    asked = 0

    def __getitem__(self, at):  # type: ignore[no-untyped-def]
        self.asked += 1
        return super().__getitem__(at)


@given(ticket_lists(), st.data())
def test_walks_meet_everybody_who_reaches_back(tickets: list[Ticket], data: st.DataObject) -> None:
    """Stepping or leaping, over a line from which some have been taken."""
    by_age = sorted(tickets, key=lambda each: each.age)
    stepping, leaping = (Line(by_age, NOW, LIMIT, RULE) for _ in range(2))
    leaping._trees()
    for place in data.draw(st.lists(st.sampled_from(stepping.places() or [0]), unique=True)):
        if place == 0:
            return
        here = stepping.ticket(place)
        expected = {
            other
            for other in stepping.places()
            if other != place
            and not stepping.taken[other]
            and abs(here.mu - stepping.ticket(other).mu)
            <= min(window(here, NOW, LIMIT), window(stepping.ticket(other), NOW, LIMIT))
        }
        found = list(stepping.outwards(place))
        assert {other for other, _ in found} == expected
        assert [distance for _, distance in found] == sorted(distance for _, distance in found)
        assert found == list(leaping._leaps(place, leaping.left[place], leaping.right[place]))
        for line in (stepping, leaping):
            line.take(place)
