"""The frames that wait for one client: events one by one, of each state only the newest."""

from common.states import State
from config.following import Outgoing


def frames(outgoing: Outgoing) -> list[str]:
    return [outgoing.pop() for _ in range(len(outgoing))]


def test_of_a_state_only_the_newest_waits_in_the_place_of_the_oldest() -> None:
    outgoing = Outgoing()
    outgoing.append("first")
    for number in range(1000):
        outgoing.show(State.of("light:a", number, 0))
        outgoing.show(State.of("light:b", -number, 0))
    outgoing.append("last")
    newest = [State.of("light:a", 999, 0).frame(), State.of("light:b", -999, 0).frame()]
    assert frames(outgoing) == ["first", *newest, "last"]
    outgoing.show(State.of("light:a", 1000, 0))
    assert frames(outgoing) == [State.of("light:a", 1000, 0).frame()], "what was sent is not lost"


def test_what_is_not_followed_any_more_is_not_sent() -> None:
    outgoing = Outgoing()
    outgoing.show(State.of("light:a", 1, 0))
    outgoing.append("event")
    outgoing.forget("light:a")
    outgoing.forget("light:a")
    outgoing.forget("light:b")
    assert frames(outgoing) == ["event"]
    outgoing.show(State.of("light:a", 2, 0))
    outgoing.clear()
    outgoing.show(State.of("light:a", 3, 0))
    assert frames(outgoing) == [State.of("light:a", 3, 0).frame()]
