"""The Python of docs/apps.md, run as an author would; the person is played by a browser."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.docs.pages import page
from tests.support.app import App, decide
from tests.support.cluster import Cluster
from tests.support.provider import SECONDS, Browser, Provider
from tests.support.town import Town

pytestmark = pytest.mark.slow


@pytest.fixture
def person(cluster: Cluster, tmp_path: Path) -> Iterator[Browser]:
    with Provider(tmp_path / "provider.log") as provider:
        cluster.environ |= provider.environ
        browser = Browser(Town(cluster, cluster.web()), provider)
        browser.sign_in(provider.person(name="Ada"))
        yield browser


@pytest.mark.parametrize("allow", ["True", ""])
def test_the_whole_way(person: Browser, allow: str) -> None:
    (script,) = page("docs/apps.md").blocks("python")
    app = App.registered(person, redirect_uris="http://127.0.0.1/back")
    environ = os.environ | {"KADO_SERVER": person.origin, "KADO_CLIENT_ID": app.client_id}
    with subprocess.Popen(
        [sys.executable, "-c", script], env=environ, stdout=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        assert running.stdout
        opened = running.stdout.readline()
        assert opened.startswith("Open "), opened + running.stdout.read()
        pressed = {"allow": allow} if allow else {}
        back = decide(person, opened.removeprefix("Open ").strip(), **pressed)
        requests.get(back.headers["Location"], timeout=SECONDS)
        said = running.stdout.read()
    if allow:
        assert said == "Acting for Ada with play profile\nRefreshed, still Ada\n"
    else:
        assert said == "Not allowed: access_denied\n"
