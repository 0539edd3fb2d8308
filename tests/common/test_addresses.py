"""Addresses of Redis: what they say, and how each library is told."""

import pytest

from common.addresses import Address, parse_all

SENTINELS = "redis+sentinel://ada:s%40fe@one:26380,two/kado/3?sentinel_password=own"


def test_a_single_server() -> None:
    address = Address.parse("redis://:secret@host:6379/0")
    assert address.sentinels == ()
    assert address.for_celery() == ("redis://:secret@host:6379/0", {})
    assert address.for_channels() == "redis://:secret@host:6379/0"
    assert address.name == "redis://host:6379/0"


def test_sentinels() -> None:
    address = Address.parse(SENTINELS)
    assert address.sentinels == (("one", 26380), ("two", 26379))
    assert (address.service, address.database) == ("kado", 3)
    assert address.credentials == {"username": "ada", "password": "s@fe", "db": 3}
    assert address.sentinel_options == {"password": "own"}
    assert address.for_celery() == (
        "sentinel://ada:s%40fe@one:26380/3;sentinel://ada:s%40fe@two:26379/3",
        {"master_name": "kado", "sentinel_kwargs": {"password": "own"}},
    )
    assert address.for_channels() == {
        "sentinels": [("one", 26380), ("two", 26379)],
        "master_name": "kado",
        "sentinel_kwargs": {"password": "own"},
        "username": "ada",
        "password": "s@fe",
        "db": 3,
    }
    assert address.name == "redis+sentinel://one:26380,two/kado/3"
    plain = Address.parse("redis+sentinel://one/kado")
    assert plain.for_celery() == ("sentinel://one:26379/0", {"master_name": "kado"})


@pytest.mark.parametrize(
    "wrong",
    [
        "unix:///run/redis",
        "redis+sentinel://one:26379",
        "redis+sentinel://one:26379/",
        "redis+sentinel:///kado",
        "redis+sentinel://one:port/kado",
        "redis+sentinel://one,/kado",
        "redis+sentinel://one/kado/x",
        "redis+sentinel://one/kado?other=1",
    ],
)
def test_what_is_no_address(wrong: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Address.parse(wrong)


def test_several() -> None:
    assert [each.name for each in parse_all(f"redis://:x@a {SENTINELS}")] == [
        "redis://a",
        "redis+sentinel://one:26380,two/kado/3",
    ]
    for wrong in ("", " ", "redis://a redis://:x@a"):
        with pytest.raises(ValueError, match="none, or one twice"):
            parse_all(wrong)
