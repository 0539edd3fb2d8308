"""State streams: every follower has the state as it is within seconds, whatever Redis loses, and only the newest."""

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
import redis as redis_py

from common import state_feed as module
from common import states
from common.errors import NotFoundError
from common.state_feed import StateFeed, Watching
from common.states import State, Touch
from common.wire import Wire
from config.valkey import Valkey
from tests.common.feeds import AT, run, true
from tests.support import services


class Lights:
    """The owner of the streams `light:…`: which lamp shows what."""

    def __init__(self) -> None:
        self.now: dict[str, int] = {}
        self.reads: list[list[str]] = []
        self.failures = 0

    def admit(self, stream: str, player_id: int) -> None:
        if stream not in self.now:
            raise NotFoundError

    def current(self, streams: Collection[str]) -> dict[str, Any]:
        self.reads.append(sorted(streams))
        if self.failures:
            self.failures -= 1
            raise OSError("no light")
        return {stream: {"n": self.now[stream]} for stream in streams if stream in self.now}


class Eye:
    """A follower: what it was shown."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __call__(self, state: State) -> None:
        self.seen.append(json.loads(state.text))

    async def until(self, number: int | None, seconds: float = 10.0) -> None:
        wanted = None if number is None else {"n": number}
        await true(lambda: self.seen and self.seen[-1] == wanted, seconds)


@pytest.fixture
def lights() -> Iterator[Lights]:
    own = Lights()
    states.register("light", own)
    yield own
    states._kinds.pop("light")


@pytest.fixture
def unhealed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is seen came by the news, not by the comparison."""
    monkeypatch.setattr(module, "HEAL_SECONDS", 3600.0)


@asynccontextmanager
async def running(*urls: str) -> AsyncIterator[StateFeed]:
    wire = Wire(urls)
    feed = StateFeed(wire)
    wire.start()
    feed.start()
    try:
        await true(lambda: wire.connected)
        yield feed
    finally:
        await feed.stop()
        await wire.stop()


async def watch(feed: StateFeed, stream: str) -> tuple[Eye, Watching]:
    eye = Eye()
    return eye, await feed.follow(stream, eye)


def url() -> str:
    return services.running().redis_url


# Frames


def test_a_state_survives_the_way_through_redis() -> None:
    state = State.of("light:a", {"text": 'é ☃ spaces  and " quotes', "none": None}, AT + 123)
    channel, message = state.packed()
    assert channel == b"kado-state:light:a"
    again = State.unpacked("light:a", message)
    assert (again.stream, again.at, again.text) == (state.stream, state.at, state.text)


def test_the_frame() -> None:
    frame = State.of("light:a", {"n": 1}, AT + 123).frame()
    assert (
        frame
        == '{"type":"state","stream":"light:a","at":"2027-01-15T08:00:00.123Z","state":{"n":1}}'
    )
    decoded = msgspec.json.decode(frame, type=states.Frame)
    assert msgspec.json.decode(decoded.state) == {"n": 1}


def test_a_personal_stream_has_one_name_for_all(lights: Lights) -> None:
    states.register("lamp", lights, personal=True)
    try:
        assert states.own_name("lamp", 17) == "lamp:17"
        assert states.own_name("lamp:18", 17) is None, "nobody names another's"
        assert '"stream":"lamp"' in State.of("lamp:17", None, AT).frame()
        assert states.own_name("light:a", 17) == "light:a"
        assert states.own_name("dark:a", 17) is None
    finally:
        states._kinds.pop("lamp")


# The news


def test_who_comes_is_shown_the_state_and_then_every_change(lights: Lights, unhealed: None) -> None:
    async def work() -> None:
        async with running(url()) as here, running(url()) as there:
            lights.now["light:a"] = 1
            near, _ = await watch(here, "light:a")
            far, _ = await watch(there, "light:a")
            assert (near.seen, far.seen) == ([{"n": 1}], [{"n": 1}])
            for number in range(2, 50):
                here.publish([State.of("light:a", {"n": number}, AT * 2 + number)])
            assert near.seen == [{"n": number} for number in range(1, 50)], "at once"
            await far.until(49)
            assert len(lights.reads) == 2, "one reading a process"
            late, _ = await watch(here, "light:a")
            assert late.seen == [{"n": 49}]
            assert len(lights.reads) == 2, "what is known is not read again"

    run(work())


def test_a_touch_is_read_once_in_each_process_that_follows(lights: Lights, unhealed: None) -> None:
    async def work() -> None:
        async with running(url()) as here, running(url()) as there, running(url()) as nobody:
            lights.now |= {"light:a": 1, "light:b": 1}
            streams = ("light:a", "light:b")
            eyes = [(await watch(feed, stream))[0] for feed in (here, there) for stream in streams]
            lights.reads.clear()
            lights.now |= {"light:a": 2, "light:b": 3}
            nobody.publish([Touch(stream) for stream in streams])
            for eye, number in zip(eyes, (2, 3, 2, 3), strict=True):
                await eye.until(number)
            assert sorted(stream for read in lights.reads for stream in read) == sorted(streams * 2)
            lights.now["light:a"] = 4
            here.publish([Touch("light:a")])
            await eyes[2].until(4)
            await eyes[0].until(4)

    run(work())


def test_changes_that_come_fast_are_read_together(lights: Lights, unhealed: None) -> None:
    async def work() -> None:
        async with running(url()) as feed:
            lights.now["light:a"] = 0
            eye, _ = await watch(feed, "light:a")
            for number in range(1, 1001):
                lights.now["light:a"] = number
                feed.publish([Touch("light:a")])
            await eye.until(1000)
            assert len(lights.reads) < 10

    run(work())


def test_the_later_one_of_two_states_stands(lights: Lights, unhealed: None) -> None:
    async def work() -> None:
        async with running(url()) as feed:
            lights.now["light:a"] = 1
            eye, _ = await watch(feed, "light:a")
            feed.publish([State.of("light:a", {"n": 3}, AT * 2 + 3)])
            feed.publish([State.of("light:a", {"n": 2}, AT * 2 + 2)])
            feed.publish([State.of("light:a", {"n": 3}, AT * 2 + 4)])
            assert eye.seen == [{"n": 1}, {"n": 3}]

    run(work())


def test_published_from_other_threads_and_by_processes_without_followers(
    lights: Lights, unhealed: None
) -> None:
    async def work() -> None:
        async with running(url()) as feed:
            lights.now["light:a"] = 1
            eye, _ = await watch(feed, "light:a")
            await asyncio.to_thread(states.publish, "light:a", {"n": 2}, at=AT * 2)
            await eye.until(2)
            states.install_publisher(None)  # as a worker
            await asyncio.to_thread(states.publish, "light:a", {"n": 3}, at=AT * 2 + 1)
            await eye.until(3)
            lights.now["light:a"] = 4
            await asyncio.to_thread(states.touch, "light:a")
            await eye.until(4)

    run(work())


# What heals


def test_a_lost_message_heals(lights: Lights) -> None:
    async def work() -> None:
        async with running(url()) as feed:
            lights.now |= {"light:a": 1, "light:b": 1}
            first, _ = await watch(feed, "light:a")
            second, _ = await watch(feed, "light:b")
            lights.now |= {"light:a": 2, "light:b": 3}
            await first.until(2, module.HEAL_SECONDS * 2)
            await second.until(3, module.HEAL_SECONDS * 2)
            assert feed.healed == 2
            del lights.now["light:b"]
            await second.until(None, module.HEAL_SECONDS * 2)
            assert first.seen == [{"n": 1}, {"n": 2}], "what is as it was is not shown again"

    run(work())


def test_a_source_that_fails_is_asked_again(
    lights: Lights, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with running(url()) as feed:
            lights.now["light:a"] = 1
            eye, _ = await watch(feed, "light:a")
            lights.failures = 2
            lights.now["light:a"] = 2
            feed.publish([Touch("light:a")])
            await eye.until(2, module.HEAL_SECONDS * 3)
            lights.failures = 1
            with pytest.raises(OSError, match="no light"):
                await feed.follow("light:new", Eye())
            assert list(feed._boards) == ["light:a"], "who could not be shown anything is gone"

    run(work())


def test_redis_restarted(lights: Lights, valkey: Valkey, unhealed: None) -> None:
    async def work() -> None:
        async with running(valkey.url) as here, running(valkey.url) as there:
            lights.now["light:a"] = 1
            eye, _ = await watch(there, "light:a")
            await asyncio.to_thread(valkey.kill)
            await true(lambda: not there._wire.connected)
            newcomer, _ = await watch(there, "light:a")
            assert newcomer.seen == [{"n": 1}], "it is read without Redis"
            await asyncio.to_thread(valkey.start)
            await true(lambda: _subscribers(valkey.url) == 1)
            await true(lambda: here._wire.connected)
            # The first write of the other process meets its dead connection, and may be lost with it.
            number = 1
            async with asyncio.timeout(10):
                while eye.seen[-1] == {"n": 1}:
                    number += 1
                    here.publish([State.of("light:a", {"n": number}, AT * 2 + number)])
                    await asyncio.sleep(0.05)
            await newcomer.until(eye.seen[-1]["n"])

    run(work())


def _subscribers(address: str) -> int:
    with redis_py.Redis.from_url(address) as client:
        ((_, count),) = client.pubsub_numsub(b"kado-state:light:a")
        return int(count)


@pytest.mark.parametrize("rubbish", [b"", b"x", b"12", b"touched", b"\xff\xfe {}"])
def test_rubbish_on_a_channel(lights: Lights, rubbish: bytes, unhealed: None) -> None:
    async def work() -> None:
        async with running(url()) as feed:
            lights.now["light:a"] = 1
            eye, _ = await watch(feed, "light:a")
            line = feed._wire.line("light:a")
            connection = line.listener
            with redis_py.Redis.from_url(url()) as client:
                client.publish(b"kado-state:light:a", rubbish)
            await true(lambda: line.listener not in (None, connection))
            lights.now["light:a"] = 2
            await true(lambda: _subscribers(url()) == 1)
            feed.publish([Touch("light:a")])
            await eye.until(2)

    run(work())


# Coming and going


def test_a_follower_that_fails_hurts_nobody_else(lights: Lights, unhealed: None) -> None:
    def bad(state: State) -> None:
        raise RuntimeError("a client's own trouble")

    async def work() -> None:
        async with running(url()) as feed:
            lights.now["light:a"] = 1
            await feed.follow("light:a", bad)
            eye, _ = await watch(feed, "light:a")
            feed.publish([State.of("light:a", {"n": 2}, AT * 2)])
            assert eye.seen == [{"n": 1}, {"n": 2}]

    run(work())


def test_unfollowing_leaves_nothing_behind(lights: Lights, unhealed: None) -> None:
    async def work() -> None:
        async with running(url()) as feed:
            lights.now["light:a"] = 1
            pairs = [await watch(feed, "light:a") for _ in range(20)]
            assert _subscribers(url()) == 1, "one subscription a process"
            for number, (eye, watching) in enumerate(pairs, 2):
                await feed.unfollow(watching)
                await feed.unfollow(watching)  # twice is harmless
                feed.publish([State.of("light:a", {"n": number}, AT * 2 + number)])
                assert eye.seen[-1] == {"n": number - 1}
            coming = [asyncio.ensure_future(feed.follow("light:a", Eye())) for _ in range(20)]
            for number, each in enumerate(coming):
                for _ in range(number % 3):
                    await asyncio.sleep(0)
                each.cancel()
            for outcome in await asyncio.gather(*coming, return_exceptions=True):
                if isinstance(outcome, Watching):
                    await feed.unfollow(outcome)
            assert feed._boards == {}
            await true(lambda: _subscribers(url()) == 0)

    run(work())
