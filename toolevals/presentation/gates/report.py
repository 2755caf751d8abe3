"""Tell what every form of a gate's result shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from toolevals.grading.gates.checks import figure_words
from toolevals.grading.gates.results import Check, CheckStatus, GateResult, GateStatus
from toolevals.presentation.numbers import ABSENT

GATE_WORDS: Final[Mapping[GateStatus, str]] = {
    "passed": "The gate is passed.",
    "warned": "The gate is passed, with warnings.",
    "failed": "The gate is not passed.",
    "unanswered": "The gate is not passed: it cannot be answered.",
}
# The worst first: what someone has to look at.
ORDER: Final[tuple[CheckStatus, ...]] = ("failed", "unanswered", "warned", "passed", "skipped")
MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class GateReport:
    """A gate's result, the run that it checked, and where more is to be seen.

    `subject` and `baseline` say in words which run, and which one before it (empty without one); `links` are addresses
    by their words.
    """

    result: GateResult
    subject: str
    baseline: str = ""
    links: Mapping[str, str] = field(default_factory=dict)

    @property
    def counts(self) -> dict[CheckStatus, int]:
        """Return how many checks have each status that occurs, the worst first."""
        return {status: count for status in ORDER if (count := len(self.result.of_status(status)))}

    @property
    def summary(self) -> str:
        """Return the result in one sentence, with its counts."""
        counted = ", ".join(f"{count} {status}" for status, count in self.counts.items())
        stopped = " It stopped at the first failure." if self.result.stopped else ""
        return f"{GATE_WORDS[self.result.status]} {counted or 'Nothing was checked'}.{stopped}"


def figure(check: Check) -> str:
    """Return a check's figure: `0.95`, and a dash where there is none."""
    return ABSENT if check.observed is None else figure_words(check.observed)


def interval(check: Check) -> str:
    """Return a check's 95 % interval: `0.91 to 0.97`, and a dash where there is none."""
    return ABSENT if check.interval is None else f"{check.interval.low:.4g} to {check.interval.high:.4g}"


def remarks(check: Check) -> str:
    """Return what is said of a check, the reason before the note."""
    return " ".join(filter(None, (check.reason, check.note)))


def examples(check: Check) -> str:
    """Return the first examples that kept a check from passing and how many more; empty where its reason names them."""
    if not check.examples or f"fail now: {check.examples[0]}" in check.reason:
        return ""
    named = ", ".join(check.examples[:MOST_NAMED])
    more = check.example_count - min(len(check.examples), MOST_NAMED)
    return f"{named} and {more:,} more" if more else named
