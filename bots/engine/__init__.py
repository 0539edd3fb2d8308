"""What chooses a CPU's move. Pure, and imported by workers, commands and benchmarks only: never by a web process.

The first import compiles, for half a minute; the code is kept for later ones (see `cache`).
"""

from typing import Final

from bots.engine.cache import is_filled, keep_compiled_code

FOLDER = keep_compiled_code()
"""Where the compiled code is."""

COMPILES: Final = not is_filled(FOLDER)
"""Whether this process has to compile: nothing was there when it began."""

from bots.engine.player import Player, Thought, choose, prepare  # noqa: E402  (compiled code finds its folder first)

__all__ = ["COMPILES", "FOLDER", "Player", "Thought", "choose", "prepare"]
