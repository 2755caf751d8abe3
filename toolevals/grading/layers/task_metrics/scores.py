"""Defines a metric's score, and weighted means over the parts that can be known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, NamedTuple

from toolevals.grading.values.value_classes import value_class
from toolevals.grading.values.verdicts import Verdict

# The value at which a metric passes where no one said another.
PASSES_AT = 0.7


@value_class
class MetricScore:
    """The value of a metric for a run in 0..1, None where it cannot be known.

    `reason` is one sentence. `parts` are the values behind it, by name, each in 0..1.
    """

    value: float | None
    reason: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)

    def to_document(self) -> dict[str, Any]:
        """Return the normal form."""
        return {"value": self.value, "reason": self.reason, "parts": dict(self.parts)}

    def verdict(self, passes_at: float = PASSES_AT) -> Verdict:
        """Return the score as a verdict: passed from `passes_at` on, unscored where there is no value."""
        if self.value is None:
            return Verdict("unscored", None, self.reason)
        passed = self.value >= passes_at
        return Verdict("passed" if passed else "failed", self.value, self.reason)


class Part(NamedTuple):
    """One part of a metric. `value` is None where it cannot be known; `fault` says what to mend, empty if nothing."""

    name: str
    weight: float
    value: float | None
    fault: str = ""


def weighted(parts: tuple[Part, ...], unknown: str) -> MetricScore:
    """Return the weighted mean of the known parts: their weights are divided by their sum.

    The reason names the faults, the part that costs most first. Without a known part there is no value, and `unknown`
    is the reason.
    """
    known = [(part, part.value) for part in parts if part.value is not None]
    total = sum(part.weight for part, _ in known)
    if not known or total <= 0:
        return MetricScore(None, unknown)
    value = sum(part.weight * each for part, each in known) / total
    costly = sorted(known, key=lambda item: -item[0].weight * (1 - item[1]))
    faults = [part.fault for part, each in costly if part.fault and each < 1]
    reason = "; ".join(faults)
    return MetricScore(
        min(1.0, max(0.0, value)),
        f"{reason[:1].upper()}{reason[1:]}." if reason else "",
        {part.name: each for part, each in known},
    )
