"""The cases of a judge that people are asked to rate: by shares, and by no more people than it takes."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection

from tests.agents.chat_server import chat_server
from tests.agents.judges import judging
from tests.fixtures.people import person
from tests.runs.building import STATUS, call, example, uploaded_run, version_of
from tests.runs.calibrated import calibration_made, scored
from tests.runs.judged import judge_of
from toolevals.agents.judge import messages_for
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.judge_calibrations.questions import Questions
from toolevals.runs.judge_calibrations.services import CalibrationRequest, calibration_begin, case_rate
from toolevals.runs.models import JudgeCount
from toolevals.workspace.models import Role
from toolevals.workspace.projects.services import member_set

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]


def test_the_sample_holds_each_verdict_by_its_share_and_what_the_judge_was_given(project, run_jobs):
    with chat_server(judging(scored)) as server:
        made = calibration_made(project, server, run_jobs, held_out=10, tuning=5)
        asked = {body["messages"][1]["content"] for body in server.requests}
    assert made.drawn_from == {"passed": 12, "failed": 8}
    rows = list(made.cases.all())
    assert [row.position for row in rows] == list(range(1, 16))
    assert [sum(row.passed for row in rows if row.is_held_out is held_out) for held_out in (True, False)] == [6, 3]
    assert all(row.value == (1 if row.passed else 0) for row in rows)
    # Word for word what was sent.
    questions = Questions(made.grading, "argument_semantics")
    for row in made.cases.select_related("case__transcript__entry"):
        answered = questions.of(row.case)
        assert answered is not None
        (request,) = answered.requests
        assert dict(request.inputs) == row.questions[0]
        assert messages_for(request)[1].content in asked


def test_a_grading_in_which_rules_settled_everything_has_nothing_to_rate(project, run_jobs):
    with chat_server(judging(scored)) as server:
        judge = judge_of(project, server)
        run = uploaded_run(project, version_of(project, [example("equal", "Status?", STATUS)]), [call("equal", STATUS)])
        run_jobs()
    run.refresh_from_db()
    count = JudgeCount.objects.get(grading=run.grading)
    assert (count.passed, count.settled, count.asked) == (1, 1, 0)
    with pytest.raises(InvalidDocument, match="holds no case that this judge scored"):
        calibration_begin(request=CalibrationRequest(judge=judge, grading=run.grading), actor=None)


@pytest.mark.django_db(transaction=True)
def test_people_who_rate_at_the_same_moment_are_never_too_many(project, run_jobs, settings):
    with chat_server(judging(scored)) as server:
        made = calibration_made(project, server, run_jobs, held_out=3, raters=2)
    people = [person(f"Rater{n}") for n in range(6)]
    for one in people:
        member_set(project=project, actor=None, user=one, role=Role.REVIEWER)
    broken: list[BaseException] = []
    start = threading.Barrier(len(people))

    def work(one: Any) -> None:
        try:
            cases = list(made.cases.select_related("calibration__judge__rubric", "calibration__judge__project"))
            start.wait()
            for case in cases:
                try:
                    case_rate(case=case, actor=one, value=1)
                except InvalidDocument:
                    continue
        except BaseException as error:  # noqa: BLE001 (told to the test)
            broken.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(one,)) for one in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert broken == []
    made.refresh_from_db()
    assert made.closed_at is not None
    for case in made.cases.all():
        assert sorted(case.ratings.values_list("place", flat=True)) == [1, 2]
