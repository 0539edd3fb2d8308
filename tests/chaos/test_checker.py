"""The checker finds each planted fault, and nothing in a world that is all right."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.chaos.checker import PROMISED_MS, SLOWNESS_MS, judge
from tests.chaos.logs import Ack, Connected, Frame, Log, Resumed
from tests.chaos.record import EventRow, GameRow, Json, LedgerRow, Queues, Record, SeatRow

GAME, KEY, START = "Game00000001", "duo:blitz", 1_800_000_000_000
BEFORE = (1500.0, 500.0)
WON, LOST = (1658.1233695884298, 483.9540848126208), (1341.8766304115702, 483.9540848126208)
"""What openskill makes of two newcomers' game, found once and written down here."""


def a_world() -> tuple[Record, list[Log]]:
    """Ada (1) has beaten Ben (2) in a rated game; Cyd (3) waits. Ben lost his connection in the middle."""
    changes = [{"seat": 0, "mu_after": WON[0]}, {"seat": 1, "mu_after": LOST[0]}]
    bodies: list[Json] = [
        {"type": "game_started"},
        {"type": "move_played", "ply": 0},
        {"type": "move_played", "ply": 1},
        {"type": "game_finished"},
        {"type": "game_rated", "changes": changes},
    ]
    events = [EventRow(i, START + 100 * i, body) for i, body in enumerate(bodies, start=1)]
    record = Record(
        players={1: "Ada", 2: "Ben", 3: "Cyd"},
        games={GAME: GameRow(GAME, "duo", "duo-blitz", True, "finished", "completed", 5, True)},
        seats=[SeatRow(GAME, 0, 1, 1), SeatRow(GAME, 1, 2, 2)],
        events={GAME: events},
        ledger=[
            LedgerRow(7, GAME, 1, KEY, 1, 1, BEFORE, WON),
            LedgerRow(8, GAME, 2, KEY, 1, 2, BEFORE, LOST),
        ],
        ratings={(1, KEY): (*WON, 1), (2, KEY): (*LOST, 1)},
        inboxes={player: [_found(player - 1)] for player in (1, 2)},
        queues=Queues(
            tickets={3}, leases={3}, waiting={3: ["duo-blitz"]}, order={3: ["duo-blitz"]}
        ),
    )
    return record, [_ada(record), _ben(record)]


def _found(seat: int) -> EventRow:
    return EventRow(1, START, {"type": "match_found", "game": GAME, "seat": seat})


def _frame(stream: str, row: EventRow, late: int = 20) -> Frame:
    return Frame("event", stream, row.version, row.at, row.at + late, row.event)


def _ada(record: Record) -> Log:
    log = Log("Ada", [Connected(START - 50, 0), _frame("inbox", record.inboxes[1][0])])
    log.entries.append(Frame("snapshot", f"game:{GAME}", 1, 0, START + 110, {}))
    log.entries += [_frame(f"game:{GAME}", row) for row in record.events[GAME][1:]]
    log.acks.append(Ack(GAME, 0, 2))
    return log


def _ben(record: Record) -> Log:
    """Cut off while the match was found; the inbox came once live and once more with what was missing."""
    inbox = record.inboxes[2]
    inbox.append(EventRow(2, START + 9_000, {"type": "game_ended"}))
    inbox.append(EventRow(3, START + 9_500, {"type": "game_ended"}))
    log = Log("Ben", [Connected(START - 50, 0), _frame("inbox", inbox[0])])
    log.entries.append(Frame("snapshot", f"game:{GAME}", 2, 0, START + 210, {}))
    log.entries.append(Connected(START + 9_100, 2))
    log.entries += [_frame(f"game:{GAME}", row, 8_900) for row in record.events[GAME][2:]]
    log.entries += [
        _frame("inbox", inbox[2]),
        _frame("inbox", inbox[1], 600),
        _frame("inbox", inbox[2]),
    ]
    log.entries.append(Resumed("inbox", START + 9_600))
    log.acks.append(Ack(GAME, 1, 3))
    return log


WISHES = {"Ada": 1, "Ben": 1, "Cyd": 1}


def test_a_world_that_is_all_right_has_no_findings() -> None:
    record, logs = a_world()
    verdict = judge(record, logs, wishes=WISHES)
    assert verdict.findings == []
    assert verdict.figures["acknowledged moves"] == 2
    assert verdict.figures["worst ms from commit"] < 1_000


Fault = Callable[[Record, Log, Log], object]


def _game(record: Record) -> GameRow:
    return record.games[GAME]


def _second_game(record: Record) -> None:
    """Ada sits in another live game of the pool, of which she was told."""
    for number in ("Game00000002", "Game00000003"):
        record.games[number] = replace(
            _game(record), id=number, status="started", settled=False, version=0
        )
        record.seats += [SeatRow(number, 0, 1, None), SeatRow(number, 1, 3, None)]


def _late(record: Record, ada: Log, ben: Log) -> None:
    last = ada.entries[-1]
    assert isinstance(last, Frame)
    ada.entries[-1] = replace(last, received=last.at + PROMISED_MS + SLOWNESS_MS + 1)


def _changed(record: Record, ada: Log, ben: Log) -> None:
    last = ada.entries[-1]
    assert isinstance(last, Frame)
    ada.entries[-1] = replace(last, body={"type": "game_rated", "changes": []})


def _move_lost(record: Record, ada: Log, ben: Log) -> None:
    record.events[GAME][2] = EventRow(3, START + 300, {"type": "colours_out"})


FAULTS: dict[str, tuple[str, Fault]] = {
    "acknowledged and not kept": ("I1", _move_lost),
    "acknowledged at another version": ("I1", lambda r, a, b: a.acks.append(Ack(GAME, 0, 3))),
    "a ply twice": ("I1", lambda r, a, b: r.events[GAME][2].event.update(ply=0)),
    "an event missing in the table": ("I1", lambda r, a, b: r.events[GAME].pop(1)),
    "a seat missing": ("I2", lambda r, a, b: r.seats.pop()),
    "a player on both seats": ("I2", lambda r, a, b: r.seats.append(SeatRow(GAME, 2, 1, None))),
    "two live games": ("I2", lambda r, a, b: _second_game(r)),
    "still engaged": ("I2", lambda r, a, b: r.engagements.append((1, GAME))),
    "not engaged": ("I2", lambda r, a, b: setattr(_game(r), "settled", False)),
    "engaged without a seat": ("I2", lambda r, a, b: r.engagements.append((3, GAME))),
    "told twice": ("I2", lambda r, a, b: r.inboxes[1].append(_found(0))),
    "told of nothing": ("I2", lambda r, a, b: r.inboxes.pop(1)),
    "told of another's game": ("I2", lambda r, a, b: r.inboxes.update({3: [_found(0)]})),
    "a ticket left": ("I3", lambda r, a, b: r.queues.tickets.add(1)),
    "a lease left": ("I3", lambda r, a, b: r.queues.leases.add(1)),
    "a place in a pool left": ("I3", lambda r, a, b: r.queues.waiting.update({1: ["duo-blitz"]})),
    "waiting and claimed": ("I3", lambda r, a, b: r.queues.claimed.update({3: "claim"})),
    "a claim left": ("I3", lambda r, a, b: r.queues.claims.add("claim")),
    "neither waiting nor matched": ("I3", lambda r, a, b: setattr(r, "queues", Queues())),
    "plays and waits": ("I3", lambda r, a, b: r.engagements.append((3, GAME))),
    "an event not sent": ("I4", lambda r, a, b: a.entries.pop(3)),
    "the last event not sent": ("I4", lambda r, a, b: a.entries.pop()),
    "an event sent twice": ("I4", lambda r, a, b: a.entries.append(a.entries[-1])),
    "two events in the wrong order": ("I4", lambda r, a, b: a.entries.insert(3, a.entries.pop(4))),
    "the inbox not sent": ("I4", lambda r, a, b: a.entries.pop(1)),
    "an inbox item twice": ("I4", lambda r, a, b: b.entries.append(b.entries[-2])),
    "back to an old snapshot": (
        "I4",
        lambda r, a, b: a.entries.append(Frame("snapshot", f"game:{GAME}", 4, 0, START + 600, {})),
    ),
    "late": ("I4", _late),
    "other words than the table's": ("I4", _changed),
    "a ledger row missing": ("I6", lambda r, a, b: r.ledger.pop()),
    "a ledger row twice": ("I6", lambda r, a, b: r.ledger.append(replace(r.ledger[0], sequence=2))),
    "a rating that is not its ledger": (
        "I6",
        lambda r, a, b: r.ratings.update({(1, KEY): (*BEFORE, 1)}),
    ),
    "no rating for a ledger": ("I6", lambda r, a, b: r.ratings.pop((2, KEY))),
    "a ledger that is wrong": (
        "I6",
        lambda r, a, b: r.ledger.insert(0, replace(r.ledger.pop(0), after=(1700.0, 400.0))),
    ),
    "rated though aborted": ("I6", lambda r, a, b: setattr(_game(r), "status", "aborted")),
    "never ended": ("I7", lambda r, a, b: setattr(_game(r), "status", "started")),
    "ended and not settled": ("I7", lambda r, a, b: setattr(_game(r), "settled", False)),
    "no word of the end": ("I7", lambda r, a, b: r.events[GAME].pop(3)),
}


@pytest.mark.parametrize(("promise", "plant"), FAULTS.values(), ids=FAULTS.keys())
def test_a_planted_fault_is_found(promise: str, plant: Fault) -> None:
    record, logs = a_world()
    plant(record, *logs)
    assert promise in judge(record, logs, wishes=WISHES).broken()
