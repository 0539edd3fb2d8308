"""The inbox: numbered from 1 without gap or double, whatever happens at once."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest
import redis as redis_py
from django.db import connections, transaction

from accounts import selectors
from accounts.models import InboxItem, Player
from accounts.selectors import InboxMarks
from accounts.services import inbox, retention
from accounts.services.inbox import forget_inbox_items, mark_read, notify
from accounts.services.people import create_player
from accounts.states import InboxReadData, InboxReadStates
from common import streams
from common.clock import now_ms

NOW = 1_800_000_000_000
DAY_MS = 24 * 3_600_000


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


def tell(player: Player, *ages_in_days: float, now: int = NOW) -> None:
    """An item for each age."""
    for age in ages_in_days:
        notify(player_id=player.pk, event=Greeting(0), at=now - int(age * DAY_MS))


def kept(player: Player) -> list[int]:
    return [note.version for note in selectors.inbox_after(player.pk, 0)]


@pytest.mark.django_db
def test_read_marks_go_forward_only_and_not_beyond_the_latest() -> None:
    ada, bob = create_player(name="Ada"), create_player(name="Bob")
    tell(ada, 3, 2, 1)
    assert selectors.inbox_marks(ada.pk) == InboxMarks(version=3, read=0)
    for up_to, read in ((2, 2), (2, 2), (1, 2), (0, 2), (3, 3), (10**18, 3)):
        assert mark_read(player_id=ada.pk, up_to=up_to) == InboxMarks(version=3, read=read)
    tell(ada, 0)
    marks = mark_read(player_id=ada.pk, up_to=1)
    assert (marks.read, marks.unread) == (3, 1)
    assert mark_read(player_id=bob.pk, up_to=5) == InboxMarks()


@pytest.mark.django_db(transaction=True)
def test_marks_from_many_devices_at_once_leave_the_highest() -> None:
    ada = create_player(name="Ada")
    tell(ada, *range(20))

    def read(up_to: int) -> int:
        try:
            return mark_read(player_id=ada.pk, up_to=up_to).read
        finally:
            connections.close_all()

    with ThreadPoolExecutor(10) as pool:
        found = list(pool.map(read, range(1, 21)))
    assert all(mark >= up_to for mark, up_to in zip(found, range(1, 21), strict=True))
    assert selectors.inbox_marks(ada.pk).read == 20


@pytest.mark.django_db(transaction=True)
def test_other_devices_learn_what_was_read(redis: "redis_py.Redis") -> None:
    ada = create_player(name="Ada")
    tell(ada, 1)
    listener = redis.pubsub()  # type: ignore[no-untyped-call]
    listener.psubscribe("*")
    assert listener.get_message(timeout=2)["type"] == "psubscribe"
    for _ in range(2):
        mark_read(player_id=ada.pk, up_to=1)
    message: Any = listener.get_message(timeout=2)
    assert message["channel"].decode() == f"kado-state:inbox-read:{ada.pk}"
    assert listener.get_message(timeout=0.1) is None  # the second time nothing changed
    listener.close()
    stream = f"inbox-read:{ada.pk}"
    assert InboxReadStates().current([stream, "inbox-read:0"]) == {
        stream: InboxReadData(1),
        "inbox-read:0": InboxReadData(0),
    }


@pytest.mark.django_db
def test_read_items_go_after_90_days_and_all_after_a_year() -> None:
    ada, bob, eve = (create_player(name=name) for name in ("Ada", "Bob", "Eve"))
    tell(ada, 366, 364, 91, 91, 89, 1)
    mark_read(player_id=ada.pk, up_to=3)
    tell(bob, 364, 91, 1)
    tell(eve, 400, 380)
    assert forget_inbox_items(now=NOW) == 5
    assert kept(ada) == [4, 5, 6]  # 4 is old enough, but unread
    assert selectors.inbox_marks(ada.pk) == InboxMarks(version=6, read=3, dropped=3)
    assert kept(bob) == [1, 2, 3]
    assert selectors.inbox_marks(eve.pk) == InboxMarks(version=2, read=0, dropped=2)
    assert selectors.inbox_marks(eve.pk).unread == 0
    assert forget_inbox_items(now=NOW) == 0
    mark_read(player_id=ada.pk, up_to=6)
    assert forget_inbox_items(now=NOW + 2 * DAY_MS) == 3  # Ada's two, and Bob's first
    assert (kept(ada), kept(bob)) == ([6], [2, 3])
    tell(eve, 0)
    assert kept(eve) == [3]
    assert selectors.inbox_marks(eve.pk).unread == 1


@pytest.mark.django_db
def test_what_stays_has_no_holes() -> None:
    ada = create_player(name="Ada")
    tell(ada, 100, 10, 400, 1)  # instants out of order, as clocks may give them
    mark_read(player_id=ada.pk, up_to=4)
    assert forget_inbox_items(now=NOW) == 1
    assert kept(ada) == [2, 3, 4]


@pytest.mark.django_db(transaction=True)
def test_forgetting_while_items_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "BATCH", 2)
    people = [create_player(name=f"Ada{n}") for n in range(5)]
    for player in people:
        tell(player, 400, 399)

    def write(player: Player) -> None:
        try:
            for _ in range(20):
                tell(player, 0)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(5) as pool:
        writing = [pool.submit(write, player) for player in people]
        deleted = sum(forget_inbox_items(now=NOW) for _ in range(5))
        for done in writing:
            done.result()
    deleted += forget_inbox_items(now=NOW)
    assert deleted == 10
    for player in people:
        assert kept(player) == list(range(3, 23))
        assert selectors.inbox_marks(player.pk) == InboxMarks(version=22, dropped=2)


@pytest.mark.django_db
def test_it_is_a_rule_of_the_night() -> None:
    ada = create_player(name="Ada")
    tell(ada, 400, 1, now=now_ms())
    assert retention.RULES["inbox"]() == 1
    assert kept(ada) == [2]
