"""The picture of a rating: well-formed, in the boards' themes, with what it shows said in words; and its address."""

import random
import re
from xml.etree import ElementTree as ET

import pytest
from django.test import Client

from accounts.plot import LOOKS, Point, history_svg
from accounts.rules import Rating, rate
from accounts.services.annulment import annul_game
from accounts.services.people import create_player
from common.ids import new_id
from config.env import PROJECT
from games.palette import THEMES
from tests.accounts.ledgers import players
from tests.accounts.ledgers import rate as rate_game

SVG = "{http://www.w3.org/2000/svg}"
DAY = 86_400_000


def climb(count: int = 120) -> list[Point]:
    """Somebody who gets better, and pauses now and then."""
    dice, mine, at = random.Random(5), Rating(), 1_790_000_000_000
    points = []
    for number in range(count):
        other = Rating(1500 + dice.gauss(0, 180), 120, 50)
        wins = dice.random() < 1 / (1 + 10 ** ((other.mu - 1650 - number) / 400))
        mine, _ = rate([mine, other], [1, 2] if wins else [2, 1])
        at += int(dice.expovariate(1 / DAY / 0.8)) if number % 30 else 12 * DAY
        points.append(Point(at, mine.mu, mine.sigma, annulled=number == 70))
    return points


def test_the_picture_in_the_docs_is_what_the_code_draws() -> None:
    assert (PROJECT / "docs/rating-history.svg").read_text() == history_svg(
        "Ada", "duo:blitz", climb()
    )


def test_the_themes_are_those_of_the_boards() -> None:
    assert LOOKS.keys() == THEMES.keys()
    for name, look in LOOKS.items():
        theme = THEMES[name]
        assert (look.page, look.ground, look.grid, look.ink) == (
            theme.page,
            theme.ground,
            theme.grid,
            theme.ink,
        )
        assert look.line in theme.fills.values()


@pytest.mark.parametrize("theme", LOOKS)
@pytest.mark.parametrize("count", [0, 1, 2, 30, 120])
def test_everything_lies_inside_and_is_said_in_words(theme: str, count: int) -> None:
    points = climb(120)[:count]
    text = history_svg("<Ada>", "duo:blitz", points, theme=theme)
    root = ET.fromstring(text)  # our own
    assert root.findtext(f"{SVG}title") == "<Ada>: rating duo:blitz"
    said = root.findtext(f"{SVG}desc") or ""
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for path in root.iter(f"{SVG}path"):
        if path.get("class") in ("line", "band"):
            numbers = [float(each) for each in re.findall(r"[\d.]+", path.attrib["d"])]
            assert all(0 <= x <= width for x in numbers[::2])
            assert all(0 <= y <= height for y in numbers[1::2])
    crosses = [path for path in root.iter(f"{SVG}path") if path.get("class") == "annulled"]
    assert len(crosses) == sum(point.annulled for point in points)
    if points:
        shown = Rating(points[-1].mu, points[-1].sigma)
        assert f"{count} games" in said
        assert f"to {shown}" in said
        assert [each.text for each in root.iter(f"{SVG}text") if each.get("class")] == [str(shown)]
        dates = [each.text for each in root.iter(f"{SVG}text") if "-" in (each.text or "")]
        assert 1 <= len(dates) <= 7
    else:
        assert said == "No rated games."


@pytest.mark.django_db
def test_its_address() -> None:
    ada, bob = players(2)
    game = new_id()
    rate_game((ada, 1), (bob, 2), game_id=game, at=1_790_000_000_000)
    address = "/api/v1/players/player0/ratings/duo:blitz/history.svg"
    answer = Client().get(address)
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/svg+xml")
    assert "Player0: rating duo:blitz" in answer.content.decode()
    again = Client().get(address, headers={"if-none-match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    annul_game(game_id=game, by=create_player(name="Boss").pk, reason="why")
    changed = Client().get(address, headers={"if-none-match": answer["ETag"]})
    assert 'class="annulled"' in changed.content.decode()
    dark = Client().get(address, {"theme": "dark", "limit": "1"}).content.decode()
    assert LOOKS["dark"].line in dark
    for query, status, code in [
        ("?theme=pink", 400, "invalid"),
        ("?limit=0", 400, "invalid"),
        ("?limit=1001", 400, "invalid"),
        ("?x=1", 400, "invalid"),
    ]:
        answer = Client().get(address + query)
        assert (answer.status_code, answer.json()["code"]) == (status, code)
    answer = Client().get("/api/v1/players/player0/ratings/DUO/history.svg")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown-leaderboard")
    answer = Client().get("/api/v1/players/nobody/ratings/duo:blitz/history.svg")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown-player")
