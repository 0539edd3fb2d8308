"""The names of the CPU levels and players, weakest first; how each plays stands in the engine."""

LEVELS = ("starter", "beginner", "intermediate", "advanced", "expert")

PUZZLE_PLAYERS = ("simple", "careful", "patient")
"""The kinds of players of the block puzzle, weakest first; the last one gives the hints."""
