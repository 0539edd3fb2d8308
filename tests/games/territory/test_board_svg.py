"""Boards as pictures by REST and in the admin: every parameter, what is refused, and what may be kept."""

import re
from xml.etree import ElementTree as ET

import pytest
from django.test import Client
from django.urls import reverse

from accounts.services.people import create_player
from games.territory import decide as de
from games.territory import events as ev
from games.territory import selectors
from games.territory.models import Game
from games.territory.rules import THEMES, Position, board_svg, parse_move, variant
from tests.games.territory.support import begin
from tests.games.territory.tables import commit_moves, registered, started
from tests.support.town import Answer, Person, Town

DUO = variant("duo")
MOVES = ("e10,f10", "j5", "d7,d8,d9")


@pytest.fixture(scope="module")
def game(person: Person) -> str:
    """A game after three plies, still played."""
    number = person.game()
    for ply, move in enumerate(MOVES):
        body = {"ply": ply, "move": move}
        assert person.http("POST", f"/api/v1/games/{number}/moves", body).status == 200
    return number


def board(town: Town, game: str, query: str = "", *, tag: str = '"none"') -> Answer:
    """The answer to somebody who has the picture with this ETag."""
    return town.http("GET", f"/api/v1/games/{game}/board.svg{query}", If_None_Match=tag)


def after(plies: int) -> Position:
    position = Position.start(DUO)
    for text in MOVES[:plies]:
        position = position.play(parse_move(text, DUO))
    return position


LAST = parse_move(MOVES[-1], DUO)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "drawn"),
    [
        ("", board_svg(after(3), last_move=LAST)),
        *(
            (f"?theme={theme}", board_svg(after(3), last_move=LAST, theme=theme))
            for theme in THEMES
        ),
        ("?coordinates=false", board_svg(after(3), last_move=LAST, coordinates=False)),
        ("?legend=0", board_svg(after(3), last_move=LAST, legend=False)),
        ("?last_move=no", board_svg(after(3))),
        ("?last_move=true", board_svg(after(3), last_move=LAST)),
        ("?attach=blue", board_svg(after(3), last_move=LAST, attach=0)),
        ("?attach=orange", board_svg(after(3), last_move=LAST, attach=1)),
        ("?ply=0", board_svg(after(0))),
        ("?ply=1", board_svg(after(1), last_move=parse_move(MOVES[0], DUO))),
        ("?ply=3", board_svg(after(3), last_move=LAST)),
        (
            "?ply=2&theme=dark&attach=orange&coordinates=off&legend=off&last_move=off",
            board_svg(after(2), theme="dark", attach=1, coordinates=False, legend=False),
        ),
    ],
)
def test_a_board_as_it_is_asked_for(town: Town, game: str, query: str, drawn: str) -> None:
    answer = board(town, game, query)
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "image/svg+xml"
    assert answer.body.decode() == drawn


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?theme=", "theme"),
        ("?theme=Light", "theme"),
        ("?theme=%3Cscript%3E", "theme"),
        ("?theme=%00", "theme"),
        ("?coordinates=maybe", "coordinates"),
        ("?coordinates=", "coordinates"),
        ("?legend=2", "legend"),
        ("?last_move=null", "last_move"),
        ("?attach=", "attach"),
        ("?attach=red", "attach"),
        ("?attach=0", "attach"),
        ("?attach=Blue", "attach"),
        ("?attach=%00", "attach"),
        ("?attach=" + "x" * 5_000, "attach"),
        ("?ply=", "ply"),
        ("?ply=-1", "ply"),
        ("?ply=4", "ply"),
        ("?ply=10001", "ply"),
        ("?ply=" + "9" * 5_000, "ply"),
        ("?ply=1.0", "ply"),
        ("?ply=%D9%A1", "ply"),
        ("?colour=blue", "colour"),
    ],
)
def test_what_cannot_be_drawn_is_refused(town: Town, game: str, query: str, field: str) -> None:
    answer = board(town, game, query)
    assert (answer.status, answer.code) == (400, "invalid")
    assert list(answer.json["fields"]) == [field]
    assert "Cache-Control" not in answer.headers


@pytest.mark.slow
def test_a_live_board_is_asked_for_again_and_sent_when_it_has_changed(
    town: Town, person: Person
) -> None:
    game = person.game()
    first = board(town, game)
    assert first.headers["Cache-Control"] == "no-cache"
    tag = first.headers["ETag"]
    same = board(town, game, tag=tag)
    assert (same.status, same.body, same.headers["ETag"]) == (304, b"", tag)
    assert same.headers["Cache-Control"] == "no-cache"
    assert board(town, game, "?theme=dark", tag=tag).status == 200
    person.http("POST", f"/api/v1/games/{game}/moves", {"ply": 0, "move": MOVES[0]})
    fresh = board(town, game, tag=tag)
    assert fresh.status == 200
    assert fresh.headers["ETag"] != tag
    assert fresh.body != first.body


@pytest.mark.slow
def test_what_cannot_change_may_be_kept(town: Town, person: Person) -> None:
    game = person.game()
    person.http("POST", f"/api/v1/games/{game}/moves", {"ply": 0, "move": MOVES[0]})
    kept = board(town, game, "?ply=1")
    assert kept.headers["Cache-Control"] == "no-cache", "it may be taken back"
    assert board(town, game).headers["Cache-Control"] == "no-cache"
    person.http("POST", f"/api/v1/games/{game}/resign")
    over = board(town, game)
    assert over.headers["Cache-Control"] == "public, max-age=86400"
    assert b"Game over" in over.body
    again = board(town, game, "?ply=1", tag=kept.headers["ETag"])
    assert again.status == 304, "the board after a ply is the same after the end"


def test_an_aborted_game_is_over_and_nobodys_turn() -> None:
    state = begin()
    assert state.deadline is not None
    aborted = de.decide(state, de.CheckClock(), state.expiry or 0).state
    assert aborted.position.turn == 0
    assert "blue to move" in selectors.draw(state)
    assert "Game over" in selectors.draw(aborted)
    assert "to move" not in selectors.draw(aborted, attach=0)
    assert "Attach points of blue: none." in selectors.draw(aborted, attach=0)


@pytest.mark.django_db(transaction=True)
def test_no_event_after_the_ply_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    game = started(registered(2))
    commit_moves(game, 5, now=Game.objects.get(id=game).events.all()[0].at + 1_000)
    decoded: list[str] = []
    decode = ev.decode

    def noted(payload: str) -> ev.AnyEvent:
        decoded.append(payload)
        return decode(payload)

    monkeypatch.setattr(ev, "decode", noted)
    assert selectors.state_after(selectors.notes_after(game, 0), 2).ply == 2
    assert len(decoded) == 3
    assert selectors.state_after(selectors.notes_after(game, 0), None) == selectors.load_state(game)
    assert selectors.state_after(selectors.notes_after(game, 0), 99).ply == 5


@pytest.mark.django_db(transaction=True)
def test_the_admin_steps_through_a_game_without_a_script() -> None:
    site = Client()
    site.force_login(create_player(name="Boss", staff=True))
    game = started(registered(2))
    commit_moves(game, 3, now=Game.objects.get(id=game).events.all()[0].at + 1_000)
    page = site.get(reverse("admin:territory_game_change", args=[game])).content.decode()
    assert 'class="last"' in page
    links = re.findall(r'<a href="([^"]+)" target="board">(\d+)</a>', page)
    assert [ply for _, ply in links] == ["0", "1", "2", "3"]
    (frame,) = re.findall(r'<iframe name="board"[^>]* src="([^"]+)"', page)
    assert frame == links[0][0]
    for (address, _), pieces in zip(links, (0, 1, 2, 3), strict=True):
        answer = site.get(address)
        assert answer["X-Frame-Options"] == "SAMEORIGIN"
        drawn = [
            each.get("d", "")
            for each in ET.fromstring(answer.content).iter()
            if each.get("class", "").startswith("piece ")
        ]
        assert "".join(drawn).count("z") == pieces
