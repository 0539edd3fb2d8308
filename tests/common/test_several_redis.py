"""Several Redis: each stream has its place on one of them, one may fail; and a replica may follow its master."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import redis as redis_py
from celery import Celery

from common import feed as feed_module
from common import streams
from common.addresses import Address
from common.redis import by_client, connect
from common.shards import place
from config.valkey import Valkey
from tests.common.feeds import Table, connected, follow, run, running, subscribers, true
from tests.support import services
from tests.support.sentinels import Sentinels

NAMES = [f"table:{number}" for number in range(12)]


@pytest.fixture
def two() -> Iterator[list[Valkey]]:
    """Two Valkey servers."""
    with ExitStack() as stack:
        servers = [Valkey(services.scratch_folder()) for _ in range(2)]
        for server in servers:
            server.start()
            stack.callback(server.kill)
        yield servers


def shares(two: list[Valkey]) -> list[list[str]]:
    """Which streams live where."""
    names = [Address.parse(server.url).name for server in two]
    return [[stream for stream in NAMES if place(stream, names) == name] for name in names]


def test_one_of_two_fails_and_returns(table: Table, two: list[Valkey]) -> None:
    """The streams of the living one go on, those of the dead one heal by the tables, and then all is well."""
    urls = [server.url for server in two]
    first, second = shares(two)
    assert first
    assert second

    async def work() -> None:
        async with running(*urls) as here, running(*urls) as there:
            streams.install_publisher(None)
            await connected(here)
            await connected(there)
            eyes = {stream: (await follow(there, stream))[0] for stream in NAMES}
            for streams_here, url in ((first, urls[0]), (second, urls[1])):
                assert [subscribers(url, s) for s in NAMES] == [
                    int(s in streams_here) for s in NAMES
                ]
            version = 0

            async def all_hear(names: list[str], *, healed: int | None = None) -> None:
                nonlocal version
                version += 1
                before = there.healed
                for stream in names:
                    here.publish(table.commit(stream))
                for stream in names:
                    await eyes[stream].until(len(table.kept[stream]), 15)
                if healed is not None:
                    assert there.healed - before == healed

            await all_hear(NAMES)
            await asyncio.to_thread(two[1].kill)
            await true(lambda: there._wire.line(second[0]).listener is None)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(feed_module, "HEAL_SECONDS", 3600.0)
                await all_hear(first, healed=0)
            await all_hear(second, healed=len(second))
            await asyncio.to_thread(two[1].start)
            for feed in (here, there):
                await connected(feed)
            await true(lambda: all(subscribers(urls[1], stream) for stream in second))
            for stream in second:  # the writer meets its dead connection first
                here.publish(table.commit(stream))
            await asyncio.sleep(0.5)
            for stream in second:
                await eyes[stream].until(len(table.kept[stream]), 15)
            await all_hear(NAMES, healed=0)

    run(work())


def test_processes_without_a_feed_publish_to_the_same_place(
    table: Table, two: list[Valkey], settings: Any
) -> None:
    settings.LIVE_REDIS = tuple(Address.parse(server.url) for server in two)
    urls = [server.url for server in two]

    async def work() -> None:
        async with running(*urls) as feed:
            streams.install_publisher(None)
            await connected(feed)
            eyes = {stream: (await follow(feed, stream))[0] for stream in NAMES}
            notes = [note for stream in NAMES for note in table.commit(stream)]
            await asyncio.to_thread(streams.publish, notes)
            for eye in eyes.values():
                await eye.until(1)
            assert feed.healed == 0
            await asyncio.to_thread(two[0].kill)
            first, second = shares(two)
            notes = [note for stream in NAMES for note in table.commit(stream)]
            await asyncio.to_thread(streams.publish, notes)
            for stream in second:
                await eyes[stream].until(2)
            for stream in first:
                await eyes[stream].until(2, feed_module.HEAL_SECONDS * 3)

    run(work())
    assert sum(len(group) for _, group in by_client(NAMES, stream=str)) == len(NAMES)
    assert by_client([], stream=str) == []


# Sentinel


def test_a_master_dies_and_its_replica_follows(table: Table) -> None:
    """The feed, the synchronous client and Celery's broker go on by the same address."""
    with Sentinels(services.scratch_folder()) as sentinels:
        address = Address.parse(sentinels.url)
        broker, options = address.for_celery()
        app = Celery("test", broker=broker, set_as_current=False)
        app.conf.broker_transport_options = options
        client = connect(address)
        client.set("x", "before")
        queue(app, "before")

        async def work() -> None:
            async with running(sentinels.url) as here, running(sentinels.url) as there:
                streams.install_publisher(None)
                await connected(here)
                await connected(there)
                eye, _ = await follow(there, "table:a")
                here.publish(table.commit("table:a"))
                await eye.until(1)
                assert there.healed == 0
                await asyncio.to_thread(sentinels.kill_master)
                here.publish(table.commit("table:a"))
                await eye.until(2, 15)
                await connected(there)
                await true(lambda: _followed(sentinels.replica))
                number = 2
                async with asyncio.timeout(15):
                    before = there.healed
                    while there.healed - before >= number - 2:
                        here.publish(table.commit("table:a"))
                        number += 1
                        await eye.until(number, 15)

        run(work())
        eventually_writes(client)
        assert client.get("x") == b"after"
        queue(app, "after")
        app.close()


def _followed(port: int) -> bool:
    with redis_py.Redis(port=port) as client:
        return bool(client.pubsub_numsub("kado:table:a")[0][1])


def eventually_writes(client: "redis_py.Redis") -> None:
    """The Sentinel may need a moment to say who the master is."""
    deadline = time.monotonic() + 15
    while True:
        try:
            client.set("x", "after")
            return
        except redis_py.RedisError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def queue(app: Celery, word: str) -> None:
    """Put a message into a queue and take it out again."""
    with app.connection() as connection:
        connection.ensure_connection(max_retries=10, interval_start=1)
        with connection.SimpleQueue("words") as words:
            words.put(word)
            message = words.get(timeout=10)
            message.ack()
            assert message.payload == word
