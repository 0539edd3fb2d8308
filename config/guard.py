"""Middleware: how often somebody may call, and what pages may load."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from common.errors import RateLimitedError
from common.headers import PAGE_POLICY
from common.limits import Limit, address_group, headers_of, take_all, wait_of
from config.problems import CONTENT_TYPE, document

Next = Callable[[HttpRequest], HttpResponseBase]

ADDRESS: Final = Limit("address", burst=3_000, interval_ms=2)
"""Every call of the API counts for the address that it comes from; config/throttle.py counts for whom it is."""
API: Final = re.compile(r"/(api/v1|oauth)/.*")

# (methods, addresses, limit): the first that fits counts, for each client address by itself. Generous for many people
# behind one address; who guesses passwords gets no further.
LIMITS: Final = (
    (
        {"POST"},
        re.compile(r"/admin/(login|second-factor)/"),
        Limit("password", burst=10, interval_ms=6_000),
    ),
    ({"POST"}, re.compile(r"/sign-in/guest|/api/v1/guests"), Limit("guest", 300, 1_000)),
    ({"POST", "GET"}, re.compile(r"/sign-in/.+"), Limit("sign-in", 60, 1_000)),
    ({"POST"}, re.compile(r"/oauth/(token|revoke)"), Limit("oauth", 300, 50)),
    ({"POST"}, re.compile(r"/(api/v1/me|account)/tokens"), Limit("token", 60, 1_000)),
)


def throttle(following: Next) -> Next:
    """Refuse who comes too often, in whichever process, before anything else is done for them."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        who = address_group(request.META.get("REMOTE_ADDR", ""))
        taken = take_all([(limit, who) for limit in _limits_of(request)])
        wait = wait_of(taken)
        answer = _too_fast(request, wait) if wait else following(request)
        for name, value in headers_of([*taken, *getattr(request, "taken", ())]).items():
            answer[name] = value
        return answer

    return middleware


def _limits_of(request: HttpRequest) -> Iterator[Limit]:
    """The limits of an address that a request counts in."""
    for methods, addresses, limit in LIMITS:
        if request.method in methods and addresses.fullmatch(request.path_info):
            yield limit
            break
    if API.fullmatch(request.path_info):
        yield ADDRESS


def _too_fast(request: HttpRequest, wait_ms: int) -> HttpResponseBase:
    """A problem for programs, a page for people; both say when to come back."""
    seconds = -(-wait_ms // 1000)
    answer: HttpResponseBase
    if request.path_info.startswith(("/api/", "/oauth/")):
        error = RateLimitedError(
            f"Come back in {seconds} s.", retry_after_ms=wait_ms, error="slow_down"
        )
        answer = JsonResponse(document(error), status=error.status, content_type=CONTENT_TYPE)
    else:
        answer = render(request, "kado/too_fast.html", {"seconds": seconds}, status=429)
    answer["Retry-After"] = str(seconds)
    return answer


def page_policy(following: Next) -> Next:
    """Give every page a Content-Security-Policy: nothing from elsewhere, no script in the page itself."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        answer = following(request)
        if answer.headers.get("Content-Type", "").startswith("text/html"):
            answer.headers.setdefault("Content-Security-Policy", PAGE_POLICY)
        return answer

    return middleware
