"""`manage.py worker`: one for the bots' queue steps back for what answers people."""

import os
from pathlib import Path

import pytest

from tests.support.cluster import Cluster
from tests.support.proc import eventually
from tests.support.process import Process, says

OWN = os.getpriority(os.PRIO_PROCESS, 0)


def steps_back(process: Process, wanted: int) -> bool:
    """Whether the process has this niceness, and the group into which Linux may put its session."""
    group = Path(f"/proc/{process.pid}/autogroup")
    grouped = not group.exists() or group.read_text().split()[-1] == str(wanted)
    return os.getpriority(os.PRIO_PROCESS, process.pid) == min(OWN + wanted, 19) and grouped


@pytest.mark.parametrize(
    ("arguments", "nice"),
    [(("bots",), 5), (("bots", "--nice", "12"), 12), (("bots", "--nice", "0"), 0)],
)
def test_how_far_it_steps_back(cluster: Cluster, arguments: tuple[str, ...], nice: int) -> None:
    worker = cluster.run(["worker", "--queue", *arguments], says("ready."), wait=False)
    assert eventually(lambda: steps_back(worker, nice), seconds=60)


def test_the_others_do_not(cluster: Cluster) -> None:
    assert steps_back(cluster.worker("default"), 0)
