"""The names of the CPU levels, weakest first; how each plays stands in the engine."""

LEVELS = ("starter", "beginner", "intermediate", "advanced", "expert")
