"""A judge beside people: rated blind, counted, and its numbers flagged by what came of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.agents.chat_server import chat_server
from tests.agents.judges import judging
from tests.runs.calibrated import SIZE, judged_run, rate_all, scored
from tests.runs.judged import judge_of
from tests.runs.rated import *  # noqa: F403 (its fixtures)
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.grading.services import grading_start
from toolevals.runs.judge_calibrations.results import results_of
from toolevals.runs.judge_calibrations.services import (
    CalibrationRequest,
    calibration_begin,
    calibration_close,
    case_rate,
)
from toolevals.runs.judging.judge_reliability import Trust, standings_of
from toolevals.runs.judging.services import judge_change
from toolevals.runs.models import CalibratedCase, CaseGrade, JudgeCalibration, JudgedCase, Rating
from toolevals.workspace.clock import database_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]


def test_the_same_seed_draws_the_same_cases_and_of_each_example_one_trial(project, run_jobs, calibration):
    calibration_close(calibration=calibration, actor=None)
    drawn = []
    for seed in ("one", "one", "two"):
        request = CalibrationRequest(
            judge=calibration.judge, grading=calibration.grading, held_out=8, tuning=4, seed=seed
        )
        made = calibration_begin(request=request, actor=None)
        drawn.append([(case.case_id, case.is_held_out) for case in made.cases.all()])
        run_jobs()
        calibration_close(calibration=made, actor=None)
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def test_three_people_rate_every_case_once_and_the_last_rating_closes_it(calibration, raters):
    assert [rate_all(calibration, one) for one in raters] == [SIZE, SIZE, SIZE]
    calibration.refresh_from_db()
    assert calibration.closed_at is not None
    assert calibration.table == {"both_passed": 10, "only_judge": 2, "only_human": 2, "both_failed": 6}
    results: Any = results_of(calibration)
    comparison = results.comparison
    assert comparison.table.kappa.value == pytest.approx(0.28 / 0.48)
    assert comparison.table.kappa.interval is not None
    assert comparison.people_agreement.value == 1
    # 12 of 20 passed; se 10/12, sp 6/8: (.6 + .75 - 1)/(10/12 + .75 - 1).
    assert (results.stated.value, results.stated.count) == (0.6, 20)
    assert results.corrected.value == pytest.approx(0.35 / (10 / 12 - 0.25))


def test_nobody_rates_twice_nor_one_more_than_it_takes(calibration, raters, reviewer):
    case = calibration.cases.select_related("calibration__judge__rubric", "calibration__judge__project").first()
    kept = case_rate(case=case, actor=raters[0], value=1)
    assert case_rate(case=case, actor=raters[0], value=1) == kept
    with pytest.raises(InvalidDocument, match="first rating counts"):
        case_rate(case=case, actor=raters[0], value=0)
    case_rate(case=case, actor=raters[1], value=None, note="I cannot see the order")
    case_rate(case=case, actor=raters[2], value=0.5)
    with pytest.raises(InvalidDocument, match="has enough ratings"):
        case_rate(case=case, actor=reviewer, value=1)
    assert list(Rating.objects.filter(case=case).values_list("place", "value")) == [(1, 1.0), (2, None), (3, 0.5)]
    assert case not in calibration.cases.left_for(reviewer)


@pytest.mark.parametrize("value", [0.3, 2, -1, float("nan"), float("inf")])
def test_a_value_off_the_scale_is_refused(calibration, reviewer, value):
    case = calibration.cases.select_related("calibration__judge__rubric", "calibration__judge__project").first()
    with pytest.raises(InvalidDocument, match="scale"):
        case_rate(case=case, actor=reviewer, value=value)
    assert not Rating.objects.exists()


def test_closing_early_counts_what_is_there_and_takes_nothing_more(calibration, raters):
    rate_all(calibration, raters[0])
    case = CalibratedCase.objects.select_related("calibration__judge__rubric", "calibration__judge__project")[0]
    closed = calibration_close(calibration=calibration, actor=None)
    assert closed.table["both_passed"] == 10
    at = closed.closed_at
    assert calibration_close(calibration=calibration, actor=None).closed_at == at
    with pytest.raises(InvalidDocument, match="closed"):
        case_rate(case=case, actor=raters[1], value=1)
    assert not calibration.cases.left_for(raters[1]).exists()


@pytest.mark.parametrize(
    ("said", "pointer"),
    [
        ({"held_out": 0}, "/held_out"),
        ({"raters": 0}, "/raters"),
        ({"tuning": -1}, "/tuning"),
        ({"seed": "\0"}, "/seed"),
    ],
)
def test_sizes_out_of_range_are_refused(calibration, said, pointer):
    request = CalibrationRequest(judge=calibration.judge, grading=calibration.grading, **said)
    with pytest.raises(InvalidDocument) as caught:
        calibration_begin(request=request, actor=None)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


def test_one_at_a_time_and_only_of_what_this_rubric_and_model_judged(project, calibration, run_jobs):
    request = CalibrationRequest(judge=calibration.judge, grading=calibration.grading)
    with pytest.raises(InvalidDocument, match="still open"):
        calibration_begin(request=request, actor=None)
    with chat_server(judging(scored)) as server:
        other = judge_of(project, server, name="Other", model="other-2026-02-01", on=False)
        with pytest.raises(InvalidDocument, match="was not judged by"):
            calibration_begin(request=CalibrationRequest(judge=other, grading=calibration.grading), actor=None)


def test_what_a_judge_was_given_is_not_guessed_where_it_cannot_be_had_again(calibration, run_jobs):
    calibration_close(calibration=calibration, actor=None)
    case = CaseGrade.objects.get(pk=calibration.cases.first().case_id)
    case.detail["judged"]["argument_semantics"]["asked"] = ["0" * 64]
    case.save()
    request = CalibrationRequest(judge=calibration.judge, grading=calibration.grading, held_out=SIZE, raters=1)
    made = calibration_begin(request=request, actor=None)
    run_jobs()
    lost = made.cases.get(case=case)
    assert (lost.questions, lost.value) == ([], None)
    assert made.cases.ratable().count() == SIZE - 1


def test_a_judge_is_flagged_until_it_reaches_its_threshold(calibration, raters):
    judge = calibration.judge

    def standing() -> Any:
        return standings_of([judge])[judge.pk]

    assert (standing().trust, standing().words) == (Trust.NEVER, "never compared with people")
    for one in raters:
        rate_all(calibration, one)
    assert standing().trust is Trust.BELOW
    assert standing().words == "below its threshold: kappa 0.58, wanted 0.6"
    judge_change(judge=judge, actor=None, threshold=0.5)
    assert standing().trust is Trust.REACHED
    assert not standing().is_flagged
    judge_change(judge=judge, actor=None, measure="agreement", threshold=0.81)
    assert standing().words == "below its threshold: agreement 0.80, wanted 0.81"
    with pytest.raises(InvalidDocument, match="from 0 to 1"):
        judge_change(judge=judge, actor=None, threshold=1.1)
    with pytest.raises(InvalidDocument, match="must be one of"):
        judge_change(judge=judge, actor=None, measure="luck")


def test_kappa_that_cannot_be_told_is_flagged_too(calibration, raters):
    calibration_close(calibration=calibration, actor=None)
    found = standings_of([calibration.judge])[calibration.judge_id]
    assert (found.trust, found.words) == (Trust.UNKNOWN, "kappa not known")


def test_a_calibration_counts_for_every_judge_of_its_rubric_version_and_model(project, calibration, raters):
    with chat_server(judging(scored)) as server:
        twin = judge_of(project, server, name="Twin", on=False)
        other = judge_of(project, server, name="Other", model="other-2026-02-01", on=False)
    for one in raters:
        rate_all(calibration, one)
    found = standings_of([twin, other])
    assert found[twin.pk].trust is Trust.BELOW
    assert found[other.pk].trust is Trust.NEVER


def test_a_calibration_older_than_a_month_is_to_be_repeated(calibration, raters):
    for one in raters:
        rate_all(calibration, one)
    now = database_now()
    for days, old in ((29, False), (31, True)):
        JudgeCalibration.objects.update(closed_at=now - timedelta(days=days))
        assert standings_of([calibration.judge])[calibration.judge_id].is_old is old


def test_grading_again_keeps_what_is_hidden_hidden_and_the_calibration_as_it_was(project, calibration, run_jobs):
    run = calibration.grading.run
    run.refresh_from_db()
    again = grading_start(run=run, actor=None)
    run_jobs()
    again.refresh_from_db()
    assert JudgedCase.objects.filter(grading=again).count() == SIZE
    assert not JudgedCase.objects.filter(grading=again).shown().exists()
    calibration_close(calibration=calibration, actor=None)
    assert JudgedCase.objects.filter(grading=again).shown().count() == SIZE


def test_the_same_examples_are_hidden_in_other_runs_and_others_are_not(project, calibration, run_jobs):
    with chat_server(judging(scored)) as server:
        calibration.judge.options["base_url"] = server.url
        calibration.judge.save()
        same = judged_run(project)
        other = judged_run(project, size=3, slug="other")
        run_jobs()
    for run, shown in ((same, 0), (other, 3)):
        run.refresh_from_db()
        assert JudgedCase.objects.filter(grading=run.grading).shown().count() == shown
