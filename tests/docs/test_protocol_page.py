"""docs/protocol.md: its frames are decoded with the server's types, its tables compared with the code."""

import inspect
import json
import re
from functools import cache
from typing import Any

import msgspec
import pytest

from accounts import states as accounts
from accounts.events import (
    BanLifted,
    Banned,
    FriendAccepted,
    FriendRequested,
    GameAnnulled,
    GameRestored,
    ReportClosed,
    Warned,
)
from accounts.rules import Scope
from bots.events import AnalysisReady, HintGiven, RunHintGiven
from bots.services.hints import PATIENCE_MS
from common import states
from common.errors import KadoError
from config import following, frames, socket, sockets
from config.problems import document
from games.puzzle import events as puzzle_events
from games.puzzle import snapshot as puzzle_snapshot
from games.territory import errors, featured, listing, present, snapshot, state, watching
from games.territory import events as ev
from games.territory.events import GameEnded
from games.territory.waiting import TurnReminder, YourTurn
from matchmaking import states as pool_states
from matchmaking.events import (
    ChallengeAccepted,
    ChallengeEnded,
    ChallengeReceived,
    MatchFound,
    RoomLeft,
    RoomStarted,
)
from matchmaking.serializers.tables import RoomSerializer
from tests.docs.pages import CODE, codes, page
from tests.docs.test_rooms_page import ROOM

PAGE = page("docs/protocol.md")
GAME_EVENTS: tuple[type[msgspec.Struct], ...] = ev.AnyEvent.__args__
RUN_EVENTS: tuple[type[msgspec.Struct], ...] = puzzle_events.AnyEvent.__args__
INBOX_EVENTS: tuple[type[msgspec.Struct], ...] = (
    MatchFound,
    YourTurn,
    TurnReminder,
    GameEnded,
    HintGiven,
    AnalysisReady,
    RunHintGiven,
    RoomStarted,
    RoomLeft,
    ChallengeReceived,
    ChallengeAccepted,
    ChallengeEnded,
    GameAnnulled,
    GameRestored,
    FriendRequested,
    FriendAccepted,
    Banned,
    BanLifted,
    Warned,
    ReportClosed,
)
PARTS: dict[str, type[msgspec.Struct]] = {
    "friend": accounts.FriendData,
    "band": pool_states.BandData,
    "window": pool_states.WindowData,
    "turn": ev.Turn,
    "time_control": ev.TimeControlData,
    "seat": ev.SeatData,
    "outcome": ev.OutcomeData,
    "seat_result": ev.SeatResult,
    "rating_change": ev.RatingData,
    "snapshot": snapshot.Snapshot,
    "colour": ev.ColourData,
    "ply": snapshot.PlyView,
    "leaver": snapshot.LeaverView,
    "live_game": listing.LiveGameView,
    "seat_presence": present.SeatPresence,
    "undo_wish": snapshot.UndoView,
    "run_snapshot": puzzle_snapshot.Snapshot,
    "run_rules": puzzle_events.RulesData,
    "run_state": puzzle_events.StateData,
    "hand_block": puzzle_events.BlockData,
    "run_points": puzzle_events.PointsData,
    "run_statistics": puzzle_events.StatisticsData,
    "run_end": puzzle_events.EndData,
}
STATES: dict[str, type[msgspec.Struct]] = {
    "watchers": watching.WatchersState,
    "presence": present.PresenceView,
    "featured": watching.FeaturedState,
    "friends": accounts.FriendsData,
    "pool": pool_states.PoolData,
    "inbox-read": accounts.InboxReadData,
}


def _tag(struct: type[msgspec.Struct]) -> str:
    return str(struct.__struct_config__.tag)


EVENTS = (*GAME_EVENTS, *RUN_EVENTS, *INBOX_EVENTS)
DESCRIBED = {_tag(struct): struct for struct in EVENTS} | PARTS | STATES


@cache
def _lines() -> list[tuple[str, str]]:
    """Every frame on the page, with who sends it."""
    lines = [line for block in PAGE.blocks("frames") for line in block.splitlines()]
    return [(line[0], line[2:]) for line in lines]


def _sent(kind: str) -> list[Any]:
    decoded = [json.loads(text) for side, text in _lines() if side == "S"]
    return [frame for frame in decoded if frame["type"] == kind]


@pytest.mark.parametrize("name", DESCRIBED)
def test_the_table_of_each_event_and_part_has_its_fields_in_order(name: str) -> None:
    title = f"`{name}`"
    fields = [field.encode_name for field in msgspec.structs.fields(DESCRIBED[name])]
    assert [codes(row)[0] for row in PAGE.rows(title)] == fields


def test_nothing_is_described_that_does_not_exist() -> None:
    assert set(re.findall(r"^#### `([\w-]+)`$", PAGE.prose, re.MULTILINE)) == DESCRIBED.keys()


def test_every_line_says_who_sends_it() -> None:
    assert {side for side, _ in _lines()} == {"C", "S"}
    kinds = {json.loads(text)["type"] for side, text in _lines() if side == "S"}
    assert kinds == {"hello", "reply", "snapshot", "event", "state"}


def test_what_clients_send_is_understood() -> None:
    for side, text in _lines():
        if side == "C":
            assert json.loads(frames.encode(msgspec.to_builtins(frames.decode(text))))


def test_every_command_has_its_row_with_its_fields_and_scope() -> None:
    rows = {codes(row)[0]: row for row in PAGE.rows("Commands and replies")}
    commands: tuple[type[frames.Command], ...] = frames.AnyCommand.__args__
    assert rows.keys() == {_tag(command) for command in commands}
    for command in commands:
        row = rows[_tag(command)]
        own = {field.encode_name for field in msgspec.structs.fields(command)} - {"id"}
        assert own == set(CODE.findall(row[1])) - {"id", "auth"}
        needs = [scope for scope in Scope if command in _commands_that_need(scope)]
        assert row[2] == (f"`{needs[0]}`" if needs else "–")


def _commands_that_need(scope: str) -> set[type[frames.Command]]:
    cases = inspect.getsource(socket.Socket._answer).split("case ")[1:]
    return {
        getattr(frames, name)
        for case in cases
        if f'caller.require("{scope}")' in case
        for name in re.findall(r"(\w+)\(\)", case.partition(":")[0])
    }


def test_events_of_games_are_the_servers() -> None:
    seen = set()
    for frame in _sent("event"):
        if frame["stream"].startswith("game:"):
            event = ev.decode(json.dumps(frame["event"]))
            assert json.loads(ev.encode(event)) == frame["event"]
            seen.add(type(event))
    assert seen == set(GAME_EVENTS)


def test_events_of_runs_are_the_servers() -> None:
    seen = set()
    for frame in _sent("event"):
        if frame["stream"].startswith("run:"):
            event = puzzle_events.decode(json.dumps(frame["event"]))
            assert json.loads(puzzle_events.encode(event)) == frame["event"]
            seen.add(type(event))
    assert seen == set(RUN_EVENTS)


def test_events_of_the_inbox_are_the_servers() -> None:
    kinds = {_tag(struct): struct for struct in INBOX_EVENTS}
    seen = set()
    for frame in _sent("event"):
        if frame["stream"] == "inbox":
            event = msgspec.convert(frame["event"], kinds[frame["event"]["type"]])
            assert msgspec.to_builtins(event) == frame["event"]
            seen.add(type(event))
    assert seen == set(INBOX_EVENTS)


@pytest.mark.parametrize(
    ("kind", "struct"), [("game", snapshot.Snapshot), ("run", puzzle_snapshot.Snapshot)]
)
def test_the_snapshots_are_the_servers(
    kind: str, struct: type[snapshot.Snapshot | puzzle_snapshot.Snapshot]
) -> None:
    (frame,) = [each for each in _sent("snapshot") if each["stream"].startswith(f"{kind}:")]
    view = msgspec.convert(frame["snapshot"], struct)
    assert msgspec.to_builtins(view) == frame["snapshot"]
    assert frame["version"] == view.version


def test_states_of_rooms_are_the_servers() -> None:
    shown = [frame["state"] for frame in _sent("state") if frame["stream"].startswith("room:")]
    assert shown
    for room in shown:
        form = RoomSerializer(data=room)
        assert form.is_valid(), form.errors
        assert list(room) == list(ROOM)


def test_the_states_are_the_servers() -> None:
    seen = {"room"}
    for frame in _sent("state"):
        kind = frame["stream"].partition(":")[0]
        if kind == "room":
            continue
        decoded = msgspec.json.decode(json.dumps(frame), type=states.Frame)
        state = msgspec.json.decode(decoded.state, type=STATES[kind])
        assert msgspec.to_builtins(state) == frame["state"]
        seen.add(kind)
    assert seen == STATES.keys() | {"room"} == set(states.prefixes())


def test_problems_are_those_of_the_errors() -> None:
    problems = [frame["problem"] for frame in _sent("reply") if "problem" in frame]
    assert problems
    for problem in problems:
        stale = errors.StalePlyError(problem["detail"], version=2, ply=1)
        assert problem == document(stale)


def test_problem_documents_elsewhere_are_those_of_the_errors() -> None:
    (text,) = page("docs/errors.md").blocks("json")
    problem = json.loads(text)
    error: KadoError = errors.StalePlyError(problem["detail"], version=2, ply=1)
    assert problem == document(error)


def test_the_close_codes() -> None:
    assert [int(row[0]) for row in PAGE.rows("Close codes")] == [
        code.value for code in sockets.Close
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        f"at most {socket.MAX_FRAME:,} bytes from a client",
        f"| a frame from the client | {socket.MAX_FRAME:,} bytes | closed with 4413",
        f"in a first frame within {socket.AUTH_SECONDS:.0f} seconds",
        f"| signing in | within {socket.AUTH_SECONDS:.0f} s | closed with 4401 |",
        f"| {socket.BURST:.0f} at once, {socket.SUSTAINED:.0f} a second for long | closed with 4429 |",
        f"| streams followed, the inbox included | {following.MAX_SUBSCRIPTIONS} |",
        f"| {socket.MAX_OUTGOING:,} | closed with 4409 |",
        f"when more than {following.MAX_MISSING} are missing",
        f"| {sockets.SILENT_MS / 1000:.0f} s | closed with 4408;",
        f"which happens every {sockets.WARD_SECONDS:.0f} seconds",
        f"now {frames.PROTOCOL}.",
        f"at most {state.FIRST_MOVE_MS / 1000:.0f} seconds away",
        f"At most {state.MAX_UNDONE} undos a game.",
        f"{featured.SPECTATOR_POINTS} points for each of its `watchers`, {featured.MOST_SPECTATORS} of them at most",
        f"Only the {watching.CANDIDATES} strongest are looked at.",
        f"after {PATIENCE_MS / 1000:.0f} seconds it is looked for anew",
    ],
)
def test_limits(sentence: str) -> None:
    assert sentence in " ".join(PAGE.prose.split())
