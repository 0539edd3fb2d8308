"""A streaming replica of the test run's PostgreSQL."""

import subprocess
from typing import Any

import psycopg

from config.postgres import SUPERUSER, Postgres
from config.postgres_programs import account_to_use, programs
from tests.support import services


def replica_of(primary: Postgres) -> Postgres:
    """A copy of the primary that follows it, running; all its databases are in it. Stop it."""
    data = services.scratch_folder()
    replica = Postgres(data, durable=False)
    account = account_to_use()
    replica._make_folder(replica.folder)
    source = primary.url(SUPERUSER)
    subprocess.run(
        [
            programs(data, account) / "pg_basebackup",
            *("-D", replica.folder, "-d", source, "-R", "-X", "stream", "-c", "fast", "--no-sync"),
        ],
        check=True,
        capture_output=True,
        cwd=replica.folder,
        user=account.uid,
        group=account.gid,
        extra_groups=None if account.uid is None else [],
    )
    replica.launch()
    replica.wait_until_ready()
    return replica


def say(server: Postgres, statement: str) -> list[tuple[Any, ...]]:
    """Run a statement of the superuser's."""
    with psycopg.connect(server.url(SUPERUSER), autocommit=True) as connection:
        return connection.execute(statement.encode()).fetchall()
