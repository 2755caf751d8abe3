"""Cancelling, retrying and grading again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runs.building import (
    EXAMPLES,
    HISTORY,
    REFUND,
    STATUS,
    baseline_run,
    call,
    cases_of,
    example,
    rows_of,
    silence,
    uploaded_run,
    version_of,
)
from toolevals.grading.engine import grading as engine
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.grading import case_grading
from toolevals.runs.grading.services import grading_start
from toolevals.runs.models import CaseGrade, Grading, Transcript
from toolevals.runs.runs import slices
from toolevals.workspace.jobs.services import JobStateError, job_cancel, job_retry
from toolevals.workspace.models import AuditEntry, BatchState, JobState

pytestmark = pytest.mark.django_db

GOOD = [call("status", STATUS), call("history", HISTORY), call("refund", REFUND), silence("hello")]


def test_a_cancelled_run_keeps_what_is_done_and_retry_does_the_rest(project, version, run_jobs, monkeypatch):
    monkeypatch.setattr(slices, "SLICE", 1)
    undisturbed, run = baseline_run(project, version), baseline_run(project, version)
    work = engine.grade

    def cancel_at_the_first_case(compiled, transcript, **beside):
        run.job.refresh_from_db()
        if run.job.state == JobState.RUNNING and run.job.stage == 1:
            job_cancel(job=run.job, actor=None)
        return work(compiled, transcript, **beside)

    monkeypatch.setattr(case_grading, "grade", cancel_at_the_first_case)
    run_jobs()
    run.job.refresh_from_db()
    assert run.job.state == JobState.CANCELLED
    assert not CaseGrade.objects.filter(grading__run=run).exists()
    assert Transcript.objects.filter(run=run).count() == 4

    monkeypatch.setattr(case_grading, "grade", work)
    job_retry(job=run.job, actor=None)
    run_jobs()

    run.refresh_from_db()
    assert run.job.state == JobState.SUCCEEDED
    assert rows_of(run.grading) == rows_of(undisturbed.gradings.get())


def test_failed_batches_alone_are_done_again(project, version, run_jobs, monkeypatch):
    monkeypatch.setattr(slices, "SLICE", 1)
    run = baseline_run(project, version)
    graded = []

    def broken_at(place: int | None, work: Any) -> Any:
        def cases_grade(grading, start, stop, **more):
            graded.append(start)
            if start == place:
                raise ConnectionError("the disk is gone")
            return work(grading, start, stop, **more)

        return cases_grade

    work = case_grading.graded_cases
    monkeypatch.setattr(case_grading, "graded_cases", broken_at(2, work))
    run_jobs(impatient=True)
    run.job.refresh_from_db()
    assert run.job.state == JobState.FAILED
    failed = run.job.batches.get(state=BatchState.FAILED)
    assert (failed.payload["start"], "the disk is gone" in failed.error) == (2, True)
    assert run.gradings.get().finished_at is None

    graded.clear()
    monkeypatch.setattr(case_grading, "graded_cases", broken_at(None, work))
    job_retry(job=run.job, actor=None)
    run_jobs(impatient=True)

    assert graded == [2]
    assert len(cases_of(run.gradings.get())) == 4


def test_how_work_is_cut_and_read_changes_no_grade(project, version, run_jobs, monkeypatch):
    rows = [call(name, STATUS, trial) for name in ("status", "history", "refund", "hello") for trial in range(3)]
    whole = uploaded_run(project, version, rows, trials=3)
    run_jobs()
    monkeypatch.setattr(slices, "SLICE", 6)
    monkeypatch.setattr(case_grading, "READ_AT_ONCE", 4)
    parts = uploaded_run(project, version, rows, trials=3)
    run_jobs()

    graded = parts.job.batches.filter(task="runs.grade").order_by("number")
    assert [(batch.payload["start"], batch.payload["stop"]) for batch in graded] == [(0, 2), (2, 4)]
    assert rows_of(parts.gradings.get()) == rows_of(whole.gradings.get())


@pytest.mark.parametrize(
    ("examples", "sizes"), [(100, [100]), (1_100, [500, 500, 100]), (6_400, [800] * 8), (40_000, [1_000] * 40)]
)
def test_a_large_run_has_more_cases_in_each_batch(project, version, examples, sizes):
    version.size = examples
    grading = Grading(run=baseline_run(project, version))

    plans = [plan for plan in slices.grade_plans(grading, stage=1) if plan.task == "runs.grade"]
    assert [plan.size for plan in plans] == sizes
    assert [place for plan in plans for place in (plan.payload["start"], plan.payload["stop"])][1:-1:2] == [
        plan.payload["start"] for plan in plans[1:]
    ]


def test_a_finished_run_cannot_be_cancelled_or_retried(project, version, run_jobs):
    run = baseline_run(project, version)
    run_jobs()
    run.refresh_from_db()

    with pytest.raises(JobStateError):
        job_cancel(job=run.job, actor=None)
    with pytest.raises(JobStateError):
        job_retry(job=run.job, actor=None)


def test_a_grading_on_corrected_gold_is_another_one(project, version, run_jobs):
    run = uploaded_run(project, version, GOOD)
    run_jobs()
    before = rows_of(run.gradings.get())
    corrected = [EXAMPLES[0] | {"expected_tool": HISTORY}, *EXAMPLES[1:]]
    from labeling.models import Revision

    newer = corrected_version(project, version, corrected)
    assert Revision.objects.filter(example__dataset=version.dataset).count() == 4

    grading = grading_start(run=run, actor=None)
    assert run.gradings.count() == 2
    run_jobs()

    run.refresh_from_db()
    assert (run.grading, grading.number, grading.dataset_version) == (grading, 2, newer)
    assert cases_of(grading)["status", 0].expected == HISTORY
    assert rows_of(run.gradings.get(number=1)) == before
    assert AuditEntry.objects.filter(verb="grading_start").count() == 1


def corrected_version(project: Any, version: Any, rows: Any) -> Any:
    """Freeze a version in which people decided otherwise."""
    from labeling.models import Gold, GoldSource
    from labeling.versions.services import version_freeze

    for entry in version.entries.select_related("revision__example"):
        row = next(row for row in rows if row["id"] == entry.revision.example.external_id)
        if row["expected_tool"] is None:
            continue
        arguments = {name: {"exact": value} for name, value in row["expected_args"].items()}
        trajectory = {"ordered": [{"tool": row["expected_tool"], "arguments": arguments}]}
        gold = Gold.objects.create(
            revision=entry.revision,
            expectation={"kind": "calls", "alternatives": [trajectory]},
            source=GoldSource.ADJUDICATED,
        )
        entry.revision.gold = gold
        entry.revision.save()
    return version_freeze(dataset=version.dataset, actor=None)


def test_an_example_that_changed_since_is_unscored_and_new_ones_are_left_out(project, version, run_jobs):
    run = uploaded_run(project, version, GOOD)
    run_jobs()
    changed = example("status", "Where is ORD-1 now?", STATUS)
    version_of(project, [changed, *EXAMPLES[1:], example("new", "Where is ORD-1?", STATUS)])

    grading = grading_start(run=run, actor=None)
    run_jobs()

    cases = cases_of(grading)
    assert len(cases) == 4
    assert (cases["status", 0].outcome, cases["status", 0].expected) == ("unscored", "")
    assert "no longer contains" in cases["status", 0].detail["verdicts"]["outcome"]["reason"]
    assert {cases[name, 0].outcome for name in ("history", "refund", "hello")} == {"passed"}


def test_the_earlier_grading_is_shown_until_the_new_one_is_finished(project, version, run_jobs):
    run = uploaded_run(project, version, GOOD)
    run_jobs()
    first = run.gradings.get()

    grading_start(run=run, actor=None)

    run.refresh_from_db()
    assert run.grading == first


def test_gradings_that_end_out_of_order_show_the_newest(project, version, run_jobs):
    run = uploaded_run(project, version, GOOD)
    run_jobs()
    older, newer = grading_start(run=run, actor=None), grading_start(run=run, actor=None)
    assert older.job is not None
    job_cancel(job=older.job, actor=None)
    run_jobs()
    job_retry(job=older.job, actor=None)
    run_jobs()

    run.refresh_from_db()
    older.refresh_from_db()
    assert older.finished_at is not None
    assert run.grading == newer


def test_a_run_that_was_never_graded_is_not_graded_again(project, version):
    run = uploaded_run(project, version, GOOD)

    with pytest.raises(InvalidDocument):
        grading_start(run=run, actor=None)


def test_another_datasets_version_is_refused(project, version, run_jobs):
    run = uploaded_run(project, version, GOOD)
    run_jobs()

    with pytest.raises(InvalidDocument) as caught:
        grading_start(run=run, actor=None, dataset_version=version_of(project, slug="other"))

    assert caught.value.problems[0].pointer == "/dataset_version"
