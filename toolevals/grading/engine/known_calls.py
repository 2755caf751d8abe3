"""Looks up what was decided of calls that came before to the same expectation, by what was sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orjson import OPT_PASSTHROUGH_DATACLASS, OPT_PASSTHROUGH_DATETIME, dumps

from toolevals.grading.values import Call, ToolCall

# How many ways of calling are kept of an expectation, and how long they may be.
MOST_KNOWN = 8
LONGEST_KNOWN = 1_000
_OPTIONS = OPT_PASSTHROUGH_DATACLASS | OPT_PASSTHROUGH_DATETIME


def calls_as_text(calls: Sequence[Call]) -> bytes:
    """Return the calls' names and arguments as JSON text, which no others have; empty where it may not be so."""
    sent: list[tuple[str, Any]] = []
    for call in calls:
        if type(call) is not ToolCall:
            return b""
        sent.append((call.name, call.arguments))
    return value_as_text(sent)


def value_as_text(value: Any, options: int = _OPTIONS) -> bytes:
    """Return JSON text that no other value has; empty where it may not be so."""
    try:
        text = dumps(value, option=options)
    except TypeError:
        # What orjson does not write, such as a large integer.
        return b""
    # NaN is written as null.
    return b"" if b"null" in text else text
