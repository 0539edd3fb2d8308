"""The inbox: numbered from 1 without gap or double, whatever happens at once."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest
import redis as redis_py
from django.db import connections, transaction

from accounts import selectors
from accounts.models import InboxItem
from accounts.services.inbox import notify
from accounts.services.people import create_player
from common import streams


class Greeting(msgspec.Struct, frozen=True, tag_field="type", tag="greeting"):
    number: int


@pytest.mark.django_db(transaction=True)
def test_twenty_at_once_are_numbered_without_gap_or_double() -> None:
    ada, bob = create_player(name="Ada"), create_player(name="Bob")

    def tell(number: int) -> int:
        try:
            with transaction.atomic():
                return notify(player_id=ada.pk, event=Greeting(number)).version
        finally:
            connections.close_all()

    with ThreadPoolExecutor(20) as pool:
        versions = list(pool.map(tell, range(20)))
    assert sorted(versions) == list(range(1, 21))
    notes = selectors.inbox_after(ada.pk, 0)
    assert [note.version for note in notes] == list(range(1, 21))
    numbers = [msgspec.json.decode(note.payload, type=Greeting).number for note in notes]
    assert [numbers[version - 1] for version in versions] == list(range(20))
    assert selectors.inbox_version(bob.pk) == 0


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_leaves_no_gap() -> None:
    ada = create_player(name="Ada")
    with transaction.atomic():
        notify(player_id=ada.pk, event=Greeting(1))
    with transaction.atomic():
        notify(player_id=ada.pk, event=Greeting(2))
        transaction.set_rollback(True)
    with transaction.atomic():
        third = notify(player_id=ada.pk, event=Greeting(3), at=1_700_000_000_123)
    assert third.version == 2
    assert selectors.inbox_after(ada.pk, 1) == [third]
    assert third.frame() == (
        '{"type":"event","stream":"inbox","version":2,"at":"2023-11-14T22:13:20.123Z",'
        '"event":{"type":"greeting","number":3}}'
    )


@pytest.mark.django_db(transaction=True)
def test_news_goes_out_after_the_commit_and_not_before(redis: "redis_py.Redis") -> None:
    ada = create_player(name="Ada")
    listener = redis.pubsub()  # type: ignore[no-untyped-call]
    listener.psubscribe("*")
    assert listener.get_message(timeout=2)["type"] == "psubscribe"
    with transaction.atomic():
        note = notify(player_id=ada.pk, event=Greeting(1))
        assert listener.get_message(timeout=0.1) is None
    message: Any = listener.get_message(timeout=2)
    assert streams.Note.unpacked(message["channel"], message["data"]) == note
    listener.close()


@pytest.mark.django_db
def test_the_source_of_the_stream_reads_what_was_written(django_assert_num_queries: Any) -> None:
    ada, bob, eve = (create_player(name=name) for name in ("Ada", "Bob", "Eve"))
    notes = [notify(player_id=ada.pk, event=Greeting(n)) for n in range(3)]
    notify(player_id=bob.pk, event=Greeting(9))
    stream = selectors.inbox_stream(ada.pk)
    source = streams.source_of(stream)
    assert source.events_after(stream, 1) == notes[1:]
    names = [selectors.inbox_stream(player.pk) for player in (ada, bob, eve)]
    with django_assert_num_queries(1):
        assert source.versions(names) == dict(zip(names, [3, 1, 0], strict=True))
    assert InboxItem.objects.count() == 4
