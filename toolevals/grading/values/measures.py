"""Defines the time, tokens and cost of one message, as far as they were recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Measures:
    """The time, tokens and cost of a message: None, or no count, is not recorded and never nothing.

    Of the assistant's it is the model's step: milliseconds, tokens by the names of `Transcript.usage`, and its cost. Of
    a tool's it is the execution of the call that the message answers.
    """

    latency_ms: float | None = None
    usage: Mapping[str, float] = field(default_factory=dict)
    cost: float | None = None

    def __bool__(self) -> bool:
        return self.latency_ms is not None or bool(self.usage) or self.cost is not None

    def to_document(self) -> dict[str, Any]:
        """Return what is recorded."""
        document: dict[str, Any] = {}
        if self.latency_ms is not None:
            document["latency_ms"] = self.latency_ms
        if self.usage:
            document["usage"] = dict(self.usage)
        if self.cost is not None:
            document["cost"] = self.cost
        return document


def measures_in(document: dict[str, Any]) -> Measures | None:
    """Return what a message's document records, None where that is nothing."""
    found = Measures(document.get("latency_ms"), document.get("usage") or {}, document.get("cost"))
    return found or None
