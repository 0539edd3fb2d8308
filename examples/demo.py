#!/usr/bin/env python3
"""Two registered players meet in the ranked pool `duo-blitz` and play a whole game over the socket.

Uses the service at --url if it runs, or starts its own on a free port and stops it afterwards. Ends with status 0 only
if the game was played to its end, its record can be read, and both ratings have changed.

    make demo
    python examples/demo.py --url http://127.0.0.1:8000 --seed 7
"""

import argparse
import asyncio
import contextlib
import os
import random
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from kado_client import Client, Json, Refused, request

PROJECT = Path(__file__).resolve().parent.parent
POOL = "duo-blitz"
PAINT = {
    "blue": "\033[44m",
    "orange": "\033[43m",
    "yellow": "\033[103m",
    "red": "\033[41m",
    "green": "\033[42m",
}
LETTER = {"blue": "B", "orange": "O", "yellow": "Y", "red": "R", "green": "G"}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--url", default="http://127.0.0.1:8000", help="the service to use if it runs there"
    )
    parser.add_argument(
        "--seed", type=int, default=None, help="makes the choice of moves repeatable"
    )
    options = parser.parse_args()
    with service(options.url) as (url, environment):
        try:
            asyncio.run(play(url, environment, random.Random(options.seed)))
        except (Refused, OSError, AssertionError) as error:  # every lost connection is an OSError
            print(f"demo failed: {error or type(error).__name__}", file=sys.stderr)
            return 1
    return 0


# The service


@contextlib.contextmanager
def service(url: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a running service, and the environment in which manage.py finds its database."""
    if answers(url):
        print(f"Using the service at {url}.")
        yield url, dict(os.environ)
        return
    # Root's PostgreSQL runs as another user and must get there.
    parent = "/var/lib" if os.geteuid() == 0 else None
    with (
        tempfile.TemporaryDirectory(prefix="kado-demo-", dir=parent) as folder,
        socket.socket() as probe,
    ):
        Path(folder).chmod(0o711)
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        environment = {**os.environ, "KADO_DATA": folder}
        log = Path(folder, "serve.log")
        print(
            f"Nothing answers at {url}: starting a service of our own on port {port} …", flush=True
        )
        with log.open("wb") as out:
            server = subprocess.Popen(
                [sys.executable, "manage.py", "serve", "--port", str(port)],
                cwd=PROJECT, env=environment, stdout=out, stderr=out, start_new_session=True,
            )  # fmt: skip
        try:
            wait_until_up(server, f"http://127.0.0.1:{port}", log)
            yield f"http://127.0.0.1:{port}", environment
        finally:
            server.send_signal(signal.SIGTERM)
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def answers(url: str) -> bool:
    try:
        with urlopen(f"{url}/healthz", timeout=2) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


def wait_until_up(
    server: "subprocess.Popen[bytes]", url: str, log: Path, seconds: float = 60
) -> None:
    deadline = time.monotonic() + seconds
    while not answers(url):
        if server.poll() is not None or time.monotonic() > deadline:
            raise ConnectionError(
                f"the service did not start:\n{log.read_text(errors='replace')[-3000:]}"
            )
        time.sleep(0.1)


def create_player(name: str, environment: dict[str, str]) -> str:
    """Register a player as an operator does, and return the token that the command prints."""
    done = subprocess.run(
        [sys.executable, "manage.py", "create_player", name],
        cwd=PROJECT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    token = re.search(r"kado_[\w-]+", done.stdout)
    if done.returncode or token is None:
        raise ConnectionError(f"create_player failed: {done.stderr.strip()}")
    return token[0]


# The game


async def play(url: str, environment: dict[str, str], choice: random.Random) -> None:
    tail = secrets.token_hex(3)
    names = [f"Ada-{tail}", f"Ben-{tail}"]
    tokens = await asyncio.gather(
        *(asyncio.to_thread(create_player, n, environment) for n in names)
    )
    async with Client(url, tokens[0]) as ada, Client(url, tokens[1]) as ben:
        print(f"{ada.name} and {ben.name} join {POOL} …")
        await asyncio.gather(ada.join(POOL), ben.join(POOL))
        found = await asyncio.gather(ada.inbox("match_found", 30), ben.inbox("match_found", 30))
        game_id = found[0]["game"]
        assert found[1]["game"] == game_id, "the two were told of different games"
        print(f"Matched: game {game_id}. Playing …")
        ends = await asyncio.gather(
            *(
                play_seat(client, f["game"], f["seat"], choice)
                for client, f in zip((ada, ben), found, strict=True)
            )
        )
        assert ends[0] == ends[1], "the two saw different games"
        await asyncio.to_thread(report, url, tokens[0], ends[0])


async def play_seat(client: Client, game_id: str, seat: int, choice: random.Random) -> Json:
    """Play legal moves whenever it is our turn; return the game as it stands when its ratings are settled."""
    game = await client.follow(game_id)
    while True:
        state = await game.until(
            lambda s: s["status"] != "started" or (s["turn"] or {}).get("seat") == seat
        )
        if state["status"] != "started":
            return await game.until(lambda s: s["rating_changes"] is not None)
        moves = await client.legal_moves(game_id)
        largest = max(len(move["move"].split(",")) for move in moves)
        move = choice.choice([m for m in moves if len(m["move"].split(",")) == largest])
        receipt = await client.move(game_id, state["turn"]["ply"], move["move"])
        await game.until(lambda s, version=receipt["version"]: s["version"] >= version)


# The report


def report(url: str, token: str, game: Json) -> None:
    address = f"/api/v1/games/{game['game']}"
    kept = request(url, f"{address}/record", token=token)
    assert [move["move"] for move in kept["moves"]] == [move["move"] for move in game["moves"]], (
        "the record differs from what the clients saw"
    )
    assert kept["result"]["points"] == [seat["points"] for seat in game["outcome"]["seats"]]
    assert game["outcome"]["termination"] == "completed", game["outcome"]
    assert all(
        change["before"] != change["after"] or tie(game) for change in game["rating_changes"]
    )
    print(draw(game))
    for result, change in zip(game["outcome"]["seats"], game["rating_changes"], strict=True):
        seat = game["seats"][result["seat"]]
        print(
            f"{seat['colours'][0]:>8}  {seat['player']:<12} {result['points']:>3} points  rank {result['rank']}  "
            f"rating {change['before']} → {change['after']}"
        )
    happened = request(url, f"{address}/events", token=token)
    events = [item["event"] for item in happened["events"]]
    out = [
        colour for event in events if event["type"] == "colours_out" for colour in event["colours"]
    ]
    skipped = [colour for event in events for colour in event.get("skipped", [])]
    assert sorted(out) == sorted(colour["colour"] for colour in game["colours"]), (
        "not everybody is out"
    )
    assert set(skipped) <= {out[0]}, "a colour was skipped that could still move"
    print(
        f"{len(game['moves'])} moves; {out[0]} was out first and was skipped {len(skipped)} times."
    )
    print(f"Record: {url}{address}/record")
    print(f"Picture: {url}{address}/board.svg")


def tie(game: Json) -> bool:
    return len({result["rank"] for result in game["outcome"]["seats"]}) == 1


def draw(game: Json) -> str:
    """The final board, in colour on a terminal and in letters elsewhere."""
    size, paint = game["size"], sys.stdout.isatty()
    cells = {cell: move["colour"] for move in game["moves"] for cell in move["move"].split(",")}
    lines = []
    for row in range(size, 0, -1):
        colours = (cells.get(f"{chr(97 + column)}{row}") for column in range(size))
        shown = "".join(
            (f"{PAINT[c]}  \033[0m" if paint else f" {LETTER[c]}") if c else " ·" for c in colours
        )
        lines.append(f"{row:>3}{shown}")
    lines.append("   " + "".join(f" {chr(97 + column)}" for column in range(size)))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
