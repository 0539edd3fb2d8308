"""A real browser opens the home page: it draws itself and complains of nothing."""

import shutil
import subprocess
import urllib.request
from pathlib import Path

import pytest

from tests.chaos.crowd import report
from tests.support.cluster import Cluster

pytestmark = pytest.mark.slow
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None,
    reason="needs Chromium: run `make browser` as root (Debian) to install it",
)
PATIENCE = 120


def open_page(url: str, profile: Path) -> tuple[str, list[str]]:
    """The page as it stands after its scripts have run, and what was said on its console."""
    assert CHROMIUM is not None
    command = [
        *(CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *("--no-first-run", "--disable-background-networking", f"--user-data-dir={profile}"),
        *("--enable-logging=stderr", "--virtual-time-budget=10000", "--dump-dom", url),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@needs_chromium
def test_the_home_page_opens_without_console_errors(cluster: Cluster, tmp_path: Path) -> None:
    web = cluster.web()
    page, console = open_page(f"{web.url}/", tmp_path)
    report(f"\n{len(page)} characters, {len(console)} console messages")
    assert console == []
    assert "Play against the CPU" in page


@needs_chromium
@pytest.mark.parametrize("path", ["/sign-in", "/docs/errors", "/api/v1/docs", "/admin/login/"])
def test_other_pages_load_all_that_they_ask_for(
    cluster: Cluster, tmp_path: Path, path: str
) -> None:
    """What the Content-Security-Policy forbids is said on the console."""
    page, console = open_page(cluster.web().url + path, tmp_path)
    assert console == []
    assert len(page) > 500


@needs_chromium
def test_a_page_that_is_broken_is_noticed(tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    broken.write_text("<script>nothing.here()</script><img src='missing.png'>")
    _, console = open_page(broken.as_uri(), tmp_path / "profile")
    assert any("ReferenceError" in line for line in console), console


def test_the_home_page_is_served_to_those_without_a_browser(cluster: Cluster) -> None:
    web = cluster.web()
    with urllib.request.urlopen(f"{web.url}/", timeout=30) as answer:
        assert answer.status == 200
        assert b"<title>Kado</title>" in answer.read()
