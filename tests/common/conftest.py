"""A table that owns streams, and a Valkey to stop and start."""

from collections.abc import Iterator

import pytest

from common import streams
from config.valkey import Valkey
from tests.common.feeds import Table
from tests.support import services


@pytest.fixture
def table() -> Iterator[Table]:
    own = Table()
    streams.register("table", own)
    yield own
    streams._sources.pop("table")


@pytest.fixture
def valkey() -> Iterator[Valkey]:
    """A Valkey of one's own, to stop and start."""
    server = Valkey(services.scratch_folder())
    server.start()
    yield server
    server.kill()
