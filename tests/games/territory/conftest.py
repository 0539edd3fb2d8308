"""What the tests of games over HTTP share: one web process for each module, and somebody in it."""

from collections.abc import Iterator

import pytest

from tests.support.cluster import Cluster
from tests.support.town import Person, Town


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    """One web process for all tests of a module; no request may be worth an error in its log."""
    with Cluster() as cluster:
        own = Town(cluster, cluster.web())
        yield own
        assert own.complaints() == []


@pytest.fixture(scope="module")
def person(town: Town) -> Person:
    return town.guest()
