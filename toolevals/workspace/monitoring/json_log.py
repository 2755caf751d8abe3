"""Writes a line of the log as a JSON object, with the ids of the request, the job and the run that it is about.

The settings name the formatter: nothing else of the application is loaded here.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import orjson

_about: ContextVar[dict[str, str]] = ContextVar("about", default={})  # noqa: B039 - never changed, only replaced


@contextmanager
def log_about(**ids: Any) -> Iterator[None]:
    """Have lines that are logged within the block say what they are about, such as `job_id`."""
    before = _about.set({**_about.get(), **{name: str(value) for name, value in ids.items()}})
    try:
        yield
    finally:
        _about.reset(before)


def about() -> dict[str, str]:
    """Return the ids of what is being done, as a line of the log says them."""
    return dict(_about.get())


class JsonFormatter(logging.Formatter):
    """Formats a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        document = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
            **_about.get(),
        }
        # Django's lines about an answer, which it logs when the request is over.
        if (request_id := getattr(getattr(record, "request", None), "request_id", None)) is not None:
            document |= {"request_id": request_id, "status": getattr(record, "status_code", None)}
        if (act := getattr(record, "audit", None)) is not None:
            document["audit"] = act
        if record.exc_info:
            document["exception"] = record.exc_text or self.formatException(record.exc_info)
        if record.stack_info:
            document["stack"] = self.formatStack(record.stack_info)
        return orjson.dumps(_writable(document)).decode()


def _writable(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document whose texts have no half of a surrogate pair, which UTF-8 cannot say."""
    return {
        name: value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value
        for name, value in document.items()
    }
