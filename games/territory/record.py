"""From the events of a game to its record: what `games.territory.rules` writes as JSON and as Blokus SGF."""

from collections.abc import Iterable
from datetime import UTC, datetime

from games.territory import events as ev
from games.territory.rules import Node, Record, Termination, parse_move, variant


def record_of(events: Iterable[tuple[ev.AnyEvent, int]]) -> Record:
    """The record of a game from all its events, each with its instant, the first one included.

    It has a result if the game is over. Everything in it has been replayed.
    """
    rest = iter(events)
    started, at = next(rest)
    assert isinstance(started, ev.GameStarted)
    on = variant(started.variant)
    nodes = [Node(-1, at=at, properties=_about(started))]
    aborted = False
    for event, at in rest:
        match event:
            case ev.MovePlayed():
                colour = on.colours.index(event.colour)
                nodes.append(Node(len(nodes) - 1, colour, parse_move(event.move, on), at=at))
            case ev.SeatLeft():
                left = ((event.seat, Termination(event.reason)),)
                nodes.append(Node(len(nodes) - 1, left=left, at=at))
            case ev.GameFinished():
                aborted = event.outcome.termination == "aborted"
    return Record(
        variant=on,
        nodes=tuple(nodes),
        players=tuple(seat.player for seat in started.seats),
        date=f"{datetime.fromtimestamp((nodes[0].at or 0) / 1000, UTC):%Y-%m-%d}",
    ).with_result(aborted=aborted)


def _about(started: ev.GameStarted) -> dict[str, tuple[str, ...]]:
    """What SGF can say about a game besides who plays it, in its own properties."""
    control = started.time_control
    kind = "rated" if started.rated else "casual"
    event = f"{kind}, {started.pool}" if started.pool else kind
    about: dict[str, tuple[str, ...]] = {"GN": (started.game,), "EV": (event,)}
    match control.kind:
        case "realtime":
            about["TM"] = (f"{control.initial_ms / 1000:g}",)
            if control.increment_ms:
                about["OT"] = (f"{control.increment_ms / 1000:g} seconds more for each move",)
        case "correspondence":
            about["OT"] = (f"{control.initial_ms / 1000:g} seconds for each move",)
    return about
