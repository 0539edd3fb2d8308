"""A town whose people sign in by a real provider; nothing that they do may be worth an error in its log."""

from collections.abc import Iterator

import pytest

from tests.support.cluster import Cluster
from tests.support.provider import Browser, Provider
from tests.support.town import Town


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    with Provider(tmp_path_factory.mktemp("provider") / "log") as provider:
        yield provider


@pytest.fixture(scope="module")
def town(provider: Provider) -> Iterator[Town]:
    with Cluster() as cluster:
        cluster.environ |= provider.environ
        own = Town(cluster, cluster.web())
        yield own
        assert own.complaints() == []


@pytest.fixture
def browser(town: Town, provider: Provider) -> Browser:
    return Browser(town, provider)
