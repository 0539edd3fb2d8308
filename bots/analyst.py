"""Who analyses a game: searches for what `bots.analysis` draws its conclusions from. For workers and commands only.

Each position is searched by itself, with the same chance and so many simulations. So nothing depends on the order in
which plies are looked at, nor on who does it: the same engine finds the same again.
"""

from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final

from bots import engine
from bots.analysis import DIGITS, Finding, Review, Step, review, steps
from bots.engine import VERSION, study
from games.territory.rules import Position, Record, Replay

_SOURCES: Final = [Path(__file__), *sorted(Path(engine.__file__).parent.glob("*.py"))]
ENGINE: Final = (
    f"Kado {VERSION} ({sha256(b''.join(path.read_bytes() for path in _SOURCES)).hexdigest()[:8]})"
)
"""Whose findings they are: the version, and a digest of the engine's sources."""


def look(step: Step, simulations: int) -> Finding:
    """Search one ply: the position before it, that after the best move, and that after the ply if nothing else does.

    The best move is searched like the one that was made, from the position after it, so that their values compare.
    """
    here = study(step.before, simulations)
    best, value = here.best, None
    assert best is not None
    if best != step.move:
        value = values(step.before.play(best), simulations)[step.seat]
    after = None if step.goes_on else values(step.after, simulations)
    return Finding(_rounded(here.values), best, value, after)


def values(position: Position, simulations: int) -> tuple[float, ...]:
    """What each seat may expect in a position."""
    return _rounded(study(position, simulations).values)


def end_of(replay: Replay) -> tuple[float, ...] | None:
    """The rewards of a game that has ended by its moves, or because seats left."""
    return values(replay.end, 1) if replay.end.is_over else None


def analyse(
    record: Record,
    simulations: int,
    watch: Callable[[Iterable[Finding], int], Iterable[Finding]] = lambda found, total: found,
) -> Review:
    """The analysis of a whole record; `watch` sees the findings go by, and how many there will be."""
    replay = record.replay()
    plies = steps(replay)
    findings = list(watch((look(step, simulations) for step in plies), len(plies)))
    return review(replay, findings, end_of(replay))


def _rounded(numbers: Iterable[float]) -> tuple[float, ...]:
    return tuple(round(number, DIGITS) for number in numbers)
