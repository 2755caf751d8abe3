from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures.draws import draws
from tests.runs.building import HISTORY, REFUND, STATUS, call, silence, uploaded_run
from toolevals.grading.metrics.confusion import ConfusionMatrix
from toolevals.runs.aggregates.build import COLUMNS
from toolevals.runs.aggregates.trials import trial_tallies
from toolevals.runs.models import AlignedPair, CaseGrade, KeptSums

pytestmark = pytest.mark.django_db

IDS = ("status", "history", "refund", "hello")
ACTS = st.sampled_from([STATUS, HISTORY, REFUND, "no_such_tool", "", None])


def prediction(name: str, trial: int, act: str | None) -> Any:
    """Return a line for an act: a tool's name, "" for no call, None for no line at all."""
    if act is None:
        return None
    return call(name, act, trial=trial) if act else silence(name, trial)


@draws(15)
@given(acts=st.lists(ACTS, min_size=8, max_size=8))
def test_the_counts_are_the_cases_grouped(project, version, run_jobs, acts):
    places = [(name, trial) for name in IDS for trial in (0, 1)]
    lines = [prediction(*place, act) for place, act in zip(places, acts, strict=True)]
    run = uploaded_run(project, version, [line for line in lines if line], trials=2)

    run_jobs()

    grading = run.gradings.get()
    cases = list(CaseGrade.objects.filter(grading=grading))
    for column in (*COLUMNS, "decided_by"):
        counted = Counter(getattr(case, column) for case in cases if getattr(case, column))
        assert dict(grading.verdict_counts.filter(column=column).values_list("value", "count")) == counted
    first = Counter((case.expected, case.actual) for case in cases if case.expected)
    aligned = Counter(AlignedPair.objects.filter(grading=grading).values_list("expected", "actual"))
    for view, expected in (("first", first), ("aligned", aligned)):
        cells = grading.matrix_counts.filter(view=view).values_list("expected", "actual", "count")
        assert {(row, column): count for row, column, count in cells} == expected
    assert ConfusionMatrix(first).total == sum(1 for act in acts if act is not None)
    kept = KeptSums.objects.get(grading=grading, kind="trials")
    kept.delete()
    trial_tallies(grading)
    assert KeptSums.objects.get(grading=grading, kind="trials").document == kept.document
