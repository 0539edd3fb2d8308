"""The deployment files name commands, folders and variables that exist."""

import re

import yaml
from django.core.management import get_commands

from config.env import PROJECT, Environment

COMPOSE = yaml.safe_load((PROJECT / "docker-compose.yml").read_text())


def test_every_service_runs_a_command_that_exists() -> None:
    ours = {name: service for name, service in COMPOSE["services"].items() if "build" in service}

    assert set(ours) >= {"web", "wave", "sweeper", "scheduler", "worker-default", "worker-bots"}
    assert {service["command"][0] for service in ours.values()} <= set(get_commands())


def test_the_variables_are_those_that_the_code_reads() -> None:
    of_uvicorn = {"FORWARDED_ALLOW_IPS"}
    given = set(COMPOSE["services"]["web"]["environment"])
    assert given <= set(Environment.VARIABLES) | of_uvicorn


def test_the_distributed_set_up_is_for_https() -> None:
    assert COMPOSE["services"]["web"]["environment"]["KADO_HTTPS"] == "${KADO_HTTPS:-1}"


def test_the_image_has_every_package_and_no_folder_that_is_gone() -> None:
    copied = set(
        re.findall(r"^COPY (\w+) /app", (PROJECT / "Dockerfile").read_text(), re.MULTILINE)
    )
    packages = {path.parent.name for path in PROJECT.glob("*/__init__.py")}

    assert copied == packages - {"tests", "benchmarks"}
    allowed = re.findall(r"^!(\S+)", (PROJECT / ".dockerignore").read_text(), re.MULTILINE)
    assert set(allowed) == copied | {"manage.py", "requirements"}
