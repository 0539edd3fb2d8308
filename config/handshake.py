"""Who opens a socket, as the headers of its handshake say it."""

from collections.abc import Callable, Iterable
from functools import partial
from urllib.parse import urlsplit

from django.conf import settings
from django.http import parse_cookie
from django.http.request import split_domain_port, validate_host

from accounts.selectors import Caller, authenticate, caller_of_session

Headers = Iterable[tuple[bytes, bytes]]


def by_token(headers: Headers) -> Callable[[], Caller] | None:
    """What finds the caller by the token in `Authorization`, in a thread; None without one."""
    scheme, _, secret = _header(headers, b"authorization").partition(" ")
    return partial(authenticate, secret.strip()) if scheme.lower() == "bearer" else None


def by_session(headers: Headers) -> Callable[[], Caller] | None:
    """What finds the caller by the cookie of a session, in a thread; None without one, or for a page of another site.

    Any page may open a socket here, and browsers may send the cookie along: it counts for our own pages only.
    """
    key = parse_cookie(_header(headers, b"cookie")).get(settings.SESSION_COOKIE_NAME)
    if not key or not is_own_page(_header(headers, b"origin"), _header(headers, b"host")):
        return None
    return partial(caller_of_session, key)


def is_own_page(origin: str, host: str) -> bool:
    """Whether a page of `origin` is of this server, which was called by the name `host`."""
    try:
        page = urlsplit(origin)
    except ValueError:
        return False
    schemes = ("https",) if settings.SESSION_COOKIE_SECURE else ("http", "https")
    known = validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS)
    return known and page.scheme in schemes and page.netloc.lower() == host.lower()


def _header(headers: Headers, wanted: bytes) -> str:
    return next((value.decode("latin-1") for name, value in headers if name == wanted), "")
