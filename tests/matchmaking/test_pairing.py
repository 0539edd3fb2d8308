"""The pairing is a pure function; these are its promises."""

import subprocess
import sys
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchmaking.pairing import (
    REPEAT_PATIENCE,
    START,
    compatible,
    pair,
    partner,
    window,
)
from matchmaking.tickets import Ticket

PROJECT = Path(__file__).resolve().parents[2]
NOW = 1_000_000
LIMIT = 500.0

players = st.integers(1, 40)


@st.composite
def ticket_lists(draw: st.DrawFn) -> list[Ticket]:
    """Tickets of different players, near enough in every respect that all rules have something to say."""
    ids = draw(st.lists(players, unique=True, max_size=30))
    return [
        Ticket(
            id=f"t{player}",
            player_id=player,
            pool="duo-blitz",
            mu=draw(st.one_of(st.sampled_from([1500.0, 1600.0]), st.floats(900, 2100))),
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


@given(ticket_lists())
def test_every_ticket_is_paired_once_or_left(tickets: list[Ticket]) -> None:
    proposals, rest = pair(tickets, NOW, 2, LIMIT)
    seen = [each for proposal in proposals for each in proposal.tickets] + rest
    assert sorted(each.id for each in seen) == sorted(each.id for each in tickets)
    assert all(len(proposal.tickets) == 2 for proposal in proposals)


@given(ticket_lists())
def test_proposals_hold_compatible_tickets_only(tickets: list[Ticket]) -> None:
    for proposal in pair(tickets, NOW, 2, LIMIT)[0]:
        a, b = proposal.tickets
        assert compatible(a, b, NOW, LIMIT)
        assert a.age < b.age
        assert proposal.spread == abs(a.mu - b.mu) <= LIMIT


@given(ticket_lists())
def test_no_two_tickets_left_are_compatible(tickets: list[Ticket]) -> None:
    _, rest = pair(tickets, NOW, 2, LIMIT)
    assert not [pair_ for pair_ in combinations(rest, 2) if compatible(*pair_, NOW, LIMIT)]


@given(ticket_lists(), st.randoms(use_true_random=False))
def test_the_order_of_the_tickets_does_not_matter(tickets: list[Ticket], random: Random) -> None:
    shuffled = random.sample(tickets, len(tickets))
    assert pair(shuffled, NOW, 2, LIMIT) == pair(tickets, NOW, 2, LIMIT)


@given(ticket_lists())
def test_the_oldest_ticket_that_can_be_matched_is_matched_with_its_best_partner(
    tickets: list[Ticket],
) -> None:
    proposals, _ = pair(tickets, NOW, 2, LIMIT)
    by_age = sorted(tickets, key=lambda each: each.age)
    for oldest in by_age:
        best = partner(oldest, by_age, NOW, LIMIT)
        if best is not None:
            first = proposals[0].tickets
            assert first[0] == oldest
            assert cost(*first) == cost(oldest, best)
            return
    assert not proposals


def cost(a: Ticket, b: Ticket) -> float:
    met = b.player_id in a.recent or a.player_id in b.recent
    return abs(a.mu - b.mu) + (200 if met else 0)


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
    assert min(START, limit) <= sure <= unsure <= limit


def test_the_published_rule() -> None:
    assert window(ticket(1), NOW, LIMIT) == 100
    assert window(ticket(1, waited=10_000), NOW, LIMIT) == 190  # 5 + 100/25 points a second
    assert window(ticket(1, waited=10_000, sigma=500.0), NOW, LIMIT) == 350
    assert window(ticket(1, waited=600_000), NOW, LIMIT) == LIMIT
    assert window(ticket(1, waited=-5_000), NOW, LIMIT) == 100  # a clock that is behind


def test_windows_count_both_ways() -> None:
    wide, narrow = ticket(1, 1500, waited=60_000), ticket(2, 1700)
    assert abs(wide.mu - narrow.mu) <= window(wide, NOW, LIMIT)
    assert not compatible(wide, narrow, NOW, LIMIT)
    assert compatible(wide, narrow, NOW + 15_000, LIMIT)


def test_a_lonely_ticket_still_widens() -> None:
    lonely = ticket(1, 1500, sigma=60.0)
    assert pair([lonely], NOW + 3_600_000, 2, LIMIT) == ([], [lonely])
    late = ticket(2, 1950, sigma=60.0)
    joined = Ticket(late.id, 2, late.pool, late.mu, late.sigma, NOW + 3_600_000)
    assert not compatible(lonely, joined, NOW + 3_600_000, LIMIT)
    assert compatible(lonely, joined, NOW + 3_660_000, LIMIT)


@pytest.mark.parametrize("blocker", [1, 2])
def test_a_block_in_either_direction_keeps_two_apart(blocker: int) -> None:
    one = ticket(1, blocked=frozenset({2} if blocker == 1 else ()), waited=900_000)
    two = ticket(2, blocked=frozenset({1} if blocker == 2 else ()), waited=900_000)
    three = ticket(3, 1590.0)
    assert pair([one, two], NOW, 2, LIMIT)[0] == []
    (proposal,), rest = pair([one, two, three], NOW, 2, LIMIT)
    assert proposal.tickets == (one, three)
    assert rest == [two]


def test_recent_opponents_let_somebody_else_come_first() -> None:
    one, two = ticket(1, recent=frozenset({2})), ticket(2)
    assert not compatible(one, two, NOW + REPEAT_PATIENCE - 1, LIMIT)
    assert compatible(one, two, NOW + REPEAT_PATIENCE, LIMIT)
    other = ticket(3, 1590.0)
    (proposal,), _ = pair([one, two, other], NOW + REPEAT_PATIENCE, 2, LIMIT)
    assert other in proposal.tickets


def test_a_player_is_never_paired_with_themselves() -> None:
    phone = ticket(1)
    laptop = Ticket("t1b", 1, "duo-blitz", 1500.0, 100.0, NOW + 1)
    assert not compatible(phone, laptop, NOW, LIMIT)
    assert pair([phone, laptop], NOW, 2, LIMIT) == ([], [phone, laptop])
    two, three = ticket(2), ticket(3)
    proposals, rest = pair([phone, laptop, two, three], NOW, 2, LIMIT)
    assert len(proposals) == 1
    assert laptop in rest


def test_it_needs_the_standard_library_only() -> None:
    program = "import matchmaking.pairing, sys; assert 'django' not in sys.modules"
    subprocess.run([sys.executable, "-S", "-c", program], cwd=PROJECT, check=True)


def test_other_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="two players"):
        pair([], NOW, 3, LIMIT)


@pytest.mark.parametrize("n", [1_000, 4_000])
def test_the_work_grows_with_the_number_of_tickets(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps outwards are counted, not time: a handful for each ticket, also when everybody has one rating."""
    from matchmaking import pairing

    steps = 0
    honest = pairing._Line._cost

    def counted(line: object, place: int, other: int, distance: float) -> float:
        nonlocal steps
        steps += 1
        return honest(line, place, other, distance)  # type: ignore[arg-type]

    monkeypatch.setattr(pairing._Line, "_cost", counted)
    random = Random(n)
    for spread in (0, 350):
        tickets = [
            ticket(player, random.gauss(1500, spread), waited=random.randrange(60_000))
            for player in range(n)
        ]
        proposals, _ = pair(tickets, NOW, 2, LIMIT)
        assert len(proposals) > 0.49 * n
    assert steps < 4 * n
