"""The events that bots write into a player's inbox."""

import msgspec


class HintGiven(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="hint_given"):
    """The strongest CPU's move for the colour that is to move at `ply`."""

    game: str
    ply: int
    colour: str
    piece: str
    move: str
    hints_left: int


class AnalysisReady(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="analysis_ready"
):
    """The analysis of a game is there."""

    game: str
    plies: int


class RunHintGiven(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="run_hint_given"
):
    """A placement for turn number `turn` of a block puzzle's run: as `run.place` wants it, and what it would do."""

    run: str
    turn: int
    slot: int
    rotation: int
    at: str
    cells: list[str]
    """What it would cover."""
    lines: list[str]
    """What it would clear."""
