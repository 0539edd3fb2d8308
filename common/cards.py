"""Cards: small pieces of an admin page, which each app registers, and a page puts together without knowing the apps.

There are two pages: the dashboard, and that of one player. A card that fails says so in its place; the others are
shown all the same, because operators look when something is wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import structlog
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import DatabaseError, transaction
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from redis.exceptions import RedisError

from common.errors import UnavailableError

log = structlog.get_logger(__name__)

MISSING: Final = "Not known: "


@dataclass(frozen=True, slots=True)
class Card:
    """What one card shows, each part if there is any: figures, a chart, a table, a line below, and a link to more."""

    figures: Sequence[tuple[str, object]] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    chart: SafeString | None = None
    note: str = ""
    more: tuple[str, str] | None = None
    """An address, and what it leads to."""
    alarm: bool = False
    """Whether somebody should look at this first."""


Build = Callable[..., Card]


@dataclass(frozen=True, slots=True)
class Place:
    """A card's place on a page."""

    order: int
    title: str
    permission: str
    build: Build


@dataclass(frozen=True, slots=True)
class Shown:
    """A card with its title, as a template takes it."""

    title: str
    card: Card


class Page:
    """A page that is made of cards. `build` of a card is called with what `show` is given."""

    def __init__(self) -> None:
        self._places: dict[str, Place] = {}

    def card(self, title: str, *, order: int, permission: str) -> Callable[[Build], Build]:
        """Register a function whose card stands in this order, for people with this permission (`app.codename`)."""

        def register(build: Build) -> Build:
            self._places[title] = Place(order, title, permission, build)
            return build

        return register

    def places(self) -> list[Place]:
        return sorted(self._places.values(), key=lambda place: (place.order, place.title))

    def show(self, user: "AbstractBaseUser | AnonymousUser", *args: Any) -> list[Shown]:
        """The cards that this person may see."""
        allowed = [place for place in self.places() if user.has_perm(place.permission)]  # type: ignore[union-attr]
        return [Shown(place.title, _built(place, args)) for place in allowed]


def _built(place: Place, args: Sequence[Any]) -> Card:
    try:
        with transaction.atomic():  # one that fails leaves the connection usable
            return place.build(*args)
    except (RedisError, UnavailableError):
        return Card(note=f"{MISSING}Redis does not answer.", alarm=True)
    except DatabaseError as error:
        return Card(note=f"{MISSING}{str(error).splitlines()[0]}", alarm=True)
    except Exception:
        log.exception("card failed", card=place.title)
        return Card(note=f"{MISSING}the log says why.", alarm=True)


dashboard = Page()
"""Cards are built with the present time in milliseconds."""
player_page = Page()
"""Cards are built with the player's id, and the present time in milliseconds."""


def link(address: str, text: object) -> SafeString:
    """A link in a cell."""
    return format_html('<a href="{}">{}</a>', address, text)


def bars(values: Sequence[float], *, label: str, height: int = 48) -> SafeString:
    """A row of bars as inline SVG, the latest at the right; `label` is read to the blind."""
    width, most = 5 * len(values), max([*values, 0])
    tall = [height * value / max(most, 1) for value in values]
    columns = format_html_join(
        "",
        '<rect x="{}" y="{}" width="4" height="{}"><title>{}</title></rect>',
        (
            (5 * number, f"{height - tall[number]:.1f}", f"{tall[number]:.1f}", f"{value:g}")
            for number, value in enumerate(values)
        ),
    )
    return format_html(
        '<figure class="kado-chart"><figcaption>{} <span>at most {}</span></figcaption>'
        '<svg viewBox="0 0 {} {}" role="img" aria-label="{}" preserveAspectRatio="none">{}</svg></figure>',
        label, f"{most:g}", width, height, label, columns,
    )  # fmt: skip
