"""Tell what an answer says, in classes that can be counted: the tools it calls, and all that it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labeling.coverage.expected import ANY_CALL, NO_CALL, calls_of


def tool_choice(answer: str, expectation: Mapping[str, Any] | None) -> str:
    """Return the tools that an answer's first alternative calls, each once; `(none)`, `(any)`, or why there is none."""
    if expectation is None:
        return str(answer)
    if expectation.get("kind") == "no_call":
        return NO_CALL
    return ", ".join(dict.fromkeys(call["tool"] for call in calls_of(expectation))) or ANY_CALL
