"""Tell what tokens cost: prices as a run was given them, kept with it, so that its cost stays what it was."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Self

from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject

PER_TOKENS = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of a million tokens, in one currency; `cached` of input tokens that the endpoint had in its cache."""

    input: float
    output: float
    cached: float | None = None

    @classmethod
    def from_document(cls, document: JsonMapping) -> Self:
        """Read prices. Raises InvalidDocument."""
        names = ("input", "output", "cached")
        problems = [Problem(f"/{name}", "is not a price") for name in document if name not in names]
        problems += [
            Problem(f"/{name}", "must be a number from 0")
            for name in names
            if not (name == "cached" and document.get(name) is None) and not _is_price(document.get(name))
        ]
        if problems:
            raise InvalidDocument(problems)
        return cls(**document)

    def to_document(self) -> JsonObject:
        return asdict(self)

    def cost(self, usage: Mapping[str, float]) -> float:
        """Return what tokens cost. Cached tokens are among the input tokens (as the protocol counts them)."""
        cached = min(usage.get("cached_tokens", 0), usage.get("input_tokens", 0))
        fresh = usage.get("input_tokens", 0) - cached
        of_cached = self.input if self.cached is None else self.cached
        total = fresh * self.input + cached * of_cached + usage.get("output_tokens", 0) * self.output
        return total / PER_TOKENS


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
