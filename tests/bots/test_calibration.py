"""Ratings of levels: the model is the people's own, the fit is the likeliest one, and the profiles show it."""

import doctest
import io
import math
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts import rules
from accounts.models import LedgerRow, RatingRow
from accounts.services.people import cpu_player, create_guest
from bots import calibration, ratings
from bots.arena import REFERENCES, Contestant
from bots.calibration import first_place, fit, name_of, scale
from bots.levels import LEVELS
from bots.management.commands.calibrate import LADDER, pairs
from bots.ratings import ANCHOR, Calibration, Measured, Pairing
from games.territory.rules import VARIANTS

TRUTH = {
    "starter": 700.0,
    "largest": 1100.0,
    "beginner": 1180.0,
    ANCHOR: 1500.0,
    "advanced": 1700.0,
    "expert": 2100.0,
}


def test_the_examples_are_right() -> None:
    found = doctest.testmod(calibration)
    assert (found.failed, found.attempted) == (0, 2)


# The model


@pytest.mark.parametrize("others", [1, 2, 3])
@pytest.mark.parametrize("mu", [1000.0, 1500.0, 2200.0])
def test_the_model_is_that_of_peoples_ratings(mu: float, others: int) -> None:
    """A winner gains the more, the less probable the win was: sigma² / c of what was missing to certainty."""
    sigma = 1e-3
    before = [rules.Rating(mu, sigma), *[rules.Rating(1500.0, sigma)] * others]
    after = rules.rate(before, [1, *[2] * others])
    variance = sigma**2 + rules.TAU**2  # it grows before each game
    c = math.sqrt((others + 1) * (rules.BETA**2 + variance))
    probable = 1 - (after[0].mu - mu) * c / variance
    assert first_place(mu, 1500.0, seats=others + 1) == pytest.approx(probable, rel=1e-3)


# The fit


def played(games: int, seats: int) -> list[Pairing]:
    """What is to be expected of players as strong as in `TRUTH`."""
    return [
        Pairing(a, b, games, games * first_place(TRUTH[a], TRUTH[b], seats=seats))
        for a, b in pairs(list(TRUTH))
    ]


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_it_finds_the_strengths_that_the_games_were_played_with(seats: int) -> None:
    found = fit(played(10_000_000, seats), seats=seats)
    assert {name: each.rating for name, each in found.items()} == pytest.approx(TRUTH, abs=0.2)
    assert found[ANCHOR] == Measured(1500.0, 0.0, 40_000_000)


def minus_log_likelihood(
    pairings: list[Pairing], seats: int
) -> Callable[[dict[str, float]], float]:
    def loss(strengths: dict[str, float]) -> float:
        total = 0.0
        for pair in pairings:
            p = first_place(strengths[pair.a], strengths[pair.b], seats=seats)
            first, games = pair.places + 1 / seats, pair.games + 1
            total -= first * math.log(p) + (games - first) * math.log(1 - p)
        return total

    return loss


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_no_other_ratings_are_likelier_and_the_errors_are_its_curvature(seats: int) -> None:
    """By differences of the likelihood itself, which knows nothing of Newton's method or of matrices."""
    pairings = [
        msgspec.structs.replace(pair, places=float(round(pair.places)) + number % 2 / 2)
        for number, pair in enumerate(played(60, seats))
    ]
    found = fit(pairings, seats=seats)
    loss = minus_log_likelihood(pairings, seats)
    best = {name: each.rating for name, each in found.items()}
    for name in TRUTH.keys() - {ANCHOR}:
        for step in (-5.0, 5.0):
            assert loss(best) < loss({**best, name: best[name] + step})
    # The error of one rating: how far it may move, the others following, until the loss has grown by a half.
    name = "expert"
    moved = best[name] + found[name].sigma
    assert profiled(loss, {**best, name: moved}, name) - loss(best) == pytest.approx(0.5, rel=0.35)


def profiled(loss: Callable[[dict[str, float]], float], at: dict[str, float], fixed: str) -> float:
    """The least loss with one rating held, found by trying."""
    step = 32.0
    while step > 0.05:
        better = False
        for name in at.keys() - {fixed, ANCHOR}:
            for change in (-step, step):
                trial = {**at, name: at[name] + change}
                if loss(trial) < loss(at):
                    at, better = trial, True
        if not better:
            step /= 2
    return loss(at)


def test_who_never_won_is_rated_all_the_same() -> None:
    found = fit([Pairing(ANCHOR, "starter", 60, 60.0)], seats=2)
    odds = 60.5 / 0.5  # with the game that counts as drawn
    assert found["starter"].rating == pytest.approx(1500 - scale(2) * math.log(odds), abs=0.1)
    assert found["starter"].sigma > 300, "which is said to be a guess"


# The file


@pytest.fixture(scope="module")
def measured() -> dict[str, Calibration]:
    return ratings.read()


def test_every_level_is_rated_in_every_variant(measured: dict[str, Calibration]) -> None:
    assert list(measured) == sorted(VARIANTS)
    for each in measured.values():
        assert set(each.ratings) == set(LADDER) == {*LEVELS, "largest"}
        assert each.ratings[ANCHOR].rating == ratings.ANCHOR_RATING


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_ratings_follow_from_the_games(measured: dict[str, Calibration], variant: str) -> None:
    each = measured[variant]
    assert each.ratings == fit(each.pairings, seats=VARIANTS[variant].seats)
    told = [(name_of(pair.a), name_of(pair.b)) for pair in each.pairings]
    assert told == list(pairs(list(LADDER)))
    for pair in each.pairings:
        assert pair.games % VARIANTS[variant].seats == 0
        for player in (Contestant.parse(pair.a), Contestant.parse(pair.b)):
            assert player.name in REFERENCES or player.name in LEVELS
            if player.name == "expert":
                assert player.simulations or player.seconds or str(player) == "expert"


@pytest.mark.parametrize("variant", VARIANTS)
def test_who_is_said_to_be_stronger_is(measured: dict[str, Calibration], variant: str) -> None:
    found = [measured[variant].ratings[name].rating for name in LEVELS[:4]]
    assert found == sorted(found)


# The command


def calibrate(folder: Path, *arguments: str) -> str:
    output = io.StringIO()
    options = ("--results", str(folder / "games"), "--output", str(folder / "ratings.json"))
    call_command("calibrate", *arguments, *options, "--simulations", "5", stdout=output)
    return output.getvalue()


@pytest.mark.slow
def test_it_goes_on_with_what_was_played(tmp_path: Path) -> None:
    said = calibrate(tmp_path, "junior", "--games", "5", "--searched", "2", "--jobs", "1")
    file = tmp_path / "ratings.json"
    first = ratings.read(file)
    assert list(first) == ["junior"]
    assert [pair.games for pair in first["junior"].pairings] == [6, 6, 6, 6, 2, 6, 6, 6, 2]
    assert first["junior"].ratings == fit(first["junior"].pairings, seats=2)
    assert f"junior: {ANCHOR} 1500 by definition" in said
    lines = {each: each.read_bytes() for each in (tmp_path / "games").iterdir()}
    assert len(lines) == 9
    shortened = next(each for each in lines if "beginner-largest" in each.name)
    shortened.write_bytes(lines[shortened][: len(lines[shortened]) // 2])
    before = ratings.read(file)["junior"]
    ratings.write({"duo": before}, file)

    calibrate(tmp_path, "junior", "--games", "5", "--searched", "2", "--jobs", "1")
    assert ratings.read(file) == {"duo": before, "junior": before}
    for each, text in lines.items():
        if each != shortened:
            assert each.read_bytes() == text, "nothing was played again"


def test_games_that_are_no_games_are_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "junior-largest-starter-1.jsonl").write_text("{}\n")
    with pytest.raises(CommandError, match=r"largest-starter-1.jsonl:1: This is no game"):
        calibrate(tmp_path, "junior", "--games", "2")
    with pytest.raises(CommandError, match="invalid choice: 'trigon'"):
        calibrate(tmp_path, "trigon")


# What players see


@pytest.mark.django_db
def test_a_cpus_profile_has_its_ratings_and_how_sure_they_are(
    measured: dict[str, Calibration],
) -> None:
    cpu_player("advanced")
    body = Client().get("/api/v1/players/CPU-Advanced").json()
    assert [each["key"] for each in body["ratings"]] == sorted(f"{key}:none" for key in VARIANTS)
    for each in body["ratings"]:
        found = measured[each["key"].partition(":")[0]].ratings["advanced"]
        shown = rules.Rating(found.rating, found.sigma)
        assert (each["mu"], each["sigma"], each["games"]) == (
            found.rating,
            found.sigma,
            found.games,
        )
        assert (each["rating"], each["provisional"]) == (str(shown), shown.provisional)
        assert each["calibrated"] is True
    history = Client().get("/api/v1/players/CPU-Advanced/ratings/duo:none/history").json()
    assert history["changes"] == []


@pytest.mark.django_db(transaction=True)
def test_its_seat_shows_it_and_nothing_else_changes() -> None:
    _, token = create_guest()
    auth = {"Authorization": f"Bearer {token}"}
    client = Client(headers=auth)
    seats = [{}, {"level": "beginner"}]
    made = client.post(
        "/api/v1/games", {"variant": "duo", "seats": seats}, content_type="application/json"
    )
    view = client.get(f"/api/v1/games/{made.json()['game']}").json()
    mine, cpus = (seat["rating"] for seat in view["seats"])
    assert (mine, cpus) == ("1500?", str(ratings.by_level()["beginner"]["duo:none"]))
    assert client.get("/api/v1/leaderboards/duo:none").json()["entries"] == []
    assert not RatingRow.objects.exists()
    assert not LedgerRow.objects.exists()
