"""Child processes that never outlive their parent, and ports for them."""

import ctypes
import os
import random
import signal
import socket
import sys
from collections import deque
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
_HELD = 256

_given: set[int] = set()
_reserved: deque[int] = deque()


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on at this moment, and that was not given to somebody who may be about to.

    Other processes see what was given here by a socket in Linux's abstract namespace, which is named after the port
    and ends with this process: the last 256 stand.
    """
    while True:
        port = random.choice(_PORTS)
        if port in _given:
            continue
        _given.add(port)
        if len(_given) > len(_PORTS) // 2:
            _given.clear()
        if not _reserve(port):
            continue
        with socket.socket() as probe:
            try:
                probe.bind((host, port))
            except OSError:
                continue
            return port


def _reserve(port: int) -> bool:
    if sys.platform != "linux":
        return True
    name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        name.bind(f"\0kado-port-{port}")
    except OSError:
        name.close()
        return False
    _reserved.append(name.detach())  # a mere number: it is not missed when the process ends
    if len(_reserved) > _HELD:
        os.close(_reserved.popleft())
    return True
