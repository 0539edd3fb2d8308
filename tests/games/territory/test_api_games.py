"""Whole games by REST against a real server, in every variant: leaving, records, taking back."""

import random

import pytest

from games.territory import rules
from tests.games.territory.support import assert_snapshot_follows
from tests.support.town import Json, Person, Town, all_at_once

pytestmark = pytest.mark.slow


def address(game: str, rest: str = "") -> str:
    return f"/api/v1/games/{game}{rest}"


@pytest.mark.parametrize("variant", rules.VARIANTS)
def test_a_whole_game_by_polling(person: Person, variant: str) -> None:
    """A client without a socket: legal moves, moves, and the events after the last one that it has."""
    game = person.game(variant, seats=rules.VARIANTS[variant].seats)
    snapshot = person.http("GET", address(game)).json
    chance, cursor = random.Random(2), 1
    events: list[Json] = []
    legal: Json = {}
    for _ in range(200):
        legal = person.legal(game)
        if not legal["moves"]:
            break
        assert legal["version"] == cursor
        move = chance.choice(legal["moves"])["move"]
        answer = person.http("POST", address(game, "/moves"), {"ply": legal["ply"], "move": move})
        assert (answer.status, answer.json) == (200, {"version": cursor + 1})
        new = person.http("GET", address(game, f"/events?after={cursor}")).json["events"]
        assert [event["version"] for event in new] == list(range(cursor + 1, cursor + 1 + len(new)))
        events += [event["event"] for event in new]
        cursor += len(new)
    assert person.legal(game) == {
        "version": cursor,
        "ply": legal["ply"],
        "colour": None,
        "moves": [],
    }
    fresh = person.http("GET", address(game)).json
    assert fresh["status"] == "finished"
    assert_snapshot_follows(snapshot, events, fresh)
    assert_record_tells_all(person, game, fresh)


def assert_record_tells_all(person: Person, game: str, last: Json) -> None:
    """Both forms of the record hold the moves and the outcome of the last snapshot, and replay."""
    answers = [
        person.http("GET", address(game, f"/{name}")) for name in ("record", "record.blksgf")
    ]
    types = ["application/json", "application/x-blokus-sgf; charset=utf-8"]
    assert [(a.status, a.headers["Content-Type"]) for a in answers] == [
        (200, kind) for kind in types
    ]
    assert f'filename="{game}.blksgf"' in answers[1].headers["Content-Disposition"]
    for record in (rules.read_json(answers[0].body), rules.read_sgf(answers[1].body)):
        assert record.variant.key == last["variant"]
        assert record.players == tuple(seat["player"] for seat in last["seats"])
        nodes = [record.nodes[number] for number in record.replay().plies()]
        colours = record.variant.colours
        assert [
            (node.move.text, colours[node.colour])
            for node in nodes
            if node.move and node.colour is not None
        ] == [(move["move"], move["colour"]) for move in last["moves"]]
        assert [
            {"seat": seat, "reason": reason} for node in record.nodes for seat, reason in node.left
        ] == last["leavers"]
        assert record.result is not None
        assert record.result.termination == last["outcome"]["termination"]
        for name, kept in (
            ("points", "points"),
            ("penalty_points", "penalty_points"),
            ("rank", "ranks"),
        ):
            found = list(getattr(record.result, kept))
            assert found == [seat[name] for seat in last["outcome"]["seats"]]


@pytest.mark.parametrize(
    ("variant", "leavers", "ranks"),
    [("classic", [2, 0, 3], [3, 1, 4, 2]), ("classic-3", [1, 0], [2, 3, 1])],
)
def test_seats_resign_and_the_others_play_on(
    person: Person, variant: str, leavers: list[int], ranks: list[int]
) -> None:
    """Colours of who left stay on the board and get no turns; a shared colour goes on with who is left."""
    on = rules.VARIANTS[variant]
    game = person.game(variant, seats=on.seats)
    view: Json = {}
    for number, seat in enumerate(leavers, 1):
        for _ in range(9):
            legal = person.legal(game)
            move = legal["moves"][-1]["move"]
            person.http("POST", address(game, "/moves"), {"ply": legal["ply"], "move": move})
        assert person.http("POST", address(game, "/resign"), {"seat": seat}).status == 200
        assert person.http("POST", address(game, "/resign"), {"seat": seat}).code == "game-over"
        view = person.http("GET", address(game)).json
        assert view["status"] == ("finished" if number == len(leavers) else "started")
    assert view["outcome"]["termination"] == "resigned"
    assert [seat["rank"] for seat in view["outcome"]["seats"]] == ranks
    moved = [move["seat"] for move in view["moves"][9 * (len(leavers) - 1) :]]
    assert set(moved) == set(range(on.seats)) - set(leavers[:-1])
    assert_record_tells_all(person, game, view)


def test_the_record_comes_when_the_game_is_over(person: Person) -> None:
    game = person.game()
    for name in ("/record", "/record.blksgf"):
        assert person.http("GET", address(game, name)).code == "not-finished"
    assert person.http("POST", address(game, "/resign")).json == {"version": 2}
    assert person.http("POST", address(game, "/resign")).code == "game-over"
    assert person.http("GET", address(game, "/record")).status == 200


def test_taking_a_move_back(person: Person) -> None:
    game = person.game()
    first = person.http("GET", address(game)).json
    body = {"ply": 0, "move": person.legal(game)["moves"][3]["move"]}
    for version in (2, 4):
        assert person.http("POST", address(game, "/moves"), body).json == {"version": version}
        for _ in range(3):
            answer = person.http("POST", address(game, "/undo"), {"ply": 1})
            assert (answer.status, answer.json) == (200, {"version": version + 1})
    assert person.http("POST", address(game, "/undo"), {"ply": 0}).code == "nothing-to-undo"
    events = person.http("GET", address(game, "/events?after=1")).json["events"]
    assert [each["event"]["type"] for each in events] == ["move_played", "moves_undone"] * 2
    fresh = person.http("GET", address(game)).json
    assert {**fresh, "version": 1} == first
    assert_snapshot_follows(first, [each["event"] for each in events], fresh)


def test_a_game_that_was_over_is_taken_up_again(person: Person) -> None:
    """Its record is gone until it is over again; it may not be kept, for it changes: what was undone is a variation."""
    game = person.game("junior")

    def play_on() -> Json:
        while (legal := person.legal(game))["moves"]:
            body = {"ply": legal["ply"], "move": legal["moves"][-1]["move"]}
            assert person.http("POST", address(game, "/moves"), body).status == 200
        view: Json = person.http("GET", address(game)).json
        return view

    over = play_on()
    record = person.http("GET", address(game, "/record"))
    assert record.headers["Cache-Control"] == "private, no-cache"
    plies = len(over["moves"])
    assert person.http("POST", address(game, "/undo"), {"ply": plies}).status == 200
    for name in ("/record", "/record.blksgf"):
        assert person.http("GET", address(game, name)).code == "not-finished"
    picture = person.http("GET", address(game, f"/board.svg?ply={plies - 1}"))
    assert picture.headers["Cache-Control"] == "no-cache"
    assert play_on()["moves"] == over["moves"]
    longer = person.http("GET", address(game, "/record")).json
    assert len(longer["moves"]) == plies + 1
    assert person.http("GET", address(game, "/record.blksgf")).status == 200
    body = {"ply": plies}
    answers = all_at_once(8, lambda _: person.http("POST", address(game, "/undo"), body))
    assert len({(a.status, a.json["version"]) for a in answers}) == 1


def test_who_may_take_back(town: Town, person: Person) -> None:
    game = person.game()
    assert town.guest().http("POST", address(game, "/undo"), {"ply": 0}).code == "not-seated"
    person.http("POST", address(game, "/resign"))
    answer = person.http("POST", address(game, "/undo"), {"ply": 0})
    assert (answer.status, answer.code, answer.json["version"]) == (409, "game-over", 3)
