"""From a run and its events to its record: what `games.puzzle.rules` writes as JSON and replays."""

from collections.abc import Iterable
from datetime import date

from games.puzzle import events as ev
from games.puzzle import rules


def record_of(
    events: Iterable[ev.AnyEvent],
    run: rules.Run,
    *,
    status: str,
    day: date | None,
    seed: bytes | None,
) -> rules.Record:
    """The record of a run from all its events and its latest state; `seed` is None as long as it is secret."""
    rest = iter(events)
    started = next(rest)
    assert isinstance(started, ev.RunStarted)
    commands: list[rules.Command] = []
    for event in rest:
        match event:
            case ev.BlockPlaced():
                points = sum(each.points for each in event.points)
                dealt = tuple(map(rules.Block.read, event.dealt))
                commands.append(rules.Place(event.slot, event.rotation, event.at, points, dealt))
            case ev.PlacementUndone():
                commands.append(rules.TakeBack())
    return rules.Record(
        rules=run.rules,
        seed=seed,
        commands=tuple(commands),
        hand=tuple(rules.Block.read(block.block) for block in started.state.hand if block),
        date=day,
        result=rules.Result.of(run, status),
        seed_hash=started.seed_hash,
        generator=started.generator,
    )
