"""A run at this computer, with what its record will say."""

from pathlib import Path

from common.commands import replace_file
from games.puzzle.rules import (
    Block,
    Placed,
    Record,
    Result,
    Rules,
    Run,
    place,
    seed_hash,
    start,
    take_back,
    write_json,
)
from games.puzzle.rules.record import Command, Place, TakeBack


class Session:
    """A run that is kept in a file after every command, if there is one."""

    def __init__(self, rules: Rules, seed: bytes, file: Path | None) -> None:
        self.seed = seed
        self.file = file
        self.run: Run = start(rules, seed)
        self.first_hand: tuple[Block, ...] = tuple(block for block in self.run.hand if block)
        self.commands: list[Command] = []
        self.save("running")

    def place(self, slot: int, rotation: int, at: str) -> Placed:
        """Place a block; raises what the rules raise."""
        self.run, placed = place(self.run, self.seed, slot, rotation, at)
        self._did(Place.of(slot, rotation, at, placed))
        return placed

    def take_back(self) -> None:
        """Take the latest placement back; raises what the rules raise."""
        self.run = take_back(self.run)
        self._did(TakeBack())

    def record(self, status: str) -> Record:
        return Record(
            rules=self.run.rules,
            seed=self.seed,
            commands=tuple(self.commands),
            hand=self.first_hand,
            result=Result.of(self.run, status),
            seed_hash=seed_hash(self.seed),
        )

    def save(self, status: str) -> None:
        """Write the record; raises `CommandError` with the status 2."""
        if self.file is not None:
            replace_file(self.file, write_json(self.record(status)))

    def _did(self, command: Command) -> None:
        self.commands.append(command)
        self.save("running")


def told(placed: Placed) -> str:
    """What a placement brought, in one line."""
    parts = [f"+{placed.total}"]
    if placed.lines:
        lines = placed.points[-1]
        parts.append(f"cleared {', '.join(placed.lines)} (×{lines.multiplier})")
    if placed.dealt:
        parts.append("a new hand")
    if placed.over:
        parts.append("no moves left")
    return "; ".join(parts)
