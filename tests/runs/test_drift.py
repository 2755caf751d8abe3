"""A judge asked the very same again: what changed, what that says of it, and nothing asked twice."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runs.calibrated import JUDGE_PASSES, SIZE
from tests.runs.drifting import *  # noqa: F403 (its fixtures)
from tests.runs.drifting import NOW_PASSES, standing_of
from tests.runs.judged import judge_of
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.drift.results import cases_again, counts_of
from toolevals.runs.drift.services import drift_begin
from toolevals.runs.judge_calibrations.services import CalibrationRequest, calibration_begin, calibration_close
from toolevals.runs.judging import concurrent_questions as several_module
from toolevals.runs.judging.judge_reliability import Trust
from toolevals.runs.judging.services import judge_change
from toolevals.runs.models import CalibratedCase, DriftAnswer, DriftCheck, JudgedCase, Judgement
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Batch, BatchState, Delivery, JobState, Queue
from toolevals.workspace.notifications.services import webhook_save

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]


def test_a_judge_that_says_the_same_is_asked_everything_and_is_not_flagged(calibration, judge, check):
    kept = Judgement.objects.count(), JudgedCase.objects.count()
    made = check()
    # Not one of the kept answers served, and none was added.
    assert sorted(judge.asked) == list(range(SIZE))
    assert (Judgement.objects.count(), JudgedCase.objects.count()) == kept
    counts = counts_of(made)
    assert counts is not None
    assert (counts.changes.changed, counts.changes.compared, counts.then) == (0, SIZE, counts.now)
    assert standing_of(calibration).trust is Trust.REACHED
    assert {batch.queue for batch in made.job.batches.filter(stage=0)} == {Queue.JUDGE}
    assert made.job.state == JobState.SUCCEEDED


def test_what_changed_is_counted_listed_and_flags_the_judge_until_a_newer_check_finds_nothing(
    calibration, judge, check
):
    judge.passes = NOW_PASSES
    made = check()
    counts = counts_of(made)
    assert counts is not None
    assert (counts.changes.to_failed, counts.changes.to_passed, counts.changes.compared) == (5, 0, SIZE)
    assert counts.changes.share.value == 0.25
    assert counts.then.kappa.value == pytest.approx(0.28 / 0.48)
    # (0.55 - 0.47) / 0.53 by hand.
    assert counts.now.kappa.value == pytest.approx(0.08 / 0.53)
    said = "5 of 20 verdicts changed when the judge was asked again; kappa with people was 0.58 and is 0.15."
    assert counts.sentence == said
    changed = [case for case in cases_again(made) if case.kind == "changed"]
    assert {(case.before, case.now, case.people) for case in changed} == {("passed", "failed", "passed")}
    assert {case.reason_before.rpartition(" of ")[2] for case in changed} == {"12"}
    assert {case.reason_now.rpartition(" of ")[2] for case in changed} == {"7"}
    standing = standing_of(calibration)
    assert (standing.trust, standing.is_flagged) == (Trust.DRIFTED, True)
    assert standing.words == (
        "drifted: 5 of 20 verdicts changed when asked a second time, 2 % may; kappa now 0.15, wanted 0.5"
    )
    # One that compares nothing says nothing.
    judge.broken = frozenset(range(SIZE))
    check()
    assert standing_of(calibration).trust is Trust.DRIFTED
    judge.broken, judge.passes = frozenset(), JUDGE_PASSES
    check()
    assert (standing_of(calibration).trust, standing_of(calibration).words) == (Trust.REACHED, "")


def test_a_change_that_may_be_is_listed_and_flags_nothing_until_somebody_tolerates_less(calibration, judge, check):
    judge.passes = JUDGE_PASSES ^ {19}
    judge_change(judge=calibration.judge, actor=None, threshold=0.1)
    made = check()
    assert [case.kind for case in cases_again(made)].count("changed") == 1
    assert (standing_of(calibration).trust, standing_of(calibration).words) == (Trust.REACHED, "")
    judge_change(judge=calibration.judge, actor=None, tolerance=0.0)
    assert standing_of(calibration).trust is Trust.DRIFTED
    assert standing_of(calibration).words == "drifted: 1 of 20 verdicts changed when asked a second time, 0 % may"
    for wrong in (-0.01, 1.01, float("nan")):
        with pytest.raises(InvalidDocument) as caught:
            judge_change(judge=calibration.judge, actor=None, tolerance=wrong)
        assert caught.value.problems[0].pointer == "/tolerance"


def test_what_errored_is_apart_and_in_no_figure(calibration, judge, check):
    judge.broken = frozenset({0, 19})
    counts = counts_of(made := check())
    assert counts is not None
    assert (counts.changes.errored, counts.changes.compared, counts.changes.changed) == (2, 18, 0)
    assert counts.now.agreement.count == 18
    assert counts.then.agreement.count == 18
    errored = [case for case in cases_again(made) if case.kind == "errored"]
    assert all("no answer that fits the rubric" in case.reason_now for case in errored)
    assert standing_of(calibration).trust is Trust.REACHED


def test_the_cap_ends_the_asking_and_what_it_does_not_reach_is_unasked(calibration, judge, check, monkeypatch):
    counts = counts_of(check(budget=0.0))
    assert counts is not None
    assert (judge.asked, counts.changes.unasked) == ([], SIZE)
    monkeypatch.setattr(several_module, "CONCURRENCY", 1)
    made = check(budget=1e-9)
    # The first costs more than that.
    assert len(judge.asked) == 1
    assert DriftCheck.objects.with_spending().get(pk=made.pk).cost > 1e-9


def test_a_worker_that_dies_leaves_its_answers_and_nothing_is_asked_twice(
    calibration, judge, check, run_jobs, monkeypatch
):
    monkeypatch.setattr(several_module, "CONCURRENCY", 1)
    create = DriftAnswer.objects.create

    def dying(**columns: Any) -> Any:
        if DriftAnswer.objects.count() == 7:
            raise SystemExit
        return create(**columns)

    monkeypatch.setattr(DriftAnswer.objects, "create", dying)
    with pytest.raises(SystemExit):
        check()
    assert DriftAnswer.objects.count() == 7
    monkeypatch.setattr(DriftAnswer.objects, "create", create)
    Batch.objects.filter(state=BatchState.LEASED).update(due_at=database_now())
    run_jobs(impatient=True)
    # The eighth answer came when nobody was there to keep it.
    assert sorted(judge.asked) == sorted([*range(SIZE), judge.asked[7]])
    made = DriftCheck.objects.get()
    assert made.finished_at is not None
    assert made.answers.count() == SIZE


def test_what_cannot_be_checked_is_refused_with_a_sentence(project, calibration, run_jobs):
    judge = calibration.judge

    def problem(**said: Any) -> tuple[str, str]:
        with pytest.raises(InvalidDocument) as caught:
            drift_begin(**{"judge": judge, "calibration": calibration, "actor": None, **said})
        found = caught.value.problems[0]
        return found.pointer, found.message

    for budget in (-1.0, float("nan"), float("inf")):
        assert problem(budget=budget)[0] == "/budget"
    request = CalibrationRequest(judge=judge, grading=calibration.grading, held_out=5, raters=1, seed="s")
    fresh = calibration_begin(request=request, actor=None)
    run_jobs()
    assert "still open" in problem(calibration=fresh)[1]
    calibration_close(calibration=fresh, actor=None)
    CalibratedCase.objects.filter(calibration=fresh).update(questions=[])
    fresh.refresh_from_db()
    assert "no case" in problem(calibration=fresh)[1]
    other = judge_of(project, _nowhere(), "task_completion")
    assert "not of this rubric" in problem(judge=other)[1]
    drift_begin(judge=judge, calibration=calibration, actor=None)
    assert "still going on" in problem()[1]


def _nowhere() -> Any:
    return type("Nowhere", (), {"url": "https://judges.example/v1"})


def test_a_judge_that_drifted_is_told_of_and_one_that_did_not_is_not(project, calibration, judge, check):
    url, kinds = "https://hooks.example.org/", ["judge.drifted"]
    webhook_save(project=project, actor=None, name="drift", url=url, kinds=kinds)
    check()
    assert not Delivery.objects.exists()
    judge.passes = NOW_PASSES
    made = check()
    data = Delivery.objects.get().document["data"]
    assert data["summary"].startswith(f"The judge {calibration.judge.name} drifted: 5 of 20 verdicts changed")
    assert data["url"] == f"/p/{project.slug}/judges/drift/{made.pk}/"
