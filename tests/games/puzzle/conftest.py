"""What every test of the puzzle's services is followed by: all runs that it left are looked at."""

from collections.abc import Iterator

import pytest

from games.puzzle.models import Run
from tests.games.puzzle.tables import assert_bests_are_true, assert_run_is_whole
from tests.support.cluster import Cluster
from tests.support.town import Town


@pytest.fixture(autouse=True)
def _runs_are_whole(request: pytest.FixtureRequest) -> Iterator[None]:
    """Versions without a gap, old snapshot + events = fresh snapshot, a record that replays to the same run; and bests
    and leaderboards are what the runs say.
    """
    if request.node.get_closest_marker("django_db") is None:
        yield
        return
    request.getfixturevalue("transactional_db")
    yield
    for run_id in Run.objects.values_list("id", flat=True):
        assert_run_is_whole(run_id)
    assert_bests_are_true()


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    """One web process for all tests of a module; no request may be worth an error in its log."""
    with Cluster() as cluster:
        own = Town(cluster, cluster.web())
        yield own
        assert own.complaints() == []
