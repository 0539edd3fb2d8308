"""One web process for a module's tests, people in it, and a socket that notes all it hears."""

import itertools
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPResponse
from typing import Any, Self, TypeVar

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.support.cluster import Cluster
from tests.support.process import Process

Json = dict[str, Any]
SECONDS = 15.0
Done = TypeVar("Done")


class Answer:
    """An HTTP answer, read."""

    def __init__(self, response: HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The problem's code, of an answer that is a problem in all its parts."""
        problem = self.json
        assert self.headers["Content-Type"] == "application/problem+json"
        assert problem["status"] == self.status >= 400
        assert problem["type"] == f"/docs/errors#{problem['code']}"
        assert problem["title"]
        assert problem["detail"]
        code: str = problem["code"]
        return code


class Person:
    """A player and a token."""

    def __init__(self, town: "Town", name: str, token: str) -> None:
        self.town, self.name, self.token = town, name, token

    def http(
        self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **headers: str
    ) -> Answer:
        headers.setdefault("Authorization", f"Bearer {self.token}")
        return self.town.http(method, path, body, raw=raw, **headers)

    def game(self, variant: str = "duo", seats: int = 2, level: str = "") -> str:
        """A new game with all the seats, or all but the first one a CPU's."""
        others = [{"level": level} if level else {}] * (seats - 1)
        answer = self.http("POST", "/api/v1/games", {"variant": variant, "seats": [{}, *others]})
        assert answer.status == 201, answer.body
        game: str = answer.json["game"]
        return game

    def legal(self, game: str) -> Json:
        answer: Json = self.http("GET", f"/api/v1/games/{game}/legal-moves").json
        return answer

    def other_token(self, *scopes: str, **more: str) -> tuple[str, str]:
        """Another token of this player: its id and secret."""
        answer = self.http("POST", "/api/v1/me/tokens", {"scopes": scopes, **more})
        assert answer.status == 201, answer.body
        return answer.json["id"], answer.json["secret"]


class Town:
    """A web process and who lives there."""

    def __init__(self, cluster: Cluster, web: Process) -> None:
        self.cluster, self.web = cluster, web

    def http(
        self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **headers: str
    ) -> Answer:
        connection = HTTPConnection("127.0.0.1", self.web.port, timeout=40)
        try:
            data = raw if raw is not None else None if body is None else json.dumps(body).encode()
            if data is not None and "Content_Type" not in headers:
                headers["Content_Type"] = "application/json"
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, data, named)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def guest(self) -> Person:
        """Somebody new."""
        answer = self.http("POST", "/api/v1/guests")
        assert answer.status == 201, answer.body
        return Person(self, answer.json["player"]["name"], answer.json["token"])

    def member(self, name: str) -> Person:
        """Somebody who has signed up."""
        printed = self.cluster.manage("create_player", name)
        (token,) = (line.split()[1] for line in printed.splitlines() if line.startswith("token"))
        return Person(self, name, token)

    def complaints(self) -> list[str]:
        """What the process logged that nobody should have to read."""
        return [
            line
            for line in self.web.log().splitlines()
            if "Traceback" in line or '"level": "error"' in line or "never retrieved" in line
        ]


class Socket:
    """A client's socket: `heard` are all frames, in order."""

    def __init__(
        self, town: Town, token: str | None = None, *, cookies: str = "", **options: Any
    ) -> None:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        if cookies:
            headers["Cookie"] = cookies
        self._stack = ExitStack()
        self.connection: ClientConnection = self._stack.enter_context(
            connect(
                town.web.socket_url,
                additional_headers=headers,
                compression=None,
                open_timeout=SECONDS,
                close_timeout=1,
                max_size=None,
                **options,
            )
        )
        self.heard: list[Json] = []
        self._ids = itertools.count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        self._stack.close()

    def hear(self, seconds: float = SECONDS) -> Json:
        """The next frame."""
        frame: Json = json.loads(self.connection.recv(seconds))
        self.heard.append(frame)
        return frame

    def until(self, test: Callable[[Json], bool], seconds: float = SECONDS) -> Json:
        """The next frame that passes the test."""
        deadline = time.monotonic() + seconds
        while True:
            frame = self.hear(max(0.0, deadline - time.monotonic()))
            if test(frame):
                return frame

    def say(self, text: str | bytes) -> None:
        self.connection.send(text)

    def ask(self, type: str, **fields: Any) -> Json:  # noqa: A002
        """Send a command; its one reply."""
        number = str(next(self._ids))
        self.say(json.dumps({"type": type, "id": number, **fields}))
        return self.until(lambda frame: frame["type"] == "reply" and frame["id"] == number)

    def told(self, type: str, **fields: Any) -> Json:  # noqa: A002
        """The result of a command that is not refused."""
        reply = self.ask(type, **fields)
        assert "problem" not in reply, reply
        result: Json = reply["result"]
        return result

    def refused(self, type: str, **fields: Any) -> str:  # noqa: A002
        """The code of a command's refusal, which is a whole problem document."""
        problem = self.ask(type, **fields)["problem"]
        assert problem.keys() >= {"type", "code", "title", "status", "detail"}
        code: str = problem["code"]
        return code

    def event(self, version: int, stream: str | None = None) -> Json:
        """The event with this version."""
        return self.until(
            lambda f: (
                f["type"] == "event"
                and f["version"] == version
                and (stream is None or f["stream"] == stream)
            )
        )

    def events(self, stream: str) -> list[Json]:
        """The events of a stream that were heard so far."""
        return [f for f in self.heard if f["type"] == "event" and f["stream"] == stream]

    def until_seen(self, version: int, stream: str) -> None:
        """Until the event with this version has been heard, now or before."""
        if not any(event["version"] == version for event in self.events(stream)):
            self.event(version, stream)

    def close_code(self, seconds: float = SECONDS) -> int:
        """The code with which the server closes; frames before it are heard."""
        deadline = time.monotonic() + seconds
        try:
            while True:
                self.hear(max(0.0, deadline - time.monotonic()))
        except ConnectionClosed as closed:
            assert closed.rcvd is not None, "closed without a code"
            return closed.rcvd.code


def all_at_once(count: int, work: Callable[[int], Done]) -> list[Done]:
    """The results of `work`, called `count` times at the same moment."""
    barrier = threading.Barrier(count)

    def run(number: int) -> Done:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))
