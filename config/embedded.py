"""PostgreSQL 18 and Valkey 9 from wheels, run in a data folder: the real servers without an installation.

The servers are plain children of the process that holds the folder. They end with it, however it ends: Linux
signals them when it is killed, and PostgreSQL then shuts down in order. A lock on the folder tells a running
instance from the leftovers of a killed one.
"""

import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from config.env import ConfigurationError, lock_file, services_file
from config.postgres import Postgres
from config.valkey import Valkey

DATABASE = "kado"


@dataclass(frozen=True, slots=True)
class Services:
    """The addresses to use, and the servers behind them where this process runs them."""

    database_url: str
    redis_url: str
    postgres: Postgres | None
    valkey: Valkey | None

    def restart_valkey(self) -> None:
        """Stop Valkey, which loses all that it held, and start it on the same address."""
        if self.valkey is None:
            raise ConfigurationError(
                "Valkey is not embedded here (REDIS_URL is set), so it cannot be restarted."
            )
        self.valkey.stop()
        self.valkey.start()

    def addresses(self) -> dict[str, str]:
        """The two variables to hand to the processes that use the services."""
        return {"DATABASE_URL": self.database_url, "REDIS_URL": self.redis_url}


@contextmanager
def embedded_services(
    data: Path, *, environ: Mapping[str, str] | None = None, durable: bool = True
) -> Iterator[Services]:
    """Run in `data` whichever of the two services `environ` gives no address for; stop them afterwards.

    `durable=False` lets PostgreSQL skip flushing to the disk, for tests: it survives a kill, not a power cut.
    Raises `ConfigurationError` with one sentence when the folder cannot be used.
    """
    environ = os.environ if environ is None else environ
    database_url, redis_url = environ.get("DATABASE_URL", ""), environ.get("REDIS_URL", "")
    with ExitStack() as stack:
        prepare_folder(data)
        stack.enter_context(_locked(data))
        services_file(data).unlink(missing_ok=True)  # a killed holder's
        stack.callback(services_file(data).unlink, missing_ok=True)
        postgres = None if database_url else Postgres(data, durable=durable)
        valkey = None if redis_url else Valkey(data)
        if postgres is not None:
            stack.callback(postgres.stop)
            postgres.launch()  # gets ready while Valkey starts
        if valkey is not None:
            stack.callback(valkey.stop)
            valkey.start()
        if postgres is not None:
            postgres.wait_until_ready()
            postgres.create_database(DATABASE)
            database_url = postgres.url(DATABASE)
        yield Services(
            database_url=database_url,
            redis_url=valkey.url if valkey is not None else redis_url,
            postgres=postgres,
            valkey=valkey,
        )


def prepare_folder(data: Path) -> None:
    """Make the data folder and check that it can be written; others may at most pass through it."""
    mode = 0o711 if os.geteuid() == 0 else 0o700  # root's PostgreSQL runs as another user
    try:
        data.mkdir(mode=mode, parents=True, exist_ok=True)
        data.chmod(mode)
        probe = data / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ConfigurationError(
            f"The data folder {data} cannot be used ({error.strerror}): give another one with --data or KADO_DATA."
        ) from error


@contextmanager
def _locked(data: Path) -> Iterator[None]:
    """Hold the folder; whoever only looks whether it is held has it for an instant, so try for a second."""
    with lock_file(data).open("ab") as lock:
        for _ in range(20):
            if _try_lock(lock):
                break
            time.sleep(0.05)
        else:
            raise ConfigurationError(
                f"Another instance is running in the data folder {data}: stop it first, "
                "or give this one a folder of its own with --data."
            )
        yield


def _try_lock(lock: BinaryIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
