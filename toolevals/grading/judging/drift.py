"""Compares a judge with itself: the verdicts of old, and those that it gives when asked the very same again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

from toolevals.grading.judging.rubrics import Scale
from toolevals.grading.metrics.rates import Estimate, wilson

# What a judge says of a case now: `unscored` found nothing to score, `errored` could not be had, `unasked` was not.
Now: TypeAlias = Literal["passed", "failed", "unscored", "errored", "unasked"]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to one question of a case: a value, 0 to 1, None where it held nothing to score; or an error."""

    value: float | None
    error: str = ""


def verdict_now(answers: Sequence[Answer], questions: int, scale: Scale) -> Now:
    """Return what answers to a case's questions come to, as a judgement does: the worst of them counts.

    `questions` is how many there are; where one has no answer yet, the case is `unasked`.
    """
    if any(answer.error for answer in answers):
        return "errored"
    if len(answers) < questions:
        return "unasked"
    value = least_value(answers)
    if value is None:
        return "unscored"
    return "passed" if scale.passes(value) else "failed"


def least_value(answers: Iterable[Answer]) -> float | None:
    """Return the least value of answers, which decides a case; None where none has one."""
    return min((answer.value for answer in answers if answer.value is not None), default=None)


@dataclass(frozen=True, slots=True)
class DriftTable:
    """The number of cases with each verdict before and now.

    Only those that passed or failed now are compared; what is errored, unscored or unasked now is counted apart and is
    in no figure. Raises ValueError on a negative count.
    """

    stayed_passed: int
    to_failed: int
    to_passed: int
    stayed_failed: int
    unscored: int = 0
    errored: int = 0
    unasked: int = 0

    def __post_init__(self) -> None:
        if min(self.stayed_passed, self.to_failed, self.to_passed, self.stayed_failed) < 0:
            raise ValueError("a count is negative")
        if min(self.unscored, self.errored, self.unasked) < 0:
            raise ValueError("a count is negative")

    @classmethod
    def of_cases(cls, cases: Iterable[tuple[bool, Now]]) -> Self:
        """Return the table of (passed before, what it is now)."""
        cells = Counter(cases)

        def apart(now: Now) -> int:
            return cells[True, now] + cells[False, now]

        return cls(
            cells[True, "passed"],
            cells[True, "failed"],
            cells[False, "passed"],
            cells[False, "failed"],
            apart("unscored"),
            apart("errored"),
            apart("unasked"),
        )

    @property
    def changed(self) -> int:
        """Return how many cases have another verdict now."""
        return self.to_failed + self.to_passed

    @property
    def compared(self) -> int:
        """Return how many cases have a verdict now."""
        return self.stayed_passed + self.stayed_failed + self.changed

    @property
    def share(self) -> Estimate:
        """The share of the compared cases whose verdict changed, with Wilson's interval."""
        if not self.compared:
            return Estimate.undefined("no case has a verdict now")
        return Estimate(self.changed / self.compared, wilson(self.changed, self.compared), self.compared)

    def has_moved(self, tolerance: float) -> bool:
        """Return whether more than a share of `tolerance`, 0 to 1, changed: the interval of `share` lies above it.

        With a tolerance of 0 the first change suffices.
        """
        interval = self.share.interval
        return interval is not None and interval.low > tolerance
