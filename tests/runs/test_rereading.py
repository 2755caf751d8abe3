"""Re-reading a grading's cases: what is drawn, who may read, and what comes of it."""

from __future__ import annotations

from collections import Counter

import pytest

from labeling.models import Adjudication, CalibrationItem, CalibrationRound, Label, LabelSlot, Resolution, Revision
from tests.fixtures.people import member, person
from tests.runs.building import EXAMPLES, HISTORY, STATUS, call, cases_of, example, uploaded_run, version_of
from tests.runs.reread import PASS, RIGHT, SIZE, read_all, read_run, rereading_made, truth
from toolevals.grading.metrics.clustered import rate
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import Reading, Rereading
from toolevals.runs.rereading.results import grading_reread, people_say, results_of
from toolevals.runs.rereading.services import (
    RereadingRequest,
    case_read,
    rereading_begin,
    rereading_cancel,
    rereading_close,
)
from toolevals.workspace.models import AuditEntry, Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(project, run_jobs):
    return read_run(project, run_jobs)


@pytest.fixture
def reader(project):
    return member(project, Role.REVIEWER)


def test_the_last_reading_closes_it_and_verdicts_weigh_the_shares(run, reader):
    rereading = rereading_made(run)
    assert rereading.drawn_from == {"passed": 12, "failed": 8}
    assert read_all(rereading, reader, most=SIZE - 1) == SIZE - 1
    rereading.refresh_from_db()
    assert results_of(rereading) is None
    assert read_all(rereading, reader) == 1
    results = grading_reread(run.grading)
    assert results is not None
    # 10 of the 12 that passed, 3 of the 8 that failed.
    assert results.score.value == pytest.approx(13 / 20)
    assert len(RIGHT) == 13
    assert (results.score.stated.value, results.unscored) == (12 / 20, 0)
    assert [row.overturned for row in results.verdicts] == [("wrong", 2), ("right", 3)]
    assert "people judged 12 passed and 8 failed cases" in results.words
    verbs = AuditEntry.objects.filter(target_type__in=["runs.rereading", "runs.reading"]).order_by("id")
    assert Counter(verbs.values_list("verb", flat=True)) == {"rereading_begin": 1, "case_read": SIZE}


def test_a_sample_speaks_for_all_cases_by_how_many_have_the_verdict(run, reader):
    rereading = rereading_made(run, passed=6, failed=4)
    cases = list(rereading.cases.order_by("position"))
    assert Counter(case.passed for case in cases) == {True: 6, False: 4}
    for case in cases:
        case_read(case=case, actor=reader, said="right" if case.passed else "wrong")
    results = grading_reread(run.grading)
    assert results is not None
    assert results.score.value == pytest.approx(len(PASS) / SIZE)
    assert results.score.passed.value == 1
    assert results.score.low is not None
    assert results.score.low < rate(12, 20).low  # type: ignore[operator]


def test_who_cannot_say_is_counted_and_in_no_figure(run, reader):
    rereading = rereading_made(run)
    for number, case in enumerate(rereading.cases.order_by("position")):
        case_read(case=case, actor=reader, said="cannot_say" if number % 2 else truth(case))
    results = grading_reread(run.grading)
    assert results is not None
    assert results.unscored == SIZE // 2
    assert sum(row.judged for row in results.verdicts) == SIZE // 2
    assert sum(row.counts["cannot_say"] for row in results.verdicts) == SIZE // 2
    everything = rereading_made(run, seed="again")
    for case in everything.cases.order_by("position"):
        case_read(case=case, actor=reader, said="cannot_say")
    results = grading_reread(run.grading)
    assert results is not None
    assert (results.score.value, results.score.reason) == (None, "no passed case was judged")


def test_most_of_several_readers_decide_and_ties_are_unscored(run, project):
    people = [person(name) for name in ("one", "two")]
    rereading = rereading_made(run, readers=2)
    for case in rereading.cases.order_by("position"):
        case_read(case=case, actor=people[0], said="right")
        case_read(case=case, actor=people[1], said=truth(case))
    results = grading_reread(run.grading)
    assert results is not None
    assert results.unscored == SIZE - len(RIGHT)
    assert people_say(["right", "cannot_say"]) == "right"
    assert people_say(["right", "wrong", "wrong"]) == "wrong"
    assert [people_say(said) for said in ([], ["cannot_say"], ["right", "wrong"])] == ["unread", "cannot_say", "tied"]


def test_of_each_example_one_scored_trial_is_drawn(project, run_jobs, reader):
    rows = [example(f"core-{n}", f"Order {n}?", STATUS) for n in range(6)]
    said = [call(f"core-{n}", STATUS if trial else HISTORY, trial) for n in range(6) for trial in range(2 + n % 2)]
    run = uploaded_run(project, version_of(project, rows), said, trials=3)
    run_jobs()
    run.refresh_from_db()
    rereading = rereading_made(run)
    cases = list(rereading.cases.select_related("case__transcript__entry"))
    assert sorted(case.case.transcript.entry.position for case in cases) == sorted(
        {case.transcript.entry.position for case in cases_of(run.grading).values()}
    )
    # The trial that nobody sent is unscored.
    assert Counter(case.trials for case in cases) == {2: 3, 3: 3}
    assert {case.case.outcome for case in cases if case.passed} <= {"passed"}
    read_all(rereading, reader)
    assert grading_reread(run.grading) is not None


def test_the_same_seed_draws_the_same_in_an_order_that_tells_nothing(run):
    drawn = []
    for seed in ("a", "a", "b"):
        made = rereading_made(run, seed=seed, passed=8, failed=8)
        drawn.append(list(made.cases.order_by("position").values_list("case", "passed")))
        rereading_close(rereading=made, actor=None)
    assert drawn[0] == drawn[1] != drawn[2]
    assert 0 < sum(passed for _, passed in drawn[0][:8]) < 8


@pytest.mark.parametrize("how", ["labelled", "decided"])
def test_who_made_the_gold_does_not_read_it_unless_the_project_lets_them(run, project, reader, how):
    rereading = rereading_made(run)
    case = rereading.cases.order_by("position")[0]
    revision = case.case.transcript.entry.revision
    if how == "decided":
        Adjudication.objects.create(revision=revision, adjudicator=reader, rationale="so")
    else:
        slot = LabelSlot.objects.create(dataset=revision.example.dataset, revision=revision, number=9, state="closed")
        Label.objects.create(slot=slot, revision=revision, reviewer=reader, answer="missing_tool")
    assert rereading.cases.left_for(reader).count() == SIZE - 1
    with pytest.raises(InvalidDocument, match="you created its gold"):
        case_read(case=case, actor=reader, said="right")
    assert not Reading.objects.exists()
    project.decide_own = True
    project.save()
    assert rereading.cases.left_for(reader).count() == SIZE


def test_an_example_that_somebody_may_still_label_rests(run, project, reader):
    rereading = rereading_made(run)
    first, second = rereading.cases.order_by("position")[:2]
    revision = first.case.transcript.entry.revision
    Revision.objects.filter(pk=revision.pk).update(resolution=Resolution.OPEN)
    asked = CalibrationRound.objects.create(dataset=run.dataset_version.dataset, name="Week one")
    CalibrationItem.objects.create(round=asked, position=1, revision=second.case.transcript.entry.revision)
    assert rereading.cases.resting().count() == 2
    assert rereading.cases.left_for(reader).count() == SIZE - 2
    with pytest.raises(InvalidDocument, match="it is being labelled"):
        case_read(case=first, actor=reader, said="right")
    Revision.objects.filter(pk=revision.pk).update(resolution=Resolution.RESOLVED)
    CalibrationRound.objects.filter(pk=asked.pk).update(closed_at=rereading.created_at)
    assert rereading.cases.left_for(reader).count() == SIZE


def test_the_first_reading_counts_and_a_retry_adds_nothing(run, reader):
    rereading = rereading_made(run)
    case = rereading.cases.order_by("position")[0]
    first = case_read(case=case, actor=reader, said="wrong", note=" odd ")
    assert case_read(case=case, actor=reader, said="wrong", note="odd").pk == first.pk
    with pytest.raises(InvalidDocument, match="the first reading counts"):
        case_read(case=case, actor=reader, said="right")
    with pytest.raises(InvalidDocument, match="As many people as it takes"):
        case_read(case=case, actor=person("late-reader"), said="right")
    assert Reading.objects.get().note == "odd"


@pytest.mark.parametrize(
    ("said", "pointer"),
    [
        ({"said": "perhaps"}, "/said"),
        ({"said": "right", "note": "\0"}, "/note"),
        ({"said": "right", "note": "n" * 2001}, "/note"),
    ],
)
def test_what_is_no_reading_is_refused(run, reader, said, pointer):
    case = rereading_made(run).cases.order_by("position")[0]
    with pytest.raises(InvalidDocument) as refused:
        case_read(case=case, actor=reader, **said)
    assert refused.value.problems[0].pointer == pointer
    assert not Reading.objects.exists()


@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ({"passed": 0}, "/passed"),
        ({"failed": 1_001}, "/failed"),
        ({"readers": 0}, "/readers"),
        ({"seed": "\0"}, "/seed"),
    ],
)
def test_sizes_out_of_range_are_named(run, asked, pointer):
    with pytest.raises(InvalidDocument) as refused:
        rereading_made(run, **asked)
    assert [problem.pointer for problem in refused.value.problems] == [pointer]
    assert not Rereading.objects.exists()


def test_one_is_open_at_a_time_and_it_ends_by_hand(run, reader):
    rereading = rereading_made(run)
    with pytest.raises(InvalidDocument, match="still open"):
        rereading_made(run)
    read_all(rereading, reader, most=15)
    rereading_close(rereading=rereading, actor=reader)
    rereading_close(rereading=rereading, actor=reader)
    results = grading_reread(run.grading)
    assert results is not None
    assert sum(row.counts["unread"] for row in results.verdicts) == 5
    with pytest.raises(InvalidDocument, match="closed and cannot be cancelled"):
        rereading_cancel(rereading=rereading, actor=reader)
    left = rereading.cases.filter(readings=None).order_by("position")[0]
    with pytest.raises(InvalidDocument, match="is closed"):
        case_read(case=left, actor=reader, said="right")


def test_of_a_cancelled_one_nothing_comes(run, reader):
    first = rereading_made(run)
    read_all(first, reader, most=5)
    for _ in range(2):
        rereading_cancel(rereading=first, actor=reader)
    assert grading_reread(run.grading) is None
    assert AuditEntry.objects.filter(verb="rereading_cancel").count() == 1
    assert rereading_made(run).is_open


def test_without_a_scored_case_there_is_nothing_to_read(project, run_jobs):
    run = uploaded_run(project, version_of(project, EXAMPLES), [])
    run_jobs()
    run.refresh_from_db()
    with pytest.raises(InvalidDocument, match="No case of this grading is scored"):
        rereading_begin(request=RereadingRequest(grading=run.grading), actor=None)
