"""A coverage-guided fuzzer over the readers of the rules: `make fuzz`, or `python -m tests.fuzz.breed --help`.

It breeds texts from the recorded games and from moves, and keeps those that reach new code. A text that breaks a
promise of tests/fuzz/texts.py is written to a file, and the exit status is not 0.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["games", "tests.fuzz.texts"]):
    from games.territory.rules import read_sgf, write_json
    from tests.fuzz.texts import check_json, check_move, check_sgf

REFERENCE = Path(__file__).parents[1] / "reference" / "territory"
CHECKS: dict[str, Callable[[Any], bool]] = {
    "sgf": check_sgf,
    "json": check_json,
    "move": check_move,
}


def seeds(kind: str) -> list[bytes]:
    """The texts that breeding begins with."""
    files = [path.read_bytes() for path in sorted(REFERENCE.glob("sgf*/*.blksgf"))]
    if kind == "sgf":
        return files
    if kind == "json":
        played = [path.read_bytes() for path in sorted((REFERENCE / "sgf").glob("*.blksgf"))]
        return [write_json(read_sgf(file)).encode() for file in played]
    return [b"e10", b"f9,g9,e10,f10", b" T20 , t19"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("kind", choices=CHECKS, help="what to read")
    parser.add_argument("--seconds", type=int, default=60, help="how long (60)")
    wish = parser.parse_args()
    check = CHECKS[wish.kind]

    def one(data: bytes) -> None:
        check(data if wish.kind != "move" else data.decode(errors="surrogateescape"))

    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(seeds(wish.kind)):
            (Path(folder) / str(number)).write_bytes(seed)
        limits = [
            f"-max_total_time={wish.seconds}",
            "-max_len=4096",
            "-timeout=20",
            "-print_final_stats=1",
            "-artifact_prefix=.fuzz/",
        ]
        atheris.Setup([sys.argv[0], *limits, folder], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
