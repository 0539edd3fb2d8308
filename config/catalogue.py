"""The page that every problem's `type` leads to: all codes that this server can send, made from the classes."""

import inspect
from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from common.errors import KadoError

ADDRESS = "docs/errors"


def errors() -> list[type[KadoError]]:
    """One class for each code, in the order of the codes."""
    by_code = {error.code: error for error in _below(KadoError)}
    return [by_code[code] for code in sorted(by_code)]


def _below(error: type[KadoError]) -> Iterator[type[KadoError]]:
    yield error
    for subclass in error.__subclasses__():
        yield from _below(subclass)


def page(request: HttpRequest) -> HttpResponse:
    """`/docs/errors`: code, status, and what it means."""
    rows = [
        {
            "code": error.code,
            "status": error.status,
            "title": error.title,
            "meaning": inspect.cleandoc(error.__dict__.get("__doc__") or ""),
        }
        for error in errors()
    ]
    return render(request, "kado/errors.html", {"errors": rows})
