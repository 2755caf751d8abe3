"""Trials in which an agent did the same are graded once, and each keeps what it would have by itself."""

from typing import Any

import pytest
from django.forms import model_to_dict

from tests.runs.building import HISTORY, STATUS, call, cases_of, silence, uploaded_run, version_of
from toolevals.grading.engine.grading import grade
from toolevals.runs.grading import case_grading
from toolevals.runs.grading.services import grading_start
from toolevals.runs.models import AlignedPair, ArgumentFault, CaseFinding, Episode

TRIALS = 4
ROWS = [
    *(call("status", STATUS, trial) | {"latency_ms": 10 * trial} for trial in range(3)),
    call("status", STATUS, 3, order_id="ORD-2"),
    *(call("history", HISTORY, trial, order_id=given) for trial, given in enumerate((1, 1.0, True, "ORD-1"))),
    *(call("refund", STATUS, trial) for trial in range(2)),
    {"id": "refund", "trial": 2, "error": "away"},
    *(silence("hello", trial) for trial in range(3)),
]


def rows_of(grading: Any) -> dict[str, Any]:
    """Return what a grading holds of each case, without what names its rows."""
    names = {case.pk: key for key, case in cases_of(grading).items()}
    beside = {
        model.__name__: sorted(
            str((names[row.case_id], model_to_dict(row, exclude=("id", "grading", "case"))))
            for row in model.objects.filter(grading=grading)
        )
        for model in (AlignedPair, ArgumentFault, CaseFinding, Episode)
    }
    cases = {
        key: model_to_dict(case, exclude=("id", "grading", "transcript")) for key, case in cases_of(grading).items()
    }
    return {**beside, "cases": cases}


@pytest.mark.django_db
def test_trials_that_did_the_same_keep_what_they_would_have_alone(project, run_jobs, monkeypatch):
    run = uploaded_run(project, version_of(project), ROWS, trials=TRIALS)
    run_jobs()
    run.refresh_from_db()
    together = rows_of(run.grading)
    monkeypatch.setattr(case_grading, "answer_of", lambda _: "")
    alone = grading_start(run=run, actor=None)
    run_jobs()
    assert len(together["cases"]) == 4 * TRIALS
    assert together == rows_of(alone)


@pytest.mark.django_db
def test_what_was_done_again_is_not_graded_again(project, run_jobs, monkeypatch):
    graded = []

    def counted(*given: Any, **how: Any) -> Any:
        graded.append(given)
        return grade(*given, **how)

    monkeypatch.setattr(case_grading, "grade", counted)
    uploaded_run(project, version_of(project), ROWS, trials=TRIALS)
    run_jobs()
    # Of status two, of history four, of refund three, of hello two: a missing prediction is one by itself.
    assert len(graded) == 11
