"""A run as clients get it, and the commands that change it: pure, from the rules to what goes over the wire."""

from typing import Literal

from msgspec import Struct

from games.puzzle import events as ev
from games.puzzle import rules


class Snapshot(Struct, frozen=True):
    """A run at `version`. `end` is null while it is running, `seed` until it is revealed."""

    run: str
    version: int
    player: str
    rules: ev.RulesData
    date: str | None
    counted: bool
    generator: str
    seed_hash: str
    status: Literal["running", "over", "abandoned", "closed"]
    started_at: str
    state: ev.StateData
    end: ev.EndData | None
    seed: str | None


class Placing(Struct, frozen=True):
    """The command to place a block: an answer to turn number `turn`."""

    turn: int
    slot: int
    rotation: int
    at: str

    def decide(self, run: rules.Run, seed: bytes) -> tuple[rules.Run, ev.BlockPlaced]:
        """The run after it and what happened, an end left to be added. Raises the errors of the rules."""
        after, placed = rules.place(run, seed, self.slot, self.rotation, self.at)
        return after, ev.BlockPlaced(
            turn=self.turn,
            slot=self.slot,
            rotation=self.rotation,
            at=self.at,
            block=placed.block.text,
            cells=list(placed.cells),
            lines=list(placed.lines),
            cleared=list(placed.cleared),
            points=[
                ev.PointsData(each.reason, each.count, each.multiplier, each.points)  # type: ignore[arg-type]
                for each in placed.points
            ],
            dealt=[block.text for block in placed.dealt],
            state=state_of(after),
            end=None,
        )

    def is_told_by(self, event: ev.AnyEvent) -> bool:
        """Whether the event is what came of this command."""
        return isinstance(event, ev.BlockPlaced) and self == Placing(
            event.turn, event.slot, event.rotation, event.at
        )


class TakingBack(Struct, frozen=True):
    """The command to take the latest placement back: an answer to turn number `turn`."""

    turn: int

    def decide(self, run: rules.Run, seed: bytes) -> tuple[rules.Run, ev.PlacementUndone]:
        """The run after it and what happened. Raises the errors of the rules."""
        after = rules.take_back(run)
        return after, ev.PlacementUndone(self.turn, state_of(after))

    def is_told_by(self, event: ev.AnyEvent) -> bool:
        """Whether the event is what came of this command."""
        return isinstance(event, ev.PlacementUndone) and event.turn == self.turn


def rules_of(of: rules.Rules) -> ev.RulesData:
    """Rules as the wire has them."""
    return ev.RulesData(key=of.key, size=of.board.size, **of.as_dict())


def state_of(run: rules.Run) -> ev.StateData:
    """What there is to draw of a run."""
    figures = run.statistics
    return ev.StateData(
        turn=run.turn,
        board=list(run.rules.board.rows(run.board)),
        hand=[
            None if block is None else ev.BlockData(block.text, list(block.cells), fits)
            for block, fits in zip(run.hand, rules.fits(run), strict=True)
        ],
        score=run.score,
        streak=run.streak,
        streak_at_risk=run.streak_at_risk,
        undos_left=int(run.rules.undo == "once" and not run.undo_used),
        statistics=ev.StatisticsData(
            placements=figures.placements,
            squares=figures.squares,
            lines=figures.lines,
            largest_clear=figures.largest_clear,
            longest_streak=figures.longest_streak,
        ),
    )
