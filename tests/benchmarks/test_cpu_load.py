"""The measuring of people's latencies beside searches: requests are timed whole, and ratios taken round by round."""

import asyncio
import os
from pathlib import Path

import pytest

from benchmarks.cpu_load import Plan, Result, Run
from benchmarks.lib.load import Window
from benchmarks.lib.rest import Client, trickle
from benchmarks.lib.searching import on_cores


async def _served(status: bytes) -> "list[float]":
    """Six requests to a server that answers so, in two pieces and after a while."""

    served: list[asyncio.Task[None] | None] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.append(asyncio.current_task())
        while head := await reader.readline():
            assert head == b"GET /x HTTP/1.1\r\n"
            while await reader.readline() != b"\r\n":
                pass
            writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 4\r\n\r\nhe")
            await asyncio.sleep(0.02)
            writer.write(b"re")
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    clients = [Client(server.sockets[0].getsockname()[1], "token") for _ in range(2)]
    try:
        return list(await trickle(clients, ["/x"], rate=100.0, seconds=0.06))
    finally:
        for client in clients:
            client.close()
        server.close()
        # A client that has heard enough goes away in the middle of an answer.
        await asyncio.gather(*filter(None, served), return_exceptions=True)


def test_a_request_lasts_until_its_answer_is_whole() -> None:
    latencies = asyncio.run(_served(b"200 OK"))
    assert len(latencies) == 6
    assert min(latencies) >= 0.02


def test_a_refusal_is_no_measurement() -> None:
    with pytest.raises(ConnectionError, match="GET /x: "):
        asyncio.run(_served(b"503 Service Unavailable"))


def test_cores_are_given_back() -> None:
    before = os.sched_getaffinity(0)
    last = max(before)
    with on_cores({last}):
        assert os.sched_getaffinity(0) == {last}
    assert os.sched_getaffinity(0) == before
    with on_cores(None):
        assert os.sched_getaffinity(0) == before


def result(ms: float, bots: float = 0.0) -> Result:
    """A window in which everything took so long, and bots so many microseconds a move."""
    moves = Window(
        seconds=10.0,
        moves=1000,
        finished=0,
        latencies=[ms / 1e3] * 10,
        lags=[],
        cpu_us={"bots": bots},
        generator_share=0.0,
        stalled=0,
        failures=0,
        first_failure="",
    )
    return Result(moves, [2 * ms / 1e3] * 10)


def test_the_report_has_the_ratio_of_each_round() -> None:
    run = Run(Plan(rounds=2, games=1, seconds=10.0), Path())
    run.results["workers"] = [(result(1.0), result(3.0, 15_000.0)), (result(2.0), result(2.0))]
    lines = "\n".join(run.lines())
    assert "| workers | none | 1.50 (1.00–2.00) | 1.50 (1.00–2.00) | 3.00 (2.00–4.00) |" in lines
    assert "- workers: moves p50 **2.00 (1.00–3.00)×**" in lines
    assert result(3.0, 15_000.0).cores == pytest.approx(1.5)
