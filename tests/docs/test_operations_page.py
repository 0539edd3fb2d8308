"""docs/operations.md: the environment is that of config/env.py, the queries run, and logged words exist."""

import re

import pytest
from django.core.management import get_commands
from django.db import connection

from common.limits import Limit
from config.env import LOCAL_HOSTS, PROJECT, Environment
from config.guard import LIMITS
from tests.docs.pages import codes, page

PAGE = page("docs/operations.md")
APPS = ("common", "config", "accounts", "games", "matchmaking", "bots")


def _defaults() -> dict[str, str]:
    return {codes(row)[0]: row[1] for row in PAGE.rows("Environment")}


def test_the_variables_are_those_that_are_read() -> None:
    assert list(_defaults()) == list(Environment.VARIABLES)


def test_the_defaults_are_those_of_the_code() -> None:
    environment = Environment.read(
        {
            "DATABASE_URL": "postgresql://localhost/kado",
            "REDIS_URL": "redis://localhost",
            "KADO_SECRET_KEY": "x",
        }
    )
    defaults = {name: codes([text]) for name, text in _defaults().items()}
    assert defaults["KADO_DB_POOL"] == [str(environment.database_pool)]
    assert defaults["KADO_DB_THREADS"] == [str(environment.database_threads)]
    assert defaults["KADO_GUEST_DAYS"] == [str(environment.guest_days)]
    assert defaults["KADO_HTTPS"] == [str(int(environment.https))]
    assert environment.staff_second_factor
    assert defaults["KADO_STAFF_SECOND_FACTOR"][0] == "required"
    assert defaults["KADO_DEBUG"] == [str(int(environment.debug))]
    assert defaults["KADO_HOSTS"] == [",".join(LOCAL_HOSTS)]


@pytest.mark.django_db
def test_the_queries_run() -> None:
    (block,) = PAGE.blocks("sql")
    for statement in block.strip().removesuffix(";").split(";\n"):
        with connection.cursor() as cursor:
            cursor.execute(statement)
            assert cursor.fetchall() == []


def test_every_process_command_exists() -> None:
    named = {
        name for row in PAGE.rows("Processes") for name in re.findall(r"manage\.py (\w+)", row[1])
    }
    assert named == {"web", "worker", "wave", "sweeper", "scheduler"}
    assert named <= set(get_commands())


def test_messages_to_watch_for_are_logged_somewhere() -> None:
    code = "".join(path.read_text() for app in APPS for path in (PROJECT / app).rglob("*.py"))
    for row in PAGE.rows("What to watch"):
        for message in re.findall(r"`([^`]+)`", row[0]):
            parts = [part.strip() for part in message.split("…")]
            assert all(part in code for part in parts), message


def test_the_limits_are_those_of_the_code() -> None:
    def words(limit: Limit) -> list[str]:
        interval = limit.interval_ms
        return [str(limit.burst), f"{interval // 1000} s" if interval >= 1000 else f"{interval} ms"]

    said = {row[0]: row[1:] for row in PAGE.rows("Security")}
    coded = {limit.name: words(limit) for _, _, limit in LIMITS}
    assert (
        dict(zip(("password", "sign-in", "guest", "oauth", "token"), said.values(), strict=True))
        == coded
    )
