"""What chooses a CPU's move. Pure, and imported by workers, commands and benchmarks only: never by a web process.

The first import compiles, for half a minute; the code is kept for later ones (see `cache`).
"""

from typing import Final

from bots.engine.cache import is_filled, keep_compiled_code

VERSION = "0.1.0"
"""Kado's."""
FOLDER = keep_compiled_code()
"""Where the compiled code is."""

COMPILES: Final = not is_filled(FOLDER)
"""Whether this process has to compile: nothing was there when it began."""

from bots.engine import block_player, player  # noqa: E402  (compiled code finds its folder first)
from bots.engine.block_player import BlockPlayer, Choice  # noqa: E402
from bots.engine.means import Study, study  # noqa: E402
from bots.engine.player import Player, Thought, choose  # noqa: E402

__all__ = [
    "COMPILES",
    "FOLDER",
    "VERSION",
    "BlockPlayer",
    "Choice",
    "Player",
    "Study",
    "Thought",
    "choose",
    "prepare",
    "study",
]


def prepare() -> float:
    """Compile everything, or load it compiled, so that no move waits for it; gives the seconds that it took."""
    return player.prepare() + block_player.prepare()
