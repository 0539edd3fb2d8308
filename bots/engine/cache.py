"""Where compiled code is kept between runs; imported before anything is compiled.

Numba notices that a function's own file has changed, but not a file that it calls.  So each state of the compiled
sources has a folder of its own.
"""

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Final

import numba

import games.polyomino

COMPILED: Final = (
    "tables",
    "kernel",
    "weigh",
    "search",
    "solo",
    "block_tables",
    "block_kernel",
    "block_search",
)
SOURCES: Final = [
    *(Path(__file__).with_name(f"{name}.py") for name in COMPILED),
    Path(games.polyomino.__file__),
]


def cache_folder() -> Path:
    """The folder for this state of the sources: in ``KADO_KERNELS``, or in the user's cache."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in SOURCES)).hexdigest()[:12]
    given = os.environ.get("KADO_KERNELS", "")
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return (Path(given) if given else caches / "kado" / "kernels") / digest


def keep_compiled_code() -> Path:
    """Let Numba keep its code in that folder, or in a temporary one if neither can be written nor read."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        if not folder.is_dir():
            folder = Path(tempfile.mkdtemp(prefix="kado-kernels-"))
    numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]  # it reads the environment into itself
    return folder


def is_filled(folder: Path) -> bool:
    """Whether something has been compiled into it."""
    return any(folder.rglob("*.nbi"))
