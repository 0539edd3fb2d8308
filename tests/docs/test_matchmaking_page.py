"""The figures of docs/matchmaking.md are those of the code."""

import doctest
import json
from dataclasses import fields

import pytest

from accounts import rules
from config import sockets
from matchmaking import estimates, pairing, pools, selectors
from matchmaking.management.commands import seed_pools
from matchmaking.pairing import groups
from matchmaking.services import matching, tickets
from tests.docs.pages import codes, page

PAGE = page("docs/matchmaking.md")
FLAT = " ".join(PAGE.prose.split())


def test_the_examples_run() -> None:
    outcome = doctest.testfile(str(PAGE.path), module_relative=False)
    assert outcome.failed == 0
    assert outcome.attempted > 5


def test_the_fields_of_a_ticket_in_order() -> None:
    names = [field.name for field in fields(selectors.TicketView)]
    assert [codes(row)[0] for row in PAGE.rows("A ticket")] == names
    (example,) = PAGE.blocks("json")
    assert json.loads(example).keys() < set(names)


def test_the_pools() -> None:
    rows = {codes(row)[0]: row[1:] for row in PAGE.rows("Pools")}
    for key, (variant, kind, initial, increment) in seed_pools.TIMES.items():
        time = f"{initial // 60_000} min + {increment // 1_000} s"
        if kind == "correspondence":
            time = f"{initial // 86_400_000} days a move"
        assert rows.pop(key) == [variant, time, "yes", "500"]
        assert rows.pop(f"{key}-casual") == [variant, time, "no", "1000"]
    assert not rows


@pytest.mark.parametrize(
    "sentence",
    [
        f"accepts a difference of **{pairing.RULE.start:.0f}** points",
        f"**{pairing.RULE.rate:.0f} + sigma / {pairing.RULE.sigma_share:.0f}** points more",
        f"(sigma {rules.SIGMA:.0f}) gains {pairing.RULE.rate + rules.SIGMA / pairing.RULE.sigma_share:g} points",
        f"of sigma 100 gains {pairing.RULE.rate + 100 / pairing.RULE.sigma_share:g}.",
        f"have waited {pairing.RULE.repeat_patience // 1000} s, and count as {pairing.RULE.repeat_cost:.0f} points",
        f"a match of the last {pools.REMEMBERED_MS // 60_000} minutes",
        f"stands for {pools.LEASE_MS // 1000} s without being renewed",
        f"A claim has {pools.CLAIM_LEASE_MS // 1000} s to become",
        f"(up to {matching.ATTEMPTS} times)",
        f"waits up to {tickets.LEAVE_PATIENCE_SECONDS:.0f} s",
        f"at most {selectors.LOOKED_AT} looked at on each side",
        f"its latest {estimates.KEPT} tickets ended",
        f"takes the {estimates.NEAREST} among them",
        f"With fewer than {estimates.FEWEST} matched tickets",
        f"as often as in the last {estimates.ARRIVALS_OVER // 60_000} minutes",
        f"that {groups.MOST_LOOKED:,} groups do not settle it",
        f"mu {rules.MU:.0f} and sigma {rules.SIGMA:.0f} for a newcomer, beta {rules.BETA:.0f}, tau {rules.TAU:.0f}",
        f"while sigma is {rules.PROVISIONAL_SIGMA:.0f} or more",
    ],
)
def test_figures(sentence: str) -> None:
    assert sentence in FLAT


def test_sockets_renew_tickets_well_before_their_lease_ends() -> None:
    assert sockets.WARD_SECONDS * 1000 * 3 <= pools.LEASE_MS
