"""The browser client in a real browser, against the real service."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.e2e.test_browser import CHROMIUM, needs_chromium
from tests.support.cluster import Cluster

pytestmark = [pytest.mark.slow, needs_chromium]
PATIENCE_MS = 60_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        assert CHROMIUM is not None
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a new visitor; it may say nothing on its console."""
    context = browser.new_context(locale="en-GB", viewport={"width": 1100, "height": 800})
    context.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    context.close()
    assert [words for words in said if "ERR_CONNECTION" not in words] == []


def square(page: Page, row: int, column: int, size: int = 14) -> Any:
    return page.locator(f'[data-square="{row * size + column}"]')


def test_a_game_against_the_cpu(cluster: Cluster, page: Page) -> None:
    """Within one click a guest plays: by mouse, by keyboard, with a hint and an undo, to the resignation."""
    web = cluster.web()
    cluster.worker("bots")
    cluster.worker("default")
    page.goto(web.url)
    page.get_by_role("button", name="Play against the CPU").click()
    page.get_by_role("button", name="Piece Z4: 4 squares").click()
    square(page, 0, 0).click()
    expect(page.get_by_text("Your first piece has to cover the circle, e10.")).to_be_visible()
    expect(page.get_by_role("button", name="Place")).to_be_disabled()
    square(page, 9, 4).click()
    expect(page.get_by_text("It can be placed here")).to_be_visible()
    square(page, 9, 4).click()
    expect(page.get_by_text("Your turn: Blue.")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="Guest-")).to_contain_text("4 points")
    expect(page.locator(".diamond")).to_have_count(0)

    page.get_by_role("button", name="Hint").click()
    expect(page.locator(".outline.hint")).to_be_visible()
    expect(page.get_by_text("2 hints left")).to_be_visible()

    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("listitem").filter(has_text="Guest-")).to_contain_text("0 points")
    page.get_by_role("button", name="Piece I3: 3 squares").focus()
    page.keyboard.press("Enter")
    square(page, 9, 4).click()
    for key in ("r", "f", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.get_by_role("gridcell", name=re.compile("^e9, Blue"))).to_be_visible()
    expect(
        page.get_by_role("gridcell", name=re.compile("^f8, free, your corner|^f8, Orange"))
    ).to_be_visible()

    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Resign").click()
    expect(page.get_by_text("CPU Starter wins")).to_be_visible()
    page.get_by_role("button", name="Play again").click()
    expect(page.get_by_text("Your turn: Blue.")).to_be_visible()


def test_two_players_on_one_device_and_a_server_that_restarts(cluster: Cluster, page: Page) -> None:
    web = cluster.web()
    page.goto(web.url)
    page.get_by_role("button", name="Two players on this device").click()
    for piece, row, column, after in (("X", 9, 4, "Orange"), ("X", 4, 9, "Blue")):
        page.get_by_role("button", name=f"Piece {piece}: 5 squares").click()
        square(page, row, column).click()
        page.get_by_role("button", name="Place").click()
        expect(page.get_by_text(f"Your turn: {after}.")).to_be_visible()
    web.kill9()
    expect(page.get_by_role("alert")).to_contain_text("Connection lost")
    web.restart()
    expect(page.get_by_role("alert")).to_be_hidden()
    page.get_by_role("button", name="Piece 2: 2 squares").click()
    square(page, 11, 5).click()
    page.keyboard.press("Enter")
    expect(page.get_by_role("gridcell", name=re.compile(", Blue$"))).to_have_count(7)
    page.reload()
    expect(page.get_by_role("gridcell", name=re.compile(", Blue$"))).to_have_count(7)


@pytest.mark.parametrize(
    ("locale", "words"), [("ja-JP", "CPUと対戦"), ("ru-RU", "Играть с компьютером")]
)
def test_it_speaks_the_language_of_the_browser(
    cluster: Cluster, browser: Browser, locale: str, words: str
) -> None:
    web = cluster.web()
    context = browser.new_context(locale=locale, viewport={"width": 320, "height": 640})
    page = context.new_page()
    page.goto(web.url)
    expect(page.get_by_role("button", name=words)).to_be_visible(timeout=PATIENCE_MS)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.get_by_role("combobox", name=re.compile("言語|Язык")).select_option("en")
    expect(page.get_by_role("button", name="Play against the CPU")).to_be_visible(
        timeout=PATIENCE_MS
    )
    context.close()
