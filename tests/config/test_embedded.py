"""The embedded servers, for real. Each test has a data folder of its own outside the tree."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
import redis as redis_py

from config import postgres_programs
from config.embedded import embedded_services
from config.env import PROJECT, ConfigurationError, is_occupied
from config.processes import free_port
from tests.support.proc import descendants, eventually, living
from tests.support.services import scratch_folder

HOLDER = """
import sys, time
from pathlib import Path
from config.embedded import embedded_services
with embedded_services(Path(sys.argv[1]), environ={}) as services:
    print(services.database_url, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def data() -> Path:
    return scratch_folder()


@pytest.fixture
def holder(data: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process that runs the services of `data`."""
    command = [sys.executable, "-c", HOLDER, str(data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=PROJECT) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_what_is_written_outlives_a_restart(data: Path) -> None:
    with embedded_services(data, environ={}) as services:
        with psycopg.connect(services.database_url) as connection:
            row = connection.execute(
                "SELECT current_setting('server_version'), current_setting('fsync'),"
                " current_setting('synchronous_commit'), current_setting('max_connections')"
            ).fetchone()
            assert row is not None
            connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        assert row[0].startswith("18.")
        assert row[1:] == ("on", "on", "200")
        servers = descendants(os.getpid(), mentioning=str(data))
        assert any("postgres" in command for command in servers.values())
    assert not living(servers)
    with (
        embedded_services(data, environ={}) as services,
        psycopg.connect(services.database_url) as connection,
    ):
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)


def test_valkey_restarts_empty_on_the_same_address_and_asks_for_its_password(data: Path) -> None:
    with embedded_services(
        data, environ={"DATABASE_URL": "postgresql://elsewhere/kado"}
    ) as services:
        assert services.postgres is None
        assert services.database_url == "postgresql://elsewhere/kado"
        with redis_py.Redis.from_url(services.redis_url) as client:
            client.set("a", 1)
            assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
            services.restart_valkey()
            assert client.get("a") is None
        port = int(services.redis_url.rpartition(":")[2].partition("/")[0])
        with redis_py.Redis(port=port) as stranger, pytest.raises(redis_py.AuthenticationError):
            stranger.get("a")


def test_given_addresses_are_used_and_nothing_is_started(data: Path) -> None:
    given = {"DATABASE_URL": "postgresql://elsewhere/kado", "REDIS_URL": "redis://elsewhere/0"}
    with embedded_services(data, environ=given) as services:
        assert services.addresses() == given
        assert not descendants(os.getpid(), mentioning=str(data))
        assert not (data / "postgres").exists()
        with pytest.raises(ConfigurationError, match="not embedded"):
            services.restart_valkey()


def test_a_folder_in_use_is_refused(data: Path, holder: "subprocess.Popen[str]") -> None:
    assert is_occupied(data)
    with (
        pytest.raises(ConfigurationError, match="Another instance is running in the data folder"),
        embedded_services(data, environ={}),
    ):
        pass


def test_a_killed_holder_takes_its_servers_along_and_blocks_nobody(
    data: Path, holder: "subprocess.Popen[str]"
) -> None:
    servers = descendants(holder.pid)
    assert any("postgres" in command for command in servers.values())
    assert any("valkey-server" in command for command in servers.values())
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with embedded_services(data, environ={}) as services, psycopg.connect(services.database_url):
        assert eventually(lambda: not living(servers))


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("PG_VERSION", "16\n", "belongs to PostgreSQL 16 and this is 18"),
        ("notes.txt", "", "is not a whole PostgreSQL folder"),
        ("PG_VERSION", "18\n", "is not a whole PostgreSQL folder"),
    ],
)
def test_a_broken_folder_is_refused_and_left_alone(
    data: Path, name: str, text: str, sentence: str
) -> None:
    (data / "postgres").mkdir()
    (data / "postgres" / name).write_text(text)
    with pytest.raises(ConfigurationError, match=sentence), embedded_services(data, environ={}):
        pass
    assert [path.name for path in (data / "postgres").iterdir()] == [name]


def test_a_damaged_control_file_is_told_in_postgresqls_words(data: Path) -> None:
    with embedded_services(data, environ={}):
        pass
    (data / "postgres" / "global" / "pg_control").write_bytes(b"\0" * 8192)
    with (
        pytest.raises(
            ConfigurationError, match=r"PostgreSQL did not start in .* give another folder"
        ),
        embedded_services(data, environ={}),
    ):
        pass


def test_a_folder_that_was_half_made_is_made_anew(data: Path) -> None:
    (data / "postgres.new").mkdir()
    (data / "postgres.new" / "PG_VERSION").write_text("18\n")
    with embedded_services(data, environ={}) as services, psycopg.connect(services.database_url):
        assert not (data / "postgres.new").exists()


def test_a_file_is_no_data_folder(data: Path) -> None:
    (data / "file").touch()
    with (
        pytest.raises(ConfigurationError, match="cannot be used"),
        embedded_services(data / "file", environ={}),
    ):
        pass


def test_a_path_too_long_for_a_socket_still_works(data: Path) -> None:
    deep = data / ("d" * 60) / ("e" * 60)
    with (
        embedded_services(deep, environ={}) as services,
        psycopg.connect(services.database_url) as connection,
    ):
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_programs_that_others_may_not_reach_are_copied(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for root with a project in a closed home: its permissions stay as they are."""
    monkeypatch.setattr(postgres_programs, "_others_reach", lambda path: path == data)
    with (
        embedded_services(data, environ={}) as services,
        psycopg.connect(services.database_url) as connection,
    ):
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert any(data.glob("programs-*")) == (os.geteuid() == 0)


def test_no_port_is_given_out_twice() -> None:
    """Whoever gets one may take a while to listen; a second one must not be told the same."""
    ports = [free_port() for _ in range(1_000)]
    assert len(set(ports)) == len(ports)


def test_no_port_is_given_to_two_processes() -> None:
    """Tests that run beside each other, and what they start, ask for ports at the same time."""
    program = (
        "import random, sys; from config.processes import free_port; random.seed(1);"
        "print(free_port(), flush=True); sys.stdin.read()"
    )
    with ExitStack() as stack:
        ports = []
        for _ in range(3):
            other = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", program],
                    cwd=PROJECT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            assert other.stdout is not None
            ports.append(int(other.stdout.readline()))
    assert len(set(ports)) == 3
