"""Compare our verdicts with the rewards that the source of a recorded run gave: agreement, and differing cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Case, CharField, Count, Q, QuerySet, Value, When

from reports.filters.case_filters import STATUSES
from toolevals.runs.models import CaseGrade, Grading

SUCCESS, FAILURE = "success", "failure"
# A trial that the source rewarded in full, and one that it did not.
REWARDS: Final = {SUCCESS: "reward 1", FAILURE: "reward below 1"}
# The verdict that says the same as a reward.
_SAME: Final = {("passed", SUCCESS), ("failed", FAILURE)}


@dataclass(frozen=True, slots=True)
class RecordedCell:
    """The number of cases with one verdict and one kind of reward; `agrees` is None where the verdict says neither."""

    verdict: str
    status: str
    reward: str
    count: int
    agrees: bool | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """The table of one verdict by recorded reward, a row for each status."""

    column: str
    rows: tuple[tuple[str, tuple[RecordedCell, ...]], ...]

    @property
    def cells(self) -> tuple[RecordedCell, ...]:
        return tuple(cell for _, cells in self.rows for cell in cells)

    @property
    def total(self) -> int:
        """Return how many cases have a recorded reward."""
        return sum(cell.count for cell in self.cells)

    @property
    def agreed(self) -> int:
        return sum(cell.count for cell in self.cells if cell.agrees)

    @property
    def scored(self) -> int:
        return sum(cell.count for cell in self.cells if cell.agrees is not None)

    @property
    def unscored(self) -> int:
        return self.total - self.scored


def agreement_of(column: str, counts: Mapping[tuple[str, str], int]) -> Agreement:
    """Return the table of `counts`, which are by status and kind of reward."""
    rows = tuple((status, tuple(_cell(column, status, reward, counts) for reward in REWARDS)) for status in STATUSES)
    return Agreement(column, rows)


def _cell(verdict: str, status: str, reward: str, counts: Mapping[tuple[str, str], int]) -> RecordedCell:
    says = status in ("passed", "failed")
    agrees = (status, reward) in _SAME if says else None
    return RecordedCell(verdict, status, reward, counts.get((status, reward), 0), agrees)


# Sums of parts of a reward may miss 1 by their last digit.
IS_SUCCESS = Q(transcript__reward__gte=1 - 1e-6)


def recorded_agreement(grading: Grading, column: str) -> Agreement:
    """Return the table of a verdict by recorded reward. One query."""
    rewarded = Case(When(IS_SUCCESS, then=Value(SUCCESS)), default=Value(FAILURE), output_field=CharField())
    cases = CaseGrade.objects.filter(grading=grading, transcript__reward__isnull=False)
    rows: Any = cases.order_by().values(column).annotate(rewarded=rewarded, n=Count("pk"))
    return agreement_of(column, {(row[column], row["rewarded"]): row["n"] for row in rows})


def rewarded_cases(cases: QuerySet[CaseGrade], rewarded: str) -> QuerySet[CaseGrade]:
    """Return the cases whose trial was rewarded in full, or was not; those without a reward are neither."""
    known = cases.filter(transcript__reward__isnull=False)
    return known.filter(IS_SUCCESS) if rewarded == SUCCESS else known.exclude(IS_SUCCESS)
