"""What a gate is asked about and what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

from toolevals.grading.metrics.rates import Interval

CheckStatus = Literal["passed", "failed", "warned", "unanswered", "skipped"]
GateStatus = Literal["passed", "failed", "warned", "unanswered"]
OnFail = Literal["error", "warn", "skip"]

# A score counts as a pass from here on.
PASS_MARK = 0.5

# The names that published gates use, and the verdict that answers where a case has no score of the published name.
PUBLISHED_METRICS: Mapping[str, str] = {
    "tool_name_match": "selection",
    "tool_args_shape_match": "shape",
    "tool_args_semantic": "semantics",
    "argument_validation": "schema",
    "argument_semantics": "semantics",
    "result_groundedness": "result_use",
    "trajectory_recovery": "recovery",
}


@dataclass(frozen=True, slots=True)
class GateCase:
    """One trial of one example, as a gate sees it.

    `scores` are by metric, 0..1; None where the metric was asked and nobody has answered (unscored, errored). A metric
    that does not arise in this case is left out. `tool` is the expected class and `called` the actual one, empty where
    unknown. `runtime_ms` is None where it was not measured. Raises ValueError on a score outside 0..1, a NaN, or a
    runtime that is negative or not finite.
    """

    example: str
    scores: Mapping[str, float | None]
    trial: int = 0
    tool: str = ""
    called: str = ""
    strata: Mapping[str, str] = field(default_factory=dict)
    runtime_ms: float | None = None

    def __post_init__(self) -> None:
        for metric, score in self.scores.items():
            if score is not None and not 0 <= score <= 1:
                raise ValueError(f"the score {score} of {metric} is not between 0 and 1")
        if self.runtime_ms is not None and not (isfinite(self.runtime_ms) and self.runtime_ms >= 0):
            raise ValueError(f"a runtime of {self.runtime_ms} ms is none")

    def asks(self, metric: str) -> bool:
        """Return whether the metric arises in this case."""
        return metric in self.scores or PUBLISHED_METRICS.get(metric) in self.scores

    def score(self, metric: str) -> float | None:
        """Return the metric's score; None where nobody has answered it or it does not arise."""
        if metric in self.scores:
            return self.scores[metric]
        return self.scores.get(PUBLISHED_METRICS.get(metric, ""))


@dataclass(frozen=True, slots=True)
class Check:
    """One condition and how it came out.

    `observed` is the figure over what was scored, None where nothing was; `count` how many cases (of a regression rule:
    how many examples) it was made from; `interval` its 95 % confidence interval where one is defined; `bound` the
    condition in words. `reason` is one sentence that a person can act on, empty where the check passed without remark.
    """

    name: str
    status: CheckStatus
    observed: float | None
    count: int
    interval: Interval | None
    bound: str
    reason: str = ""

    def to_document(self) -> dict[str, Any]:
        """Return the check as JSON."""
        return {
            "name": self.name,
            "status": self.status,
            "observed": self.observed,
            "count": self.count,
            "interval": None if self.interval is None else [self.interval.low, self.interval.high],
            "bound": self.bound,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class GateResult:
    """A gate's answer. `stopped` says that it stopped at its first failed check and left the rest undecided."""

    checks: tuple[Check, ...]
    stopped: bool = False

    @property
    def status(self) -> GateStatus:
        """The worst of its checks: failed, unanswered, warned, passed. Where nothing was decided it is unanswered."""
        statuses = {check.status for check in self.checks}
        for status in ("failed", "unanswered", "warned", "passed"):
            if status in statuses:
                return status
        return "unanswered"

    def of_status(self, *statuses: CheckStatus) -> list[Check]:
        """Return the checks with one of these statuses, in order."""
        return [check for check in self.checks if check.status in statuses]

    def to_document(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {
            "status": self.status,
            "stopped": self.stopped,
            "checks": [check.to_document() for check in self.checks],
        }


def softened(check: Check, on_fail: OnFail) -> Check:
    """Return the check with what `on_fail` makes of a status other than passed: `warn` warns, `skip` sets it aside."""
    if check.status == "passed" or on_fail == "error":
        return check
    status: CheckStatus = "warned" if on_fail == "warn" else "skipped"
    return Check(check.name, status, check.observed, check.count, check.interval, check.bound, check.reason)


def metrics_of(cases: Iterable[GateCase]) -> list[str]:
    """Return every metric that arises in the cases, by name."""
    return sorted({metric for case in cases for metric in case.scores})
