"""What chooses a CPU's move. Pure, and imported by workers, commands and benchmarks only: never by a web process."""

from bots.engine.levels import choose

__all__ = ["choose"]
