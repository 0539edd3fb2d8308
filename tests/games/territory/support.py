"""What the tests of games share: games that begin, moves to make, and the promise that events carry everything."""

import json
import random
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import msgspec

from common.streams import Note
from examples.kado_client import fold as client_fold
from games.territory import decide as de
from games.territory import events as ev
from games.territory import state as st
from games.territory.decide import Decision
from games.territory.rules import TimeControl, variant
from games.territory.snapshot import snapshot
from games.territory.state import GameState

NOW = 1_800_000_000_123
BLITZ = TimeControl.realtime(120_000, 2_000)
NO_CLOCK = TimeControl.none()
DAYS = TimeControl.correspondence(2)
Json = dict[str, Any]


def begin(
    key: str = "duo", control: TimeControl = BLITZ, *, rated: bool = True, now: int = NOW
) -> GameState:
    """A new game; its first event has been to the wire and back."""
    on = variant(key)
    seats = [
        ev.SeatData(
            seat=seat,
            player=f"Player{seat}",
            kind="registered",
            colours=[on.colours[colour] for colour in on.colours_of(seat)],
            rating="1500?",
        )
        for seat in range(on.seats)
    ]
    state, started = st.start(
        game="Game00000001",
        variant=on,
        control=control,
        seats=seats,
        rated=rated,
        pool="p",
        now=now,
    )
    assert st.restore([(ev.decode(ev.encode(started)), now)]) == state
    return state


def begin_alone(
    key: str = "duo", control: TimeControl = NO_CLOCK, cpus: Collection[int] = ()
) -> GameState:
    """A new unrated game in which one person has every seat but those of CPUs."""
    state = begin(key, control, rated=False)
    seats = [
        msgspec.structs.replace(
            seat,
            player="CPU-starter" if seat.seat in cpus else "Ada",
            level="starter" if seat.seat in cpus else None,
        )
        for seat in state.started.seats
    ]
    started = msgspec.structs.replace(state.started, seats=seats, pool=None)
    return msgspec.structs.replace(state, started=started)


def a_move(state: GameState, chance: random.Random | None = None) -> str:
    """A legal move of the colour to move; the first one if there is no chance."""
    masks = list(state.position.legal())
    return (chance.choice(masks) if chance else masks[0]).text


def next_move(state: GameState, chance: random.Random | None = None) -> de.PlayMove:
    """The seat to move makes a legal move."""
    seat = state.position.seat_to_move
    assert seat is not None
    return de.PlayMove(seat, state.ply, a_move(state, chance))


def after_moves(state: GameState, count: int, *, now: int = NOW, every: int = 1_000) -> GameState:
    """The game after so many moves, each so many milliseconds after the one before."""
    for number in range(count):
        state = accepted(state, next_move(state), now + (number + 1) * every).state
    return state


def accepted(state: GameState, command: de.Command, now: int) -> Decision:
    """Decide, and check what is true of every decision: see `assert_consistent`."""
    decision = de.decide(state, command, now)
    assert_consistent(state, decision, now)
    return decision


def assert_consistent(before: GameState, decision: Decision, now: int) -> None:
    """Folding the events, which have been to the wire and back, gives the decided state; and so do clients."""
    after = decision.state
    wire = [ev.encode(event) for event in decision.events]
    assert st.fold(before, [(ev.decode(text), now) for text in wire]) == after
    assert after.version == before.version + len(wire)
    assert_snapshot_follows(view(before), [json.loads(text) for text in wire], view(after))
    if decision.events and decision.refusal is None:
        assert decision.version == before.version + 1


def view(state: GameState) -> Json:
    """The snapshot as a client reads it."""
    answer: Json = json.loads(msgspec.json.encode(snapshot(state)))
    return answer


def assert_snapshot_follows(old: Json, events: Iterable[Json], fresh: Json) -> None:
    """I5: an old snapshot and the events after it give the fresh snapshot, to a client that knows no rules."""
    for version, event in enumerate(events, start=old["version"] + 1):
        old = client_fold(old, version, event)
    assert old == fresh


def assert_stream_tells_all(notes: Sequence[Note], fresh: Json) -> None:
    """The notes of a game are versions 1, 2, 3 …, and from each one the rest leads to the fresh snapshot."""
    assert [note.version for note in notes] == list(range(1, len(notes) + 1))
    decoded = [(ev.decode(note.payload), note.at) for note in notes]
    plain = [json.loads(note.payload) for note in notes]
    for cursor in range(1, len(notes) + 1):
        old = view(st.restore(decoded[:cursor]))
        assert_snapshot_follows(old, plain[cursor:], fresh)
