"""Runs and daily puzzles over HTTP, through a real web process."""

import json
from typing import Any

import pytest

from examples.kado_client import fold_run
from games.puzzle import rules
from games.puzzle.services.days import FIRST
from tests.support.town import Answer, Json, Person, Town

RUNS = "/api/v1/puzzles/runs"
HARD = {"level": "hard", "board": "8x8"}
KEY = "0123456789abcdef"


@pytest.fixture(scope="module")
def person(town: Town) -> Person:
    return town.guest()


def begin(person: Person, **wish: Any) -> str:
    answer = person.http("POST", RUNS, wish or HARD)
    assert answer.status == 201, answer.body
    run: str = answer.json["run"]
    assert answer.headers["Location"] == f"{RUNS}/{run}"
    return run


def seen(person: Person, run: str) -> Json:
    answer = person.http("GET", f"{RUNS}/{run}")
    assert answer.status == 200, answer.body
    found: Json = answer.json
    return found


def legal(person: Person, run: str) -> list[Json]:
    answer = person.http("GET", f"{RUNS}/{run}/legal-placements").json
    return [
        {
            "turn": answer["turn"],
            "slot": each["slot"],
            "rotation": each["rotation"],
            "at": each["at"],
        }
        for each in answer["placements"]
    ]


def place(person: Person, run: str, wish: Json) -> Answer:
    return person.http("POST", f"{RUNS}/{run}/placements", wish)


def play_out(person: Person, run: str) -> list[bytes]:
    """The first legal placement each time, to the end; the answers."""
    answers = []
    while wishes := legal(person, run):
        answer = place(person, run, wishes[0])
        assert answer.status == 200, answer.body
        answers.append(answer.body)
    return answers


def events(person: Person, run: str, after: int = 0) -> list[Json]:
    found: list[Json] = person.http("GET", f"{RUNS}/{run}/events?after={after}").json["events"]
    return found


def test_a_whole_run_by_polling(person: Person) -> None:
    run = begin(person)
    first = seen(person, run)
    answers = play_out(person, run)
    assert len(answers) > 5
    said = person.http("GET", f"{RUNS}/{run}/events?after=1").body
    assert said.startswith(b'{"events":[' + b",".join(answers)), "the same bytes"
    folded = first
    for event in events(person, run, 1):
        folded = fold_run(folded, event["version"], event["event"])
    assert folded == seen(person, run)
    assert folded["status"] == "over"
    assert folded["end"]["best"] is not None

    record = rules.read_json(person.http("GET", f"{RUNS}/{run}/record").body)
    replayed = rules.replay(record)
    assert (replayed.verdict, replayed.run.score) == ("agrees", folded["state"]["score"])
    assert rules.seed_hash(record.seed or b"") == first["seed_hash"]


def test_a_placement_said_again_gets_the_first_answer_to_the_byte(person: Person) -> None:
    run = begin(person, level="easy", undo="once")
    wish = legal(person, run)[0]
    first = place(person, run, wish)
    assert place(person, run, wish).body == first.body
    undo = person.http("POST", f"{RUNS}/{run}/undo", {"turn": 1})
    assert undo.json["event"]["type"] == "placement_undone"
    assert person.http("POST", f"{RUNS}/{run}/undo", {"turn": 1}).body == undo.body
    assert place(person, run, wish).body == first.body
    assert [event["version"] for event in events(person, run)] == [1, 2, 3]


def test_refusals_over_http(town: Town, person: Person) -> None:
    run = begin(person, level="normal", undo="once")
    wish = legal(person, run)[0]
    before = events(person, run)

    def code(**change: Any) -> str:
        return place(person, run, wish | change).code

    assert code(slot=7) == "block-not-in-hand"
    assert code(rotation=1) == "rotation-not-allowed"
    assert code(at="z99") == "outside-board"
    assert code(turn=1) == "stale-turn"
    assert person.http("POST", f"{RUNS}/{run}/undo", {"turn": 0}).code == "nothing-to-undo"
    for bad in (
        *(
            {"slot": -1},
            {"slot": "x"},
            {"slot": None},
            {"slot": 2**70},
            {"turn": -1},
            {"turn": 2**31},
        ),
        *({"turn": 1.5}, {"rotation": "left"}, {"at": ["a1"]}, {"at": "a" * 17}, {"at": None}),
        *({"colour": "red"}, {"at": 5e300}),
    ):
        assert code(**bad) in {"invalid", "outside-board"}, bad
    for raw in (b"", b"[]", b"nul", b'{"turn": 0', b"\xff", b"[" * 5_000, b'"a"'):
        assert person.http("POST", f"{RUNS}/{run}/placements", raw=raw).code == "invalid", raw
    stranger = town.guest()
    for address in ("", "/events", "/legal-placements"):
        assert stranger.http("GET", f"{RUNS}/{run}{address}").code == "unknown-run"
        assert person.http("GET", f"{RUNS}/NoSuchRun000{address}").code == "unknown-run"
    assert place(stranger, run, wish).code == "unknown-run"
    for address in ("/record", "/board.svg"):
        assert stranger.http("GET", f"{RUNS}/{run}{address}").code == "run-not-over"
        assert person.http("GET", f"{RUNS}/NoSuchRun000{address}").code == "unknown-run"
    assert town.http("GET", f"{RUNS}/{run}").code == "not-authenticated"
    assert town.http("GET", f"{RUNS}/{run}/board.svg").code == "run-not-over"
    assert events(person, run) == before


@pytest.mark.parametrize(
    ("wish", "code", "field"),
    [
        ({"level": "normal", "rotation": True}, "wrong-rules", "rotation"),
        ({"level": "custom", "rotation": True}, "wrong-rules", "dealing"),
        ({"level": "easy", "date": "2026-01-01"}, "wrong-rules", "date"),
        ({"level": "daily"}, "wrong-rules", "date"),
        ({"level": "daily", "board": "8x8", "date": "2026-01-01"}, "wrong-rules", "board"),
        ({"level": "extreme"}, "invalid", None),
        ({"level": "easy", "board": "7x7"}, "invalid", None),
        ({"level": "easy", "seed": "00"}, "invalid", None),
        ({"level": "daily", "date": "2026-02-30"}, "invalid", None),
        ({"level": "daily", "date": "2025-12-31"}, "unknown-daily", None),
        ({"level": "daily", "date": "9999-12-31"}, "unknown-daily", None),
        ({}, "invalid", None),
    ],
)
def test_rules_that_do_not_exist(person: Person, wish: Json, code: str, field: str | None) -> None:
    answer = person.http("POST", RUNS, wish)
    assert answer.code == code
    assert answer.json.get("field") == field


def test_a_repeated_start_gives_the_same_run(person: Person) -> None:
    first = person.http("POST", RUNS, {"level": "normal"}, Idempotency_Key=KEY)
    again = person.http("POST", RUNS, {"level": "normal"}, Idempotency_Key=KEY)
    assert (first.status, first.json) == (again.status, again.json)
    assert again.headers["Idempotent-Replay"] == "true"
    assert seen(person, first.json["run"])["status"] == "running"
    other = person.http("POST", RUNS, {"level": "hard"}, Idempotency_Key=KEY)
    assert other.code == "idempotency-key-reused"


def test_ones_runs_in_pages(town: Town) -> None:
    person = town.guest()
    runs = [begin(person, level="easy") for _ in range(5)]
    pages, address = [], f"{RUNS}?limit=2"
    while address:
        answer = person.http("GET", address).json
        pages.append([run["run"] for run in answer["runs"]])
        address = answer["next"]
    assert pages == [runs[:2:-1], runs[2:0:-1], runs[:1]]
    (running,) = person.http("GET", f"{RUNS}?status=running").json["runs"]
    assert (running["run"], running["key"]) == (runs[-1], "easy:10x10:off")
    abandoned = person.http("GET", f"{RUNS}?status=abandoned&limit=3").json
    assert "status=abandoned" in abandoned["next"]
    assert person.http("GET", abandoned["next"]).json["next"] is None
    assert town.guest().http("GET", f"{RUNS}?cursor={runs[0]}").code == "invalid-cursor"
    assert person.http("GET", f"{RUNS}?cursor=%00").code in {"invalid", "invalid-cursor"}
    for query in ("limit=0", "limit=101", "status=lost", "page=2", "limit=x"):
        assert person.http("GET", f"{RUNS}?{query}").code == "invalid"


def test_bests(town: Town) -> None:
    person = town.guest()
    scores = []
    for _ in range(2):
        run = begin(person)
        play_out(person, run)
        scores.append(seen(person, run)["state"]["score"])
    (best,) = person.http("GET", "/api/v1/puzzles/bests").json["bests"]
    assert (best["key"], best["score"], best["runs"]) == ("hard:8x8:off", max(scores), 2)


def test_pictures(town: Town, person: Person) -> None:
    run = begin(person)
    wish = legal(person, run)[0]
    plain = person.http("GET", f"{RUNS}/{run}/board.svg")
    assert plain.headers["Content-Type"] == "image/svg+xml"
    assert plain.body.startswith(b"<svg")
    again = person.http("GET", f"{RUNS}/{run}/board.svg", If_None_Match=plain.headers["ETag"])
    assert again.status == 304
    held = f"slot={wish['slot']}&at={wish['at']}&theme=contrast&hand=false&coordinates=false"
    pale = person.http("GET", f"{RUNS}/{run}/board.svg?{held}")
    assert b"is held over" in pale.body
    for query in ("theme=pink", "at=z9", "slot=3", "rotation=1&at=a1", "size=3"):
        assert person.http("GET", f"{RUNS}/{run}/board.svg?{query}").code == "invalid", query
    play_out(person, run)
    public = town.http("GET", f"{RUNS}/{run}/board.svg")
    assert public.status == 200
    assert "max-age" in public.headers["Cache-Control"]
    assert town.guest().http("GET", f"{RUNS}/{run}/record").json["seed"]


def test_a_record_while_it_runs_has_no_seed(person: Person) -> None:
    run = begin(person)
    place(person, run, legal(person, run)[0])
    answer = person.http("GET", f"{RUNS}/{run}/record")
    assert answer.json["seed"] is None
    assert answer.json["seed_hash"] == seen(person, run)["seed_hash"]
    assert answer.json["result"]["status"] == "running"
    assert answer.headers["Cache-Control"] == "private, no-cache"


def test_the_daily_puzzle(town: Town, person: Person) -> None:
    today = person.http("GET", "/api/v1/puzzles/daily").json
    date = today["date"]
    assert today == person.http("GET", f"/api/v1/puzzles/daily/{date}").json
    assert (today["closed"], today["seed"], today["run"]) == (False, None, None)
    assert today["leaderboard"] == f"daily:{date}"
    made = person.http("PUT", f"/api/v1/puzzles/daily/{date}/run")
    again = person.http("PUT", f"/api/v1/puzzles/daily/{date}/run")
    assert (made.status, again.status, made.json) == (201, 200, again.json)
    run = made.json["run"]
    assert person.http("GET", "/api/v1/puzzles/daily").json["run"] == run
    assert seen(person, run)["seed_hash"] == today["seed_hash"]
    play_out(person, run)
    assert seen(person, run)["seed"] is None
    assert person.http("POST", RUNS, {"level": "daily", "date": date}).code == "daily-open"
    assert town.guest().http("GET", f"{RUNS}/{run}/record").code == "run-not-over"
    assert person.http("GET", f"{RUNS}/{run}/record").json["seed"] is None


def test_past_days(person: Person) -> None:
    address = f"/api/v1/puzzles/daily/{FIRST}"
    day = person.http("GET", address).json
    assert (day["closed"], day["final"]) == (True, True)
    assert rules.seed_hash(bytes.fromhex(day["seed"])) == day["seed_hash"]
    assert person.http("PUT", f"{address}/run").code == "daily-closed"
    run = begin(person, level="daily", date=str(FIRST))
    assert seen(person, run)["counted"] is False
    assert person.http("GET", address).json["run"] is None


@pytest.mark.parametrize(
    "date", ["2027-02-29", "2026-1-1", "tomorrow", "9999-01-01", "0000-00-00", "%00"]
)
def test_dates_that_are_none(person: Person, date: str) -> None:
    assert person.http("GET", f"/api/v1/puzzles/daily/{date}").code == "unknown-daily"
    assert person.http("PUT", f"/api/v1/puzzles/daily/{date}/run").code == "unknown-daily"


def test_the_scope_that_is_needed(person: Person) -> None:
    run = begin(person)
    wish = legal(person, run)[0]
    _, token = person.other_token("profile")
    other = Person(person.town, person.name, token)
    assert other.http("POST", RUNS, HARD).code == "missing-scope"
    assert place(other, run, wish).code == "missing-scope"
    assert other.http("POST", f"{RUNS}/{run}/undo", {"turn": 0}).code == "missing-scope"
    assert other.http("PUT", "/api/v1/puzzles/daily/2026-01-01/run").code == "missing-scope"
    assert other.http("GET", f"{RUNS}/{run}").status == 200


def test_seeds_are_in_no_log(town: Town, person: Person) -> None:
    begin(person)
    town.http("GET", "/api/v1/puzzles/daily")
    seeds = town.cluster.query(
        "SELECT encode(seed, 'hex') FROM puzzle_run UNION SELECT encode(seed, 'hex') FROM puzzle_daily"
    )
    assert seeds
    log = town.web.log()
    assert not [seed for (seed,) in seeds if seed in log or json.dumps(seed) in log]
