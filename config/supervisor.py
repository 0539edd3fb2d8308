"""Runs several programs in one terminal: starts them, brings them back when they die, stops them in order.

One thread and one selector: the programs' output, signals and the readiness probes are all just readable files.
Each program has a session of its own, so a terminal's Ctrl-C reaches the supervisor only; and it dies with the
supervisor, however that ends (see config/processes.py).
"""

import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import IO, Any

from config.processes import dies_with_parent

FIRST_PAUSE = 0.5  # seconds before a program that died is started again; doubles …
LONGEST_PAUSE = 10.0  # … up to this, and begins anew once it has lived for as long
GRACE = 5.0  # seconds for the programs of one stage to end before they are killed
PROBE_PAUSE = 0.2
COLOURS = (36, 32, 35, 33, 34, 96, 92, 95)


@dataclass(frozen=True, slots=True)
class Program:
    """What to run. Programs of a lower `stage` are stopped first."""

    name: str
    command: Sequence[str]
    stage: int = 0
    inherited: Sequence[int] = ()
    """File descriptors that it gets."""


class Terminal:
    """Lines with the name of whoever said them, coloured where a person reads them."""

    def __init__(self, stream: IO[str], *, names: Iterable[str] = ()) -> None:
        self._stream = stream
        self._coloured = stream.isatty() and "NO_COLOR" not in os.environ
        self._names = list(names)
        self._width = max((len(name) for name in ("kado", *self._names)), default=0)

    def say(self, text: str, *, name: str = "kado") -> None:
        """Print each line of `text`; a terminal that has gone away is no reason to stop."""
        label = f"{name:<{self._width}} |"
        if self._coloured:
            colour = COLOURS[self._names.index(name) % len(COLOURS)] if name in self._names else 1
            label = f"\x1b[{colour}m{label}\x1b[0m"
        try:
            for line in text.splitlines():
                if line.strip():
                    self._stream.write(f"{label} {line}\n")
            self._stream.flush()
        except OSError:
            pass


@dataclass(slots=True)
class _Child:
    """A program and its present process, if any."""

    program: Program
    process: "subprocess.Popen[bytes] | None" = None
    started: float = 0.0
    pause: float = FIRST_PAUSE
    due: float = 0.0
    """When it is to be started again (monotonic seconds), while it has no process."""
    rest: bytes = b""
    """Its last output, up to the end of a line that has not come yet."""


@dataclass(slots=True)
class _Probe:
    """One question "are you there?" to a listening address; the answer is awaited, not polled for."""

    address: tuple[str, int]
    due: float = 0.0
    connection: socket.socket | None = None
    answered: bool = False


@dataclass(slots=True)
class Supervisor:
    """Runs `programs` until it is told to stop by SIGINT, SIGTERM or SIGHUP."""

    programs: Sequence[Program]
    terminal: Terminal
    environ: Mapping[str, str]
    probes: Sequence[tuple[str, int]] = ()
    """Addresses that answer `GET /healthz` once everything is up."""
    on_ready: Callable[[], None] = lambda: None
    _children: list[_Child] = field(init=False)
    _waiting: list[_Probe] = field(init=False)
    _selector: selectors.BaseSelector = field(init=False, default_factory=selectors.DefaultSelector)
    _signals: int = field(init=False, default=0)

    def run(self) -> None:
        """Start the programs and stay until all of them have stopped."""
        self._children = [_Child(program) for program in self.programs]
        self._waiting = [_Probe(address) for address in self.probes]
        awake, wake = socket.socketpair()
        with awake, wake, self._selector:
            awake.setblocking(False)
            wake.setblocking(False)
            self._selector.register(awake, selectors.EVENT_READ, lambda: awake.recv(4096))
            before = self._take_signals(wake.fileno())
            try:
                while not self._signals:
                    self._tend()
                    self._turn(self._patience())
            finally:
                self._stop()
                signal.set_wakeup_fd(-1)
                for number, handler in before.items():
                    signal.signal(number, handler)

    # Running

    def _take_signals(self, wakeup: int) -> dict[signal.Signals, Any]:
        def note(number: int, frame: FrameType | None) -> None:
            self._signals += number != signal.SIGCHLD

        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)
        return {number: signal.signal(number, note) for number in numbers}

    def _turn(self, patience: float) -> None:
        """Wait for the next thing to happen and deal with it."""
        for key, _ in self._selector.select(patience):
            key.data()

    def _patience(self) -> float:
        """Seconds until something is due by itself."""
        times = [child.due for child in self._children if child.process is None]
        times += [probe.due for probe in self._waiting if probe.connection is None]
        return max(0.0, min(times, default=time.monotonic() + 60) - time.monotonic())

    def _tend(self) -> None:
        """Start what is due, notice what has died."""
        now = time.monotonic()
        for child in self._children:
            if child.process is not None and child.process.poll() is not None:
                self._bury(child, now)
            if child.process is None and child.due <= now:
                self._start(child, now)
        for probe in self._waiting:
            if probe.connection is None and probe.due <= now:
                self._ask(probe)

    def _start(self, child: _Child, now: float) -> None:
        process = subprocess.Popen(
            child.program.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.environ,
            start_new_session=True,
            pass_fds=child.program.inherited,
            preexec_fn=dies_with_parent(signal.SIGKILL),  # whatever it is doing, it frees its port
        )
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        child.process, child.started = process, now
        self._selector.register(
            process.stdout, selectors.EVENT_READ, lambda: self._listen(child, process)
        )

    def _listen(self, child: _Child, process: "subprocess.Popen[bytes]") -> None:
        """Pass on what it says, by whole lines."""
        assert process.stdout is not None
        try:
            said = os.read(process.stdout.fileno(), 65_536)
        except BlockingIOError:
            return
        if not said:
            self._selector.unregister(process.stdout)
            process.stdout.close()
        *lines, child.rest = (child.rest + said).split(b"\n") if said else (child.rest, b"")
        text = b"\n".join(lines).decode(errors="replace")
        if text:
            self.terminal.say(text, name=child.program.name)

    def _bury(self, child: _Child, now: float) -> None:
        process = child.process
        assert process is not None
        if now - child.started >= LONGEST_PAUSE:
            child.pause = FIRST_PAUSE
        child.process, child.due = None, now + child.pause
        self.terminal.say(
            f"{child.program.name} ended ({_cause(process.returncode)}); "
            f"starting it again in {child.pause:g} s."
        )
        child.pause = min(2 * child.pause, LONGEST_PAUSE)

    # Readiness

    def _ask(self, probe: _Probe) -> None:
        connection = socket.create_connection(probe.address, timeout=5)
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        connection.setblocking(False)
        probe.connection = connection
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._hear(probe))

    def _hear(self, probe: _Probe) -> None:
        """Take the first bytes of the answer: its status decides."""
        connection, probe.connection = probe.connection, None
        assert connection is not None
        self._selector.unregister(connection)
        with connection:
            try:
                answer = connection.recv(64)
            except OSError:
                answer = b""
        if answer.startswith(b"HTTP/1.1 200"):
            self._waiting.remove(probe)
            if not self._waiting:
                self.on_ready()
        else:
            probe.due = time.monotonic() + PROBE_PAUSE

    # Stopping

    def _stop(self) -> None:
        """Stop the stages one after another; a second Ctrl-C kills what is left at once."""
        self.terminal.say("Stopping …")
        for stage in sorted({program.stage for program in self.programs}):
            children = [child for child in self._children if child.program.stage == stage]
            living = [child.process for child in children if child.process is not None]
            for process in living:
                process.terminate()
            deadline = time.monotonic() + GRACE
            while any(process.poll() is None for process in living):
                left = deadline - time.monotonic()
                if left <= 0 or self._signals > 1:
                    self._kill(children)
                self._turn(min(max(left, 0.05), 0.5))
        while len(self._selector.get_map()) > 1 and self._selector.select(0.05):
            self._turn(0)  # their last words

    def _kill(self, children: list[_Child]) -> None:
        for child in children:
            if child.process is not None and child.process.poll() is None:
                self.terminal.say(f"{child.program.name} does not stop: killing it.")
                child.process.kill()
                child.process.wait()


def _cause(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


def standard_terminal(names: Iterable[str] = ()) -> Terminal:
    """The terminal of this process."""
    return Terminal(sys.stdout, names=names)
