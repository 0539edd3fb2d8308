"""From the events of a game to its record: what `games.territory.rules` writes as JSON and as Blokus SGF."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from games.territory import events as ev
from games.territory.rules import Node, Record, Termination, parse_move, variant


def record_of(events: Iterable[tuple[ev.AnyEvent, int]]) -> Record:
    """The record of a game from all its events, each with its instant, the first one included.

    It has a result if the game is over. What was taken back is a variation of the main line. Everything in it has been
    replayed.
    """
    (started, at), *rest = events
    assert isinstance(started, ev.GameStarted)
    for_good = _replaced_for_good([event for event, _ in rest])
    on = variant(started.variant)
    nodes = [Node(-1, at=at, properties=_about(started))]
    last = 0  # the latest node of the line that stands
    plies: list[int] = []  # the nodes of its moves
    aborted = False
    for number, (event, at) in enumerate(rest):
        match event:
            case ev.MovePlayed():
                colour = on.colours.index(event.colour)
                nodes.append(Node(last, colour, parse_move(event.move, on), at=at))
                last = len(nodes) - 1
                plies.append(last)
            case ev.SeatLeft():
                left = ((event.seat, Termination(event.reason)),)
                nodes.append(Node(last, left=left, at=at))
                last = len(nodes) - 1
            case ev.SeatClaimed() if number in for_good:
                left = ((event.seat, Termination.REPLACED),)
                nodes.append(Node(last, left=left, at=at))
                last = len(nodes) - 1
            case ev.MovesUndone():
                last = nodes[plies[event.ply]].parent
                del plies[event.ply :]
            case ev.GameFinished():
                aborted = event.outcome.termination == "aborted"
    return Record(
        variant=on,
        nodes=_in_order(nodes, last),
        players=tuple(seat.player for seat in started.seats),
        date=f"{datetime.fromtimestamp((nodes[0].at or 0) / 1000, UTC):%Y-%m-%d}",
    ).with_result(aborted=aborted)


def _replaced_for_good(happened: Sequence[ev.AnyEvent]) -> set[int]:
    """The numbers of those events by which a CPU took a seat whose player never came back."""
    found: dict[int, int] = {}
    for number, event in enumerate(happened):
        if isinstance(event, ev.SeatClaimed) and event.level is not None:
            found[event.seat] = number
        elif isinstance(event, ev.SeatReturned):
            found.pop(event.seat, None)
    return set(found.values())


def _in_order(nodes: Sequence[Node], end: int) -> tuple[Node, ...]:
    """The nodes as they stand in a file: each before its followers, and the line that leads to `end` before others.

    What followed `end` and was taken back is left out: it would go on with that line.
    """
    main, number = set[int](), end
    while number >= 0:
        main.add(number)
        number = nodes[number].parent
    followers: list[list[int]] = [[] for _ in nodes]
    for number, node in enumerate(nodes[1:], 1):
        if node.parent != end:
            followers[node.parent].append(number)
    ordered: list[Node] = []
    todo = [(0, -1)]
    while todo:
        number, parent = todo.pop()
        ordered.append(replace(nodes[number], parent=parent))
        after = sorted(followers[number], key=lambda follower: follower in main, reverse=True)
        todo += [(follower, len(ordered) - 1) for follower in reversed(after)]
    return tuple(ordered)


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
