import json
from pathlib import Path

import pytest

from config.env import ConfigurationError, Environment, database_settings

GIVEN = {
    "DATABASE_URL": "postgresql://kado:secret@db/kado",
    "REDIS_URL": "redis://cache:6379/0",
    "KADO_SECRET_KEY": "k" * 40,
}


def test_reads_what_is_given_and_fills_in_the_rest() -> None:
    environment = Environment.read(GIVEN | {"KADO_HOSTS": "kado.example, www.kado.example"})
    assert environment.database_url == GIVEN["DATABASE_URL"]
    assert environment.hosts == ("kado.example", "www.kado.example")
    assert (environment.debug, environment.database_pool, environment.database_threads) == (
        False,
        16,
        6,
    )


def test_the_secret_of_the_daily_puzzles_follows_from_the_secret_key_or_is_given() -> None:
    derived = Environment.read(GIVEN).daily_secret
    assert derived == Environment.read(GIVEN).daily_secret
    assert derived != Environment.read(GIVEN | {"KADO_SECRET_KEY": "other" * 8}).daily_secret
    assert GIVEN["KADO_SECRET_KEY"].encode() not in derived
    assert Environment.read(GIVEN | {"KADO_DAILY_SECRET": "x" * 32}).daily_secret == b"x" * 32


def test_two_roles_of_redis() -> None:
    """Everything is on one, unless tasks have their own; news and tickets may have several."""
    one = Environment.read(GIVEN)
    assert one.live_redis == (one.tasks_redis,)
    several = Environment.read(
        GIVEN
        | {
            "REDIS_URL": "redis://a redis+sentinel://s1,s2/live",
            "KADO_TASKS_REDIS_URL": "redis://c",
        }
    )
    names = [address.name for address in (*several.live_redis, several.tasks_redis)]
    assert names == ["redis://a", "redis+sentinel://s1,s2/live", "redis://c"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"KADO_SECRET_KEY": "", "KADO_DATA": "/nowhere"}, "KADO_SECRET_KEY is not set"),
        ({"REDIS_URL": "unix:///run/redis"}, "REDIS_URL must look like redis://host"),
        ({"REDIS_URL": "redis://a redis://a"}, "it names none, or one twice"),
        ({"KADO_TASKS_REDIS_URL": "redis://a redis://b"}, "KADO_TASKS_REDIS_URL names two"),
        ({"KADO_TASKS_REDIS_URL": "amqp://a"}, "KADO_TASKS_REDIS_URL must look like redis://host"),
        ({"KADO_SPECTATOR_DELAY": "-1"}, "KADO_SPECTATOR_DELAY must be a whole number"),
        ({"KADO_DAILY_SECRET": "x" * 31}, "KADO_DAILY_SECRET must have 32 characters or more"),
        ({"KADO_DEBUG": "perhaps"}, "KADO_DEBUG must be 1 or 0"),
        ({"KADO_DB_POOL": "many"}, "KADO_DB_POOL must be a whole number"),
        ({"KADO_OUTAGE_SECONDS": "1"}, "at least 2"),
        ({"KADO_DB_POOL": "4", "KADO_DB_THREADS": "5"}, "raise the pool or lower the threads"),
        (
            {"DATABASE_URL": "", "KADO_DATA": "/nowhere"},
            "start `make serve` first or set DATABASE_URL",
        ),
    ],
)
def test_says_in_one_sentence_what_is_wrong(change: dict[str, str], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence) as caught:
        Environment.read(GIVEN | change)
    assert "\n" not in str(caught.value)


def test_services_of_a_killed_serve_are_not_taken_for_running_ones(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    (tmp_path / "services.json").write_text(json.dumps(GIVEN))
    with pytest.raises(ConfigurationError, match="no embedded services run in"):
        Environment.read({"KADO_DATA": str(tmp_path), "KADO_SECRET_KEY": "k"})


def test_understands_the_address_of_a_unix_socket() -> None:
    settings = database_settings(
        "postgresql://postgres:@/kado?host=/var/lib/kado/sockets", pool_size=3
    )
    assert settings["HOST"] == "/var/lib/kado/sockets"
    assert (settings["NAME"], settings["USER"]) == ("kado", "postgres")
    assert settings["OPTIONS"]["pool"]["max_size"] == 3
    assert settings["CONN_MAX_AGE"] == 0


def test_passes_other_options_of_the_address_on() -> None:
    settings = database_settings("postgres://u:p%40@h:5433/n?sslmode=require", pool_size=1)
    assert (settings["PASSWORD"], settings["PORT"]) == ("p@", "5433")
    assert settings["OPTIONS"]["sslmode"] == "require"


@pytest.mark.parametrize(
    "url", ["mysql://root:secret@h/x", "postgresql://h", "postgresql://h/x?colour=red"]
)
def test_refuses_other_addresses_without_showing_the_password(url: str) -> None:
    with pytest.raises(ConfigurationError, match="DATABASE_URL") as caught:
        database_settings(url, pool_size=1)
    assert "secret" not in str(caught.value)


def test_a_wrong_address_is_called_by_its_variable() -> None:
    with pytest.raises(ConfigurationError, match="DATABASE_REPLICA_URL must look like postgresql"):
        database_settings("mysql://a/b", pool_size=1, name="DATABASE_REPLICA_URL")
