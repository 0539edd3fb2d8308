"""The environment, read once and typed. Settings, the supervisor and the commands take every outside value from here.

Where `DATABASE_URL` and `REDIS_URL` are unset, the embedded services of a running `make serve` are used: it writes
their addresses to `services.json` in its data folder, so that `manage.py` works from another terminal.
"""

import fcntl
import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from django.core.exceptions import ImproperlyConfigured
from psycopg.conninfo import conninfo_to_dict

from common.addresses import Address, parse_all

PROJECT = Path(__file__).resolve().parent.parent
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
NOT_RUNNING = "start `make serve` first or set DATABASE_URL and REDIS_URL"


class ConfigurationError(ImproperlyConfigured):
    """The process cannot start as it is configured; the message is one sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Environment:
    """Everything that differs between machines."""

    VARIABLES: ClassVar[tuple[str, ...]] = (
        *("DATABASE_URL", "REDIS_URL", "KADO_SECRET_KEY", "KADO_DEBUG", "KADO_HOSTS", "KADO_DATA"),
        *("KADO_DB_POOL", "KADO_DB_THREADS", "KADO_DAILY_SECRET"),
        *("DATABASE_REPLICA_URL", "KADO_TASKS_REDIS_URL", "KADO_HTTPS", "KADO_SPECTATOR_DELAY"),
        *("KADO_STAFF_SECOND_FACTOR", "KADO_GUEST_DAYS", "KADO_OUTAGE_SECONDS"),
        # read by config/sign_in.py
        *("KADO_GOOGLE_CLIENT_ID", "KADO_GOOGLE_CLIENT_SECRET"),
        *("KADO_OIDC_ENDPOINT", "KADO_OIDC_CLIENT_ID", "KADO_OIDC_CLIENT_SECRET"),
        *("KADO_OIDC_TITLE", "KADO_SIGN_IN"),
        "KADO_KERNELS",  # read by bots/engine/cache.py, which knows no settings
    )

    database_url: str
    replica_url: str
    """A replica of it for reads that may be some seconds old; empty for none."""
    live_redis: tuple[Address, ...]
    """News and tickets: one Redis or several, each of which has its share of the streams."""
    tasks_redis: Address
    """Tasks (Celery), and what is counted against limits."""
    secret_key: str
    daily_secret: bytes
    """What the seeds of daily puzzles come from."""
    debug: bool
    hosts: tuple[str, ...]
    """Host names that this server answers to (Django's ALLOWED_HOSTS)."""
    data: Path
    """The folder of the embedded services; it need not exist when both addresses are given."""
    database_pool: int
    """Most connections to PostgreSQL that one process holds."""
    database_threads: int
    """Threads of a web process that work with the database; never more than its connections."""
    outage_seconds: int
    """How long no web process has to be there for an outage, whose time realtime games get back."""
    https: bool
    """Whether people reach this server by HTTPS only: cookies are then sent by nothing else."""
    spectator_delay: int
    """Seconds by which spectators of rated games see them late."""
    staff_second_factor: bool
    """Whether the admin site is closed to staff who have not set up a second factor."""
    guest_days: int
    """After so many days a guest who has played nothing and does not come back is forgotten."""

    @classmethod
    def read(cls, environ: Mapping[str, str] | None = None) -> "Environment":
        """Read and check the variables; raises `ConfigurationError`."""
        environ = os.environ if environ is None else environ
        data = data_folder(environ)
        services = _services(environ, data)
        pool = _number(environ, "KADO_DB_POOL", default=16)
        threads = _number(environ, "KADO_DB_THREADS", default=min(6, pool))
        if threads > pool:
            raise ConfigurationError(
                f"KADO_DB_THREADS ({threads}) is larger than KADO_DB_POOL ({pool}), so threads would wait for "
                "connections: raise the pool or lower the threads."
            )
        secret_key = _secret_key(environ, data)
        live = _redis("REDIS_URL", services["REDIS_URL"])
        tasks = environ.get("KADO_TASKS_REDIS_URL", "")
        return cls(
            database_url=services["DATABASE_URL"],
            replica_url=environ.get("DATABASE_REPLICA_URL", ""),
            live_redis=live,
            tasks_redis=_one_redis("KADO_TASKS_REDIS_URL", tasks) if tasks else live[0],
            secret_key=secret_key,
            daily_secret=_daily_secret(environ, secret_key),
            debug=_flag(environ, "KADO_DEBUG"),
            hosts=tuple(_words(environ.get("KADO_HOSTS", ""))) or LOCAL_HOSTS,
            data=data,
            database_pool=pool,
            database_threads=threads,
            outage_seconds=_number(environ, "KADO_OUTAGE_SECONDS", default=5, least=2),
            https=_flag(environ, "KADO_HTTPS"),
            spectator_delay=_number(environ, "KADO_SPECTATOR_DELAY", default=0, least=0),
            guest_days=_number(environ, "KADO_GUEST_DAYS", default=90),
            staff_second_factor=_is_required(environ, "KADO_STAFF_SECOND_FACTOR"),
        )


def database_settings(
    url: str, *, pool_size: int, name: str = "DATABASE_URL", patience: int = 10
) -> dict[str, Any]:
    """Django's settings for the PostgreSQL at `url` (any libpq URI, sockets included), with a pool per process.

    `CONN_MAX_AGE` stays 0: under ASGI a connection kept by a thread leaks, the pool is what keeps them. `patience` is
    how many seconds the pool waits for one. `name` is the variable's, for what it says when it is wrong.
    """
    if not url.startswith(("postgresql://", "postgres://")):
        raise ConfigurationError(
            f"{name} must look like postgresql://user:password@host:5432/name, not {_shown(url)!r}."
        )
    try:
        parts = {key: str(value) for key, value in conninfo_to_dict(url).items() if value}
    except Exception as error:
        raise ConfigurationError(f"{name} cannot be read: {str(error).strip()}.") from error
    if "dbname" not in parts:
        raise ConfigurationError(f"{name} names no database: add /kado (or yours) after the host.")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.pop("dbname"),
        "USER": parts.pop("user", ""),
        "PASSWORD": parts.pop("password", ""),
        "HOST": parts.pop("host", ""),
        "PORT": parts.pop("port", ""),
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,  # after a restart of PostgreSQL the pool holds dead connections
        "OPTIONS": {
            "pool": {"min_size": 1, "max_size": pool_size, "timeout": patience},
            "application_name": "kado",
            **parts,
        },
    }


# The data folder


def data_folder(environ: Mapping[str, str]) -> Path:
    """`KADO_DATA`, or the project's own: `.kado`, or for root a folder under /var/lib/kado.

    PostgreSQL refuses to run as root and its system user must reach its files; a folder made for the purpose
    spares loosening the permissions of somebody's home.
    """
    given = environ.get("KADO_DATA", "")
    if given:
        return Path(given).expanduser().absolute()
    if os.geteuid() != 0:
        return PROJECT / ".kado"
    digest = hashlib.sha256(str(PROJECT).encode()).hexdigest()[:8]
    return Path("/var/lib/kado") / f"{PROJECT.name}-{digest}"


def lock_file(data: Path) -> Path:
    """The file that whoever runs the embedded services of `data` holds locked (flock) while they run."""
    return data / "lock"


def services_file(data: Path) -> Path:
    """The JSON file with the addresses of the running embedded services, readable by their owner only."""
    return data / "services.json"


def secret_key_file(data: Path) -> Path:
    """The file with the secret key that `serve` made, readable by its owner only."""
    return data / "secret-key"


def is_occupied(data: Path) -> bool:
    """Whether a living process runs the embedded services of `data`. A killed one never looks alive."""
    try:
        with lock_file(data).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _services(environ: Mapping[str, str], data: Path) -> dict[str, str]:
    """The two addresses, from the environment or from the running embedded services."""
    names = ("DATABASE_URL", "REDIS_URL")
    given = {name: environ.get(name, "") for name in names}
    missing = [name for name in names if not given[name]]
    if not missing:
        return given
    if not is_occupied(data):
        raise ConfigurationError(
            f"{' and '.join(missing)} not set and no embedded services run in {data}: {NOT_RUNNING}."
        )
    try:
        found = json.loads(services_file(data).read_text())
        return {name: given[name] or str(found[name]) for name in names}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"The embedded services in {data} have not published their addresses (they may still be starting): "
            "wait for `make serve` to say that it is ready, then try again."
        ) from error


# Single values


def _secret_key(environ: Mapping[str, str], data: Path) -> str:
    given = environ.get("KADO_SECRET_KEY", "")
    if given:
        return given
    try:
        return secret_key_file(data).read_text().strip()
    except OSError as error:
        raise ConfigurationError(
            "KADO_SECRET_KEY is not set: set it to a long random text "
            "(`python -c 'import secrets; print(secrets.token_urlsafe(48))'`), the same for every process."
        ) from error


def _daily_secret(environ: Mapping[str, str], secret_key: str) -> bytes:
    """`KADO_DAILY_SECRET`, or a secret of its own that follows from the secret key and tells nothing about it."""
    given = environ.get("KADO_DAILY_SECRET", "")
    if (
        0 < len(given) < 32
    ):  # what follows from it is published every day, for whoever wants to try out secrets
        raise ConfigurationError("KADO_DAILY_SECRET must have 32 characters or more.")
    return given.encode() or hmac.digest(secret_key.encode(), b"kado-daily-secret", "sha256")


def _redis(name: str, text: str) -> tuple[Address, ...]:
    try:
        return parse_all(text)
    except ValueError as error:
        raise ConfigurationError(
            f"{name} must look like redis://host:6379/0 or redis+sentinel://host:26379,host:26379/service/0, "
            f"not {_shown(text)!r}: {error}."
        ) from error


def _one_redis(name: str, text: str) -> Address:
    addresses = _redis(name, text)
    if len(addresses) > 1:
        raise ConfigurationError(f"{name} names two servers or more, but it takes one only.")
    return addresses[0]


def _flag(environ: Mapping[str, str], name: str) -> bool:
    text = environ.get(name, "").strip().lower()
    if text in ("", "0", "false", "no", "off"):
        return False
    if text in ("1", "true", "yes", "on"):
        return True
    raise ConfigurationError(f"{name} must be 1 or 0, not {text!r}.")


def _is_required(environ: Mapping[str, str], name: str) -> bool:
    text = environ.get(name, "").strip().lower()
    if text not in ("", "required", "optional"):
        raise ConfigurationError(f"{name} must be required or optional, not {text!r}.")
    return text != "optional"


def _number(environ: Mapping[str, str], name: str, *, default: int, least: int = 1) -> int:
    text = environ.get(name, "").strip()
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or int(text) < least:
        raise ConfigurationError(
            f"{name} must be a whole number of at least {least}, not {text!r}."
        )
    return int(text)


def _words(text: str) -> list[str]:
    return [word for word in (part.strip() for part in text.split(",")) if word]


def _shown(url: str) -> str:
    """A URL that may be put in a message: without its password."""
    head, at, tail = url.rpartition("@")
    return f"{head.partition(':')[0]}://…@{tail}" if at else url
