"""The live feed: every version once and in order, whatever Redis loses, doubles, delays or forgets."""

import asyncio
import random
from typing import Any

import pytest
import redis as redis_py

from common import feed as feed_module
from common import streams
from common.streams import CHANNEL, Note
from config.valkey import Valkey
from tests.common.feeds import (
    AT,
    Follower,
    Table,
    connected,
    follow,
    run,
    running,
    send,
    subscribers,
    true,
)
from tests.support import services

# Notes


def test_a_note_survives_the_way_through_redis() -> None:
    note = Note("game:Abc", 7, AT + 123, '{"text":"é ☃ spaces  and \\" quotes"}')
    assert Note.unpacked(*note.packed()) == note


def test_a_frame_is_the_body_with_a_name() -> None:
    note = Note("inbox:17", 7, AT + 123, '{"type":"x"}')
    assert note.body() == '"version":7,"at":"2027-01-15T08:00:00.123Z","event":{"type":"x"}}'
    assert note.frame() == '{"type":"event","stream":"inbox",' + note.body()
    assert Note("game:Q", 1, AT, "{}").frame().startswith('{"type":"event","stream":"game:Q",')


# Order


def test_local_and_distant_news_come_once_and_in_order(table: Table) -> None:
    url = services.running().redis_url

    async def work() -> None:
        async with running(url) as here, running(url) as there:
            streams.install_publisher(None)
            await connected(here)
            await connected(there)
            near, _ = await follow(here, "table:a")
            far, _ = await follow(there, "table:a")
            for number in range(200):
                (here if number % 2 else there).publish(table.commit("table:a"))
                if number % 20 == 0:
                    await asyncio.sleep(0)
            await near.until(200)
            await far.until(200)

    run(work())


def test_doubles_disorder_and_gaps(table: Table) -> None:
    """Everything that a careless messenger can do, by the seed."""
    url = services.running().redis_url

    async def work(seed: int) -> None:
        chance = random.Random(seed)
        stream = f"table:{seed}"
        async with running(url) as feed:
            await connected(feed)
            follower, _ = await follow(feed, stream)
            notes = table.commit(stream, 60)
            sent = [note for note in notes[:-1] if chance.random() > 0.2]
            sent += chance.sample(sent, 10)
            chance.shuffle(sent)
            await asyncio.to_thread(send, url, *sent, notes[-1])
            await follower.until(60)

    for seed in range(5):
        run(work(seed))


def test_a_gap_is_repaired_from_the_table_at_once(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "HEAL_SECONDS", 3600.0)
    url = services.running().redis_url

    async def work() -> None:
        async with running(url) as feed:
            await connected(feed)
            follower, _ = await follow(feed, "table:a")
            await asyncio.to_thread(send, url, *table.commit("table:a", 2))
            await follower.until(2)
            lost = table.commit("table:a", 3)
            assert len(lost) == 3
            await asyncio.to_thread(send, url, *table.commit("table:a"))
            await follower.until(6)
            assert table.reads == 1
            assert feed.healed == 4

    run(work())


def test_what_comes_while_the_snapshot_is_read_is_held_back(table: Table) -> None:
    url = services.running().redis_url

    async def work() -> None:
        async with running(url) as feed:
            await connected(feed)
            table.commit("table:a", 5)
            follower = Follower()
            following = await feed.follow("table:a", follower)
            feed.publish(table.commit("table:a", 2))  # 6 and 7
            snapshot = 6  # the table was read between them
            feed.publish(table.commit("table:a"))
            assert follower.seen == []
            feed.begin(following, snapshot)
            assert follower.seen == [7, 8]
            feed.publish(table.commit("table:a"))
            assert follower.seen == [7, 8, 9]

    run(work())


def test_held_news_with_a_gap_are_repaired(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "HEAL_SECONDS", 3600.0)
    url = services.running().redis_url

    async def work() -> None:
        async with running(url) as feed:
            await connected(feed)
            follower = Follower()
            following = await feed.follow("table:a", follower)
            table.commit("table:a", 3)
            feed.publish(table.commit("table:a"))
            feed.begin(following, 1)
            await follower.until(4)
            assert follower.seen == [2, 3, 4]

    run(work())


def test_followers_with_different_cursors_share_a_stream(table: Table) -> None:
    url = services.running().redis_url

    async def work() -> None:
        async with running(url) as feed:
            await connected(feed)
            table.commit("table:a", 10)
            early, _ = await follow(feed, "table:a", 4)
            late, _ = await follow(feed, "table:a", 10)
            feed.publish(table.commit("table:a"))
            await late.until(11)
            await early.until(11)
            assert early.seen == [5, 6, 7, 8, 9, 10, 11]
            assert late.seen == [11]

    run(work())


# Redis and its faults


def test_a_total_loss_heals_by_the_comparison(table: Table) -> None:
    """Nothing is published at all."""
    url = services.running().redis_url

    async def work() -> None:
        async with running(url) as feed:
            await connected(feed)
            first, _ = await follow(feed, "table:a")
            second, _ = await follow(feed, "table:b")
            table.commit("table:a", 3)
            table.commit("table:b", 5)
            await first.until(3, feed_module.HEAL_SECONDS * 2)
            await second.until(5, feed_module.HEAL_SECONDS * 2)

    run(work())


def test_a_table_that_fails_once_is_read_again(table: Table) -> None:
    url = services.running().redis_url

    async def work() -> None:
        async with running(url) as feed:
            await connected(feed)
            follower, _ = await follow(feed, "table:a")
            table.failures = 1
            table.commit("table:a", 3)
            feed.publish(table.commit("table:a"))
            await follower.until(4, feed_module.HEAL_SECONDS * 2)

    run(work())


def test_redis_restarted(table: Table, valkey: Valkey, monkeypatch: pytest.MonkeyPatch) -> None:
    """The subscription comes back by itself, and what was said meanwhile is not missed."""

    async def work() -> None:
        async with running(valkey.url) as feed:
            await connected(feed)
            follower, _ = await follow(feed, "table:a")
            await asyncio.to_thread(send, valkey.url, *table.commit("table:a"))
            await follower.until(1)
            await asyncio.to_thread(valkey.kill)
            table.commit("table:a", 2)
            await asyncio.to_thread(valkey.start)
            await true(lambda: subscribers(valkey.url, "table:a") == 1)
            await asyncio.to_thread(send, valkey.url, *table.commit("table:a"))
            await follower.until(4)
            feed.publish(table.commit("table:a"))
            await follower.until(5)

    run(work())


def test_the_publisher_finds_redis_again(table: Table, valkey: Valkey) -> None:
    async def work() -> None:
        async with running(valkey.url) as here, running(valkey.url) as there:
            await connected(there)
            follower, _ = await follow(there, "table:a")
            here.publish(table.commit("table:a"))
            await follower.until(1)
            await asyncio.to_thread(valkey.kill)
            here.publish(table.commit("table:a"))
            await asyncio.sleep(0.05)
            await asyncio.to_thread(valkey.start)
            await follower.until(2, feed_module.HEAL_SECONDS * 2 + 1)
            await true(lambda: subscribers(valkey.url, "table:a") == 1)
            before = there.healed
            async with asyncio.timeout(10):
                while there.healed == before and len(follower.seen) < 12:
                    here.publish(table.commit("table:a"))
                    await asyncio.sleep(0.05)
            await follower.until(len(table.kept["table:a"]))
            assert there.healed - before < 10, "it came by Redis, most of it"

    run(work())


def test_published_before_redis_is_up(table: Table, valkey: Valkey) -> None:
    valkey.kill()

    async def work() -> None:
        async with running(valkey.url) as feed:
            follower, _ = await follow(feed, "table:a")
            feed.publish(table.commit("table:a"))
            assert follower.seen == [1], "who is here hears it at once"
            table.commit("table:a")
            await follower.until(2, feed_module.HEAL_SECONDS * 2)
            await asyncio.to_thread(valkey.start)
            await true(lambda: subscribers(valkey.url, "table:a") == 1)
            await asyncio.to_thread(send, valkey.url, *table.commit("table:a"))
            await follower.until(3)

    run(work())


@pytest.mark.parametrize(
    "rubbish", [b"", b"x", b"1 2", b"one two {}", b"1 2 \xff\xfe", b"9" * 5000 + b" 1 {}"]
)
def test_rubbish_on_a_channel_does_not_deafen_the_feed(
    table: Table, rubbish: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "HEAL_SECONDS", 3600.0)
    url = services.running().redis_url

    async def work() -> None:
        async with running(url) as feed:
            await connected(feed)
            follower, _ = await follow(feed, "table:a")
            with redis_py.Redis.from_url(url) as client:
                client.publish(CHANNEL + b"table:a", rubbish)
            line = feed._wire.line("table:a")
            connection = line.listener
            await true(lambda: line.listener not in (None, connection))
            await true(lambda: subscribers(url, "table:a") == 1)
            await asyncio.to_thread(send, url, *table.commit("table:a"))
            await follower.until(1)

    run(work())


def test_a_sink_that_fails_hurts_nobody_else(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    url = services.running().redis_url

    def bad(note: Note) -> None:
        raise RuntimeError("a client's own trouble")

    async def work() -> None:
        async with running(url) as feed:
            await connected(feed)
            monkeypatch.setattr(feed_module, "HEAL_SECONDS", 3600.0)
            feed.begin(await feed.follow("table:a", bad), 0)
            follower, _ = await follow(feed, "table:a")
            await asyncio.to_thread(send, url, *table.commit("table:a", 2))
            await follower.until(2)
            feed.publish(table.commit("table:a", 2))
            await follower.until(4)

    run(work())


# Coming and going


def test_unfollowing_leaves_nothing_behind(table: Table) -> None:
    url = services.running().redis_url

    async def work() -> None:
        async with running(url) as feed:
            await connected(feed)
            pairs = [await follow(feed, f"table:{number % 7}") for number in range(50)]
            assert subscribers(url, "table:0") == 1, "one subscription a process"
            for follower, following in pairs:
                await feed.unfollow(following)
                await feed.unfollow(following)  # twice is harmless
                feed.publish(table.commit(following.stream))
                assert follower.seen in ([], list(range(1, len(follower.seen) + 1)))
            await true(lambda: not any(subscribers(url, f"table:{number}") for number in range(7)))
            assert feed._channels == {}

    run(work())


def test_the_last_one_leaves_while_the_next_one_comes(table: Table) -> None:
    """A stream that is left and followed at the same moment is followed."""
    url = services.running().redis_url

    async def work() -> None:
        async with running(url) as feed:
            await connected(feed)
            for number in range(30):
                stream = f"table:{number}"
                _, old = await follow(feed, stream)
                leaving = asyncio.ensure_future(feed.unfollow(old))
                coming = asyncio.ensure_future(follow(feed, stream))
                await leaving
                follower, new = await coming
                await asyncio.to_thread(send, url, *table.commit(stream, 2))
                await follower.until(2)
                await feed.unfollow(new)
            assert feed._channels == {}

    run(work())


def test_two_come_at_once_and_one_leaves_at_once(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The subscription is being sent for the first when the second comes and goes; the first must not be forgotten."""
    url = services.running().redis_url

    async def work() -> None:
        async with running(url) as feed:
            await connected(feed)
            line = feed._wire.line("table:a")
            slow = line.command

            async def slowly(verb: str, names: Any) -> None:
                await asyncio.sleep(0.05)
                await slow(verb, names)

            monkeypatch.setattr(line, "command", slowly)
            first = asyncio.ensure_future(follow(feed, "table:a"))
            await asyncio.sleep(0)
            second = asyncio.ensure_future(feed.follow("table:a", Follower()))
            await asyncio.sleep(0)
            second.cancel()
            await asyncio.gather(second, return_exceptions=True)
            follower, following = await first
            feed.publish(table.commit("table:a"))
            assert follower.seen == [1]
            await feed.unfollow(following)
            assert feed._channels == {}

    run(work())


def test_a_follower_that_is_cancelled_while_it_comes_leaves_nothing(table: Table) -> None:
    url = services.running().redis_url

    async def work() -> None:
        async with running(url) as feed:
            await connected(feed)
            for number in range(20):
                coming = asyncio.ensure_future(feed.follow(f"table:{number}", Follower()))
                for _ in range(number % 4):
                    await asyncio.sleep(0)
                coming.cancel()
                await asyncio.gather(coming, return_exceptions=True)
                if not coming.cancelled():
                    await feed.unfollow(coming.result())
            assert feed._channels == {}
            await true(lambda: not any(subscribers(url, f"table:{number}") for number in range(20)))

    run(work())


# Publishing


def test_published_from_other_threads(table: Table) -> None:
    url = services.running().redis_url

    async def work() -> None:
        async with running(url) as feed:
            await connected(feed)
            follower, _ = await follow(feed, "table:a")

            def publish_some() -> None:
                for _ in range(50):
                    streams.publish(table.commit("table:a"))

            await asyncio.to_thread(publish_some)
            await follower.until(50)

    run(work())


def test_published_without_a_feed(table: Table) -> None:
    """A worker has no followers: it says it to Redis, and bears it when Redis is away."""
    url = services.running().redis_url

    async def work() -> None:
        async with running(url) as feed:
            streams.install_publisher(None)
            await connected(feed)
            follower, _ = await follow(feed, "table:a")
            await asyncio.to_thread(streams.publish, table.commit("table:a", 3))
            await follower.until(3)

    run(work())
