"""Read the cases of a grading whose trials others rewarded."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, CharField, Count, Q, QuerySet, Value, When

from reports.analyses.recorded import FAILURE, SUCCESS, Agreement, agreement_of
from toolevals.runs.models import CaseGrade, Grading

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
