"""`manage.py serve`: everything in one terminal. It runs before the settings can be read: it makes what they name."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.commands import ExampleCommand
from config.embedded import Services, embedded_services, prepare_folder
from config.env import PROJECT, data_folder, secret_key_file, services_file
from config.processes import dies_with_parent
from config.supervisor import Program, Supervisor, Terminal, standard_terminal

EXAMPLES = """\
  python manage.py serve                              PostgreSQL, Valkey and every process of Kado, on port 8000
  python manage.py serve --port 9000 --web 4          another port, four web processes
  python manage.py serve --web-ports 8001,8002        two web processes, each on a port of its own
  python manage.py serve --data /tmp/kado-try         a data folder of its own: nothing of the usual one is touched
  DATABASE_URL=postgresql://… python manage.py serve  your own PostgreSQL; only Valkey is embedded
"""
MANAGE = str(PROJECT / "manage.py")


@dataclass(frozen=True, slots=True)
class Plan:
    """What `serve` was asked to run."""

    host: str
    ports: tuple[int, ...]
    web: int
    """Web processes, all on the one port; with several ports there is one for each."""
    bots: int
    """CPU players' moves that are searched at a time; 0 for no such worker."""
    workers: int
    """Other background tasks at a time; 0 for no such worker."""
    wave: bool
    sweeper: bool
    scheduler: bool

    def programs(self, listeners: list[socket.socket]) -> list[Program]:
        """The processes, in order of start. Those that make tasks are stopped before those that do them."""
        programs = [
            _program(
                f"web-{n}", "web", "--fd", str(listener.fileno()), inherited=[listener.fileno()]
            )
            for n, listener in enumerate(listeners * (self.web if len(listeners) == 1 else 1), 1)
        ]
        if self.wave:
            programs.append(_program("wave", "wave"))
        if self.sweeper:
            programs.append(_program("sweeper", "sweeper"))
        if self.scheduler:
            programs.append(_program("scheduler", "scheduler"))
        for queue, tasks in (("bots", self.bots), ("default", self.workers)):
            if tasks:
                arguments = ("worker", "--queue", queue, "--concurrency", str(tasks))
                programs.append(_program(queue, *arguments, stage=1))
        return programs


class Command(ExampleCommand):
    help = "Run everything in this terminal: PostgreSQL, Valkey, web, workers, matchmaking. Ctrl-C stops it."
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="default: %(default)s")
        parser.add_argument("--port", type=int, default=8000, help="default: %(default)s")
        parser.add_argument(
            "--web-ports",
            type=_ports,
            metavar="PORT,…",
            help="instead: one web process for each port",
        )
        parser.add_argument(
            "--web", type=int, default=2, help="web processes (default: %(default)s)"
        )
        parser.add_argument(
            "--bots",
            type=int,
            default=1,
            help="CPU players' moves at a time (default: %(default)s)",
        )
        parser.add_argument(
            "--workers", type=int, default=1, help="other tasks at a time (default: %(default)s)"
        )
        parser.add_argument("--no-bots", dest="bots", action="store_const", const=0)
        parser.add_argument("--no-workers", dest="workers", action="store_const", const=0)
        parser.add_argument("--no-wave", dest="wave", action="store_false")
        parser.add_argument("--no-sweeper", dest="sweeper", action="store_false")
        parser.add_argument("--no-scheduler", dest="scheduler", action="store_false")
        parser.add_argument(
            "--data",
            type=Path,
            help="data folder (default: KADO_DATA, else one of the project's own)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        plan = Plan(
            host=options["host"],
            ports=options["web_ports"] or (options["port"],),
            web=options["web"],
            bots=options["bots"],
            workers=options["workers"],
            wave=options["wave"],
            sweeper=options["sweeper"],
            scheduler=options["scheduler"],
        )
        data = options["data"].absolute() if options["data"] else data_folder(os.environ)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.default_int_handler)
        try:
            serve(plan, data)
        except KeyboardInterrupt:
            raise SystemExit(130) from None


def serve(plan: Plan, data: Path) -> None:
    """Run it all until a signal comes; raises `ConfigurationError` or `CommandError` with one sentence."""
    from config.management.commands.web import listen

    began = time.monotonic()
    listeners = [listen(plan.host, port) for port in plan.ports]
    programs = plan.programs(listeners)
    terminal = standard_terminal(program.name for program in programs)
    prepare_folder(data)
    terminal.say(f"Starting in {data} …")
    with embedded_services(data) as services:
        environ = _environment(plan, data, services)
        _prepare(environ, terminal)
        _publish(data, services)
        supervisor = Supervisor(
            programs=programs,
            terminal=terminal,
            environ=environ,
            probes=[_reachable(listener) for listener in listeners] if plan.web else [],
            on_ready=lambda: _welcome(terminal, plan, data, time.monotonic() - began),
        )
        supervisor.run()
    terminal.say("Stopped.")


def _program(
    name: str, *arguments: str, stage: int = 0, inherited: list[int] | None = None
) -> Program:
    command = [sys.executable, MANAGE, *arguments]
    return Program(name=name, command=command, stage=stage, inherited=inherited or [])


def _environment(plan: Plan, data: Path, services: Services) -> dict[str, str]:
    """The environment of every process: what was given, completed."""
    given = dict(os.environ)
    given |= services.addresses() | {"KADO_DATA": str(data), "PYTHONUNBUFFERED": "1"}
    given.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if sys.stdout.isatty():
        given.setdefault("FORCE_COLOR", "1")  # the processes write to a pipe, a person reads it
    # On a laptop a second factor is in the way; whoever serves others by this command sets `required`.
    given.setdefault("KADO_STAFF_SECOND_FACTOR", "optional")
    if not given.get("KADO_SECRET_KEY"):
        given["KADO_SECRET_KEY"] = _secret_key(data)
    if not given.get("KADO_HOSTS"):
        open_to_all = plan.host in ("0.0.0.0", "::")  # noqa: S104  (compared, not bound)
        names = ["localhost", "127.0.0.1", "[::1]", plan.host, socket.gethostname()]
        given["KADO_HOSTS"] = "*" if open_to_all else ",".join(dict.fromkeys(names))
    return given


def _secret_key(data: Path) -> str:
    """The data folder's key: made once, so that sessions outlive a restart."""
    path = secret_key_file(data)
    if not path.exists():
        _write_private(path, secrets.token_urlsafe(48))
    return path.read_text().strip()


def _publish(data: Path, services: Services) -> None:
    """Tell `manage.py` in other terminals where the services are; config/env.py reads it."""
    _write_private(services_file(data), json.dumps(services.addresses()))


def _write_private(path: Path, text: str) -> None:
    """Write a whole file that only its owner can read, or none."""
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    draft.replace(path)


def _prepare(environ: Mapping[str, str], terminal: Terminal) -> None:
    outcome = subprocess.run(
        [sys.executable, MANAGE, "prepare", "--verbosity", "0"],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=dies_with_parent(),
        check=False,
    )
    terminal.say(outcome.stdout)
    if outcome.returncode != 0:
        raise CommandError("The database could not be prepared: the lines above say why.")


def _reachable(listener: socket.socket) -> tuple[str, int]:
    """An address of this machine that reaches the listener."""
    host, port = listener.getsockname()[:2]
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port  # noqa: S104


def _welcome(terminal: Terminal, plan: Plan, data: Path, seconds: float) -> None:
    host = "localhost" if plan.host in ("127.0.0.1", "0.0.0.0", "::", "::1") else plan.host  # noqa: S104
    base = f"{host}:{plan.ports[0]}"
    python = os.path.relpath(sys.executable)
    elsewhere = "" if data == data_folder({}) else f"KADO_DATA={data} "
    terminal.say(
        f"Kado is ready after {seconds:.1f} s.\n"
        f"  home      http://{base}/\n"
        f"  API docs  http://{base}/api/v1/docs\n"
        f"  admin     http://{base}/admin/\n"
        f"  socket    ws://{base}/ws/v1\n"
        + "".join(f"  also      http://{host}:{port}/\n" for port in plan.ports[1:])
        + "The first player, from another terminal:\n"
        f"  {elsewhere}{python} manage.py create_player NAME\n"
        "Ctrl-C stops everything."
    )


def _ports(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))
