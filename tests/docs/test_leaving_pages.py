"""The figures of docs/clocks.md and docs/leaving.md are those of the code."""

import json

import msgspec
import pytest

from accounts.presence import LEASE_MS
from config import round_trips
from config.env import Environment
from config.management.commands.web import server_config
from games.territory import departures, lag, leaving, present, waiting
from games.territory import state as st
from games.territory.rules import Speed
from games.territory.services import outages, vacations
from tests.docs.pages import codes, page

CLOCKS = page("docs/clocks.md")
LEAVING = page("docs/leaving.md")


@pytest.fixture(scope="module")
def environment() -> Environment:
    given = {
        "DATABASE_URL": "postgresql://localhost/kado",
        "REDIS_URL": "redis://localhost",
        "KADO_SECRET_KEY": "x",
    }
    return Environment.read(given)


@pytest.mark.parametrize(
    "sentence",
    [
        f"within {st.FIRST_MOVE_MS // 1000} s, or less if the clock has less",
        f"aborted after {st.IDLE_MS // 86_400_000} days",
        f"one at the start and one every {server_config().ws_ping_interval:.0f} s",
        f"the median of the latest {round_trips.KEPT}",
        f"what was measured, at most {lag.MOST_MS} ms",
        f"{lag.ACCOUNT_MS} ms at the start and at most; {lag.EARNED_MS} ms come in with each move",
        f"in the long run {lag.EARNED_MS} ms for a move",
        f"{lag.MOST_MS} ms after the deadline",
        "a heartbeat every second" if outages.BEAT_SECONDS == 1 else "another pace",
        f"once when {waiting.MOST_REMINDER_MS // 3_600_000} h are left, or a sixth of the time",
        f"on vacation for {vacations.QUOTA_MS // vacations.DAY_MS} days a year",
        "for one day at least" if vacations.LEAST_MS == vacations.DAY_MS else "for something else",
        f"After more than {leaving.LONG_OUTAGE_MS // 60_000} min",
    ],
)
def test_the_figures_of_clocks(sentence: str) -> None:
    assert sentence in " ".join(CLOCKS.prose.split())


def test_the_length_of_an_outage(environment: Environment) -> None:
    assert f"a time of more than {environment.outage_seconds} s" in CLOCKS.prose


def test_how_long_somebody_is_away_before_a_claim() -> None:
    rows = [row for row in LEAVING.rows("What can be claimed") if row[0] in set(Speed)]
    assert rows == [[speed.value, f"{ms // 1000} s"] for speed, ms in leaving.AWAY_MS.items()]


def test_what_can_be_claimed() -> None:
    words = {word for row in LEAVING.rows("What can be claimed") for word in codes(row)}
    assert words == set(leaving.RESULTS)
    assert f"a CPU of the level `{leaving.STAND_IN}`" in LEAVING.prose


def test_the_ladder() -> None:
    rows = [row[1] for row in LEAVING.rows("Leaving again and again")]
    assert rows == [f"{ms // 60_000} min" if ms else "–" for ms in departures.LADDER_MS]


@pytest.mark.parametrize(
    "sentence",
    [
        f"| in {departures.MEMORY_MS // 86_400_000} days |",
        f"for at least {departures.AWAY_BEFORE_MS // 1000} s before the end",
        f"when its lease does, {LEASE_MS // 1000} s later",
        f"has to come within {st.FIRST_MOVE_MS // 1000} s",
    ],
)
def test_the_figures_of_leaving(sentence: str) -> None:
    assert sentence in " ".join(LEAVING.prose.split())


def test_the_example_of_presence_is_one() -> None:
    (example,) = LEAVING.blocks("json")
    view = msgspec.convert(json.loads(example), present.PresenceView)
    assert msgspec.to_builtins(view) == json.loads(example)
    away = view.seats[1]
    assert away.away_since is not None
    assert away.claimable_at is not None
