"""A web process for all tests of a module, somebody who uses it, and a socket."""

from collections.abc import Iterator

import pytest

from tests.support.cluster import Cluster
from tests.support.town import Person, Socket, Town


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    """One web process for all tests here; nothing that they do may be worth an error in its log."""
    with Cluster() as cluster:
        own = Town(cluster, cluster.web())
        yield own
        assert own.complaints() == []


@pytest.fixture
def person(town: Town) -> Person:
    return town.guest()


@pytest.fixture
def socket(town: Town, person: Person) -> Iterator[Socket]:
    with Socket(town, person.token) as own:
        assert own.hear()["type"] == "hello"
        yield own
