"""Middleware: how often an address may try to get in, and what pages may load."""

import re
from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from common.errors import RateLimitedError
from common.headers import PAGE_POLICY
from common.limits import Limit, address_group, take
from config.problems import CONTENT_TYPE, document

Next = Callable[[HttpRequest], HttpResponseBase]

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
        for methods, addresses, limit in LIMITS:
            if request.method in methods and addresses.fullmatch(request.path_info):
                who = address_group(request.META.get("REMOTE_ADDR", ""))
                if wait := take(limit, who):
                    return _too_fast(request, wait)
                break
        return following(request)

    return middleware


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
