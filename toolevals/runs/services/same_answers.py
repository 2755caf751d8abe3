"""Grade trials of an example in which an agent did the same once, and write the grade once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from toolevals.grading.values.canonical import Written, exact

# What a conversation took changes no verdict and no metric.
_TOOK: Final = frozenset({"usage", "latency_ms"})


@dataclass(slots=True)
class Told:
    """The rows of a grade that are written once for all trials that have it: None and empty until it is."""

    detail: Written | None = None
    values: str = ""


def answer_of(document: Any) -> str:
    """Return what a transcript's document says but what the conversation took; empty where no prediction came."""
    if document is None:
        return ""
    return exact({name: value for name, value in document.items() if name not in _TOOK})
