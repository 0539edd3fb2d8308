"""Logs: one line an entry, readable on a terminal, JSON elsewhere; standard-library loggers go the same way."""

import logging
import os
import re
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

CHATTY = (
    "asyncio",
    "uvicorn.access",
    "uvicorn.error",
    "celery.worker.strategy",
    "celery.app.trace",
)
"""Loggers that write a line for every connection or task."""


# What might stand in the text of an error that nobody foresaw, such as a database's about a row.
_PRIVATE = (
    (re.compile(r"kado(?:at|rt)?_[\w-]{20,}"), "[token]"),
    (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), "[address]"),
)


def hide_private(
    logger: Any, method: str, entry: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """A processor: no token of ours and no e-mail address is written, whoever says it."""
    for name, value in entry.items():
        if isinstance(value, str) and ("@" in value or "kado" in value):
            for pattern, instead in _PRIVATE:
                entry[name] = pattern.sub(instead, entry[name])
    return entry


def configure(options: dict[str, Any]) -> None:
    """Set up logging for the process; `options["level"]` is the lowest level that is written."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        hide_private,
    ]
    renderer: Any = (
        structlog.dev.ConsoleRenderer(colors=True)
        if sys.stderr.isatty() or os.environ.get("FORCE_COLOR")  # `serve` sets it for its children
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(options["level"])
    for chatty in CHATTY:
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # A client's mistake is no event of ours.
    logging.getLogger("django.request").setLevel(logging.ERROR)
    # Anybody can send any Host header; the answer is 400, and that is all there is to say.
    logging.getLogger("django.security.DisallowedHost").setLevel(logging.CRITICAL)
