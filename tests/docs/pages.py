"""The documentation as data: pages, their headings, links, tables and code blocks."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from config.env import PROJECT

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
IMAGE = re.compile(r'<img src="([^"]+)"')
HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)
CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Page:
    path: Path

    @property
    def name(self) -> str:
        return str(self.path.relative_to(PROJECT))

    @cached_property
    def text(self) -> str:
        return self.path.read_text()

    @cached_property
    def prose(self) -> str:
        """The text without its code blocks."""
        return FENCE.sub("", self.text)

    def blocks(self, language: str) -> list[str]:
        return [body for name, body in FENCE.findall(self.text) if name == language]

    def links(self) -> list[str]:
        return LINK.findall(self.prose) + IMAGE.findall(self.prose)

    def anchors(self) -> set[str]:
        """The addresses of its headings, as GitHub makes them."""
        kept = (re.sub(r"[^\w\- ]", "", title.lower()) for _, title in HEADING.findall(self.prose))
        return {title.replace(" ", "-") for title in kept}

    def section(self, title: str) -> str:
        """The prose under the heading of this title, up to the next heading of any level."""
        _, found, rest = self.prose.partition(f"# {title}\n")
        assert found, f"{self.name} has no heading {title!r}"
        return HEADING.split(rest)[0]

    def rows(self, title: str = "") -> list[list[str]]:
        """The body rows of the tables in a section, or on the whole page."""
        text = self.section(title) if title else self.prose
        return table_rows(text)


def table_rows(text: str) -> list[list[str]]:
    rows: list[list[str]] = []
    lines = text.splitlines()
    for before, line in zip(["", *lines], lines, strict=False):
        is_rule = set(line) <= set("|- ")
        if line.startswith("|") and not is_rule and before.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def codes(cells: list[str]) -> list[str]:
    """What stands in backticks at the beginning of each cell."""
    return [found[1] for cell in cells if (found := CODE.match(cell))]


def page(name: str) -> Page:
    return Page(PROJECT / name)


def all_pages() -> list[Page]:
    top = [PROJECT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [Page(path) for path in [*top, *sorted((PROJECT / "docs").rglob("*.md"))]]
