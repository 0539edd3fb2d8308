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
