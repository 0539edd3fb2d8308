"""Child processes that never outlive their parent, and ports for them."""

import ctypes
import os
import random
import signal
import socket
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def dies_with_parent(number: signal.Signals = signal.SIGTERM) -> Callable[[], None]:
    """A `preexec_fn` that has the kernel send `number` to the child when the thread that started it ends.

    So start such children from a thread that lives as long as they may, as a rule the main one. On other systems
    than Linux it does nothing: there a supervisor that is killed leaves its children running.
    """
    parent = os.getpid()

    def prepare() -> None:
        if _LIBC is None:
            return
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent:  # it died before the request took effect
            os._exit(1)

    return prepare


_PORTS = range(
    20_000, 30_000
)  # below those that systems hand out to clients, so that they stay free over a restart


_given: set[int] = set()


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on at this moment, and that was not given to somebody who may be about to."""
    while True:
        port = random.choice(_PORTS)
        if port in _given:
            continue
        _given.add(port)
        if len(_given) > len(_PORTS) // 2:
            _given.clear()
        with socket.socket() as probe:
            try:
                probe.bind((host, port))
            except OSError:
                continue
            return port
