"""A rubric tried on ten cases before it is used: nothing is written into any grading."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import reverse

from tests.agents.chat_server import chat_server
from tests.agents.judges import judging
from tests.reports.reading import csv_rows, text
from tests.runs.building import rows_of
from tests.runs.calibrated import MARK, calibration_made, judged_run, number_in, scored
from tests.runs.judged import judge_of
from toolevals.grading.judging import SHIPPED
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.judging import concurrent_questions as several_module
from toolevals.runs.models import JudgedCase, Judgement, Rubric, Tryout, TryoutAnswer, TryoutCase
from toolevals.runs.rubrics.results import tried
from toolevals.runs.rubrics.services import TryoutRequest, tryout_begin
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Batch, BatchState, JobState

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]
# A rubric of one's own about calls whose arguments differ; it passes from 0.5.
OWN = {
    "name": "close_enough",
    "title": "Close enough",
    "layer": "arguments",
    "gate": "differing_arguments",
    "inputs": ["conversation", "expected", "actual"],
    "text": "Score 1 if the call would do as well as the expected one, 0.5 if nearly, 0 if not.",
    "answer_schema": {
        "type": "object",
        "required": ["reason", "score"],
        "properties": {"reason": {"type": "string"}, "score": {"enum": [0, 0.5, 1]}},
    },
    "scale": {"values": [0, 0.5, 1], "passes_from": 0.5},
}
FORM = {
    **{name: OWN[name] for name in ("name", "title", "layer", "gate", "inputs", "text")},
    "values": "0, 0.5, 1",
    "passes_from": "0.5",
    "scoring": "said",
    "answer_schema": json.dumps(OWN["answer_schema"]),
}


@pytest.fixture
def server() -> Any:
    """A judge on loopback that passes what it passes in calibrations."""
    with chat_server(judging(scored)) as made:
        yield made


@pytest.fixture
def judge(project: Any, server: Any) -> Any:
    """A judge by another rubric, switched off: its connection is what counts."""
    return judge_of(project, server, "task_completion", on=False, prices={"input": 1, "output": 10})


@pytest.fixture
def run(project: Any, run_jobs: Any) -> Any:
    """A graded run of twenty cases whose arguments differ; no judge was asked."""
    made = judged_run(project)
    run_jobs()
    made.refresh_from_db()
    return made


@pytest.fixture
def attempt(project: Any, judge: Any, run: Any, run_jobs: Any) -> Any:
    """Return a function that tries a rubric to the end."""

    def go(**said: Any) -> Tryout:
        request = TryoutRequest(**{"document": OWN, "judge": judge, "grading": run.grading, "seed": "one", **said})
        made = tryout_begin(project=project, actor=None, request=request)
        run_jobs()
        made.refresh_from_db()
        return made

    return go


def test_ten_cases_are_asked_and_no_grading_holds_anything_of_it(attempt, server, run):
    before = rows_of(run.grading)
    made = attempt()
    assert (len(server.requests), made.looked_at) == (10, 10)
    assert made.finished_at is not None
    found = tried(made)
    assert len(found.cases) == 10
    for case in found.cases:
        number = number_in(case.case.questions[0])
        assert case.now == ("passed" if number < 12 else "failed")
        answer = case.questions[0].answer
        assert answer is not None
        assert answer.reason == f"{MARK} {number}"
    assert found.cost == pytest.approx(sum(answer.cost or 0.0 for answer in TryoutAnswer.objects.all()))
    assert rows_of(run.grading) == before
    assert not Judgement.objects.exists()
    assert not JudgedCase.objects.exists()
    assert not Rubric.objects.filter(name="close_enough").exists()


def test_the_seed_draws_the_cases_and_every_try_asks_anew(attempt, server):
    drawn = []
    for seed in ("one", "one", "two"):
        made = attempt(seed=seed)
        drawn.append(list(made.cases.values_list("case", flat=True)))
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(server.requests) == 30


def test_where_the_gate_is_closed_everywhere_nobody_is_asked(attempt, server):
    made = attempt(document={**OWN, "gate": "tool_failed", "inputs": ["conversation"]})
    assert (server.requests, made.cases.count(), made.looked_at) == ([], 0, 20)
    assert made.job.state == JobState.SUCCEEDED


def test_the_cap_leaves_the_rest_unasked_and_what_errors_is_errored(project, attempt, run, server, monkeypatch):
    monkeypatch.setattr(several_module, "CONCURRENCY", 1)
    made = attempt(budget=1e-9)
    assert (len(server.requests), tried(made).by_verdict["unasked"]) == (1, 9)
    with chat_server(judging(lambda _: "{{ no JSON")) as broken:
        other = judge_of(project, broken, "task_completion", on=False, name="Broken")
        assert tried(attempt(judge=other)).by_verdict == {"errored": 10}


def test_a_worker_that_dies_leaves_its_answers_and_nothing_is_asked_twice(attempt, server, run_jobs, monkeypatch):
    monkeypatch.setattr(several_module, "CONCURRENCY", 1)
    create = TryoutAnswer.objects.create

    def dying(**columns: Any) -> Any:
        if TryoutAnswer.objects.count() == 4:
            raise SystemExit
        return create(**columns)

    monkeypatch.setattr(TryoutAnswer.objects, "create", dying)
    with pytest.raises(SystemExit):
        attempt()
    monkeypatch.setattr(TryoutAnswer.objects, "create", create)
    Batch.objects.filter(state=BatchState.LEASED).update(due_at=database_now())
    run_jobs(impatient=True)
    # The fifth answer came when nobody was there to keep it.
    assert len(server.requests) == 11
    assert TryoutAnswer.objects.count() == 10


def test_what_is_wrong_is_named(project, judge, run):
    def pointer(**said: Any) -> str:
        request = TryoutRequest(**{"document": OWN, "judge": judge, "grading": run.grading, **said})
        with pytest.raises(InvalidDocument) as caught:
            tryout_begin(project=project, actor=None, request=request)
        return caught.value.problems[0].pointer

    assert pointer(budget=-1.0) == "/budget"
    assert pointer(seed="x" * 101) == "/seed"
    assert pointer(document={**OWN, "inputs": ["results", "nonsense"]}).startswith("/inputs")
    assert (
        pointer(document={**OWN, "answer_schema": {"type": "strnig", "required": ["score"]}}) == "/answer_schema/type"
    )
    assert not Tryout.objects.exists()


def test_a_rubric_is_written_tried_changed_and_kept_on_pages(client, project, owner, judge, run, run_jobs):
    client.force_login(owner)
    new = reverse("runs:rubric-new", args=[project.slug])
    assert "Try it on ten cases" in text(client.get(new))
    tries = {"act": "try", "run": str(run.number), "judge": str(judge.pk), "seed": "one", "budget": "2"}
    made = client.post(new, {**FORM, **tries})
    assert made.status_code == 302
    assert "Cancel" in text(client.get(made["Location"]))
    run_jobs()
    html = text(client.get(made["Location"]))
    assert html.count(MARK) >= 10
    assert "found among 10 examples" in html
    assert (
        html.count('<span class="verdict verdict-passed">passed</span>')
        == tried(Tryout.objects.get()).by_verdict["passed"]
    )
    found = Tryout.objects.get()
    rows = csv_rows(client.get(reverse("runs:tryout-csv", args=[project.slug, found.pk])))
    assert (len(rows), {row["question"] for row in rows}) == (10, {"1"})
    assert {json.loads(row["answer"])["score"] for row in rows} <= {0, 1}
    # Its text stands in the form again, schema and all.
    again = text(client.get(new, {"tryout": str(found.pk)}))
    assert "would do as well" in again
    assert "&quot;enum&quot;" in again
    assert client.post(reverse("runs:tryout-keep", args=[project.slug, found.pk])).status_code == 302
    kept = Rubric.objects.get(name="close_enough")
    assert kept.document["answer_schema"] == OWN["answer_schema"]
    assert "Close enough" in text(client.get(reverse("runs:rubrics", args=[project.slug])))
    assert "would do as well" in text(client.get(new, {"rubric": str(kept.pk)}))
    assert 'value="my_task_completion"' in text(client.get(new, {"shipped": "task_completion"}))
    assert client.get(new, {"tryout": str(kept.pk)}).status_code == 404


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"answer_schema": "{"}, "line 1"),
        ({"answer_schema": '{"type": "strnig", "required": ["score"]}'}, "/type: "),
        ({"answer_schema": '{"type": "object", "required": ["reason"]}'}, "/required: must hold score"),
        (
            {"answer_schema": '{"required": ["score"], "properties": {"score": {"type": 5}}}'},
            "/properties/score/type: ",
        ),
        ({"answer_schema": "[]"}, "not of type"),
        ({"scoring": "used"}, "must hold fields"),
        ({"act": "try", "run": "", "judge": ""}, "Choose one."),
    ],
)
def test_what_is_wrong_with_a_schema_stands_at_its_field_by_pointer(client, project, owner, judge, run, change, said):
    client.force_login(owner)
    answer = client.post(reverse("runs:rubric-new", args=[project.slug]), {**FORM, **change})
    assert answer.status_code == 422
    assert said in text(answer)
    assert not Rubric.objects.filter(name="close_enough").exists()
    assert not Tryout.objects.exists()


def test_a_shipped_rubric_comes_through_the_form_as_it_is(client, project, owner):
    client.force_login(owner)
    new = reverse("runs:rubric-new", args=[project.slug])
    for name, rubric in SHIPPED.items():
        form = client.get(new, {"shipped": name}).context["form"]
        data = {field: value for field, value in form.initial.items() if value is not None}
        assert client.post(new, {**data, "act": "keep"}).status_code == 302, name
        kept = Rubric.objects.get(name=f"my_{name}").document
        assert kept == {**rubric.to_document(), "name": f"my_{name}", "version": 1}


def test_by_rest(client, project, owner, judge, run, run_jobs):
    client.force_login(owner)
    address = f"/api/v1/projects/{project.slug}/rubric-tryouts/"
    body = {"document": OWN, "run": run.number, "judge": str(judge.pk), "seed": "one", "budget": 1}
    made = client.post(address, body, content_type="application/json")
    assert (made.status_code, made.json()["run"], made.json()["finished_at"]) == (201, run.number, None)
    run_jobs()
    (listed,) = client.get(address).json()["results"]
    assert listed == client.get(f"{address}{made.json()['id']}/").json()
    found = client.get(f"{address}{made.json()['id']}/cases/").json()
    assert len(found["cases"]) == 10
    assert all(MARK in case["answers"][0]["reason"] for case in found["cases"])
    assert all(case["questions"][0]["actual"]["arguments"] for case in found["cases"])
    for change in ({"run": 99}, {"judge": str(run.pk)}, {"document": {**OWN, "text": ""}}):
        assert client.post(address, {**body, **change}, content_type="application/json").status_code == 422


def test_cases_that_people_rate_now_are_neither_drawn_nor_shown(project, attempt, server, run_jobs):
    made = attempt(document={**OWN, "name": "argument_semantics"})
    calibration_made(project, server, run_jobs)
    found = tried(made)
    assert (len(found.cases), found.hidden) == (0, 10)
    assert attempt(document={**OWN, "name": "argument_semantics"}).cases.count() == 0


def test_hostile_answers_are_shown_as_text(client, project, owner, attempt):
    made = attempt()
    hostile = "<script>alert(1)</script>"
    TryoutAnswer.objects.update(reason=hostile, answer={"reason": hostile}, answered_by=hostile)
    TryoutCase.objects.update(questions=[{"criteria": hostile}])
    client.force_login(owner)
    html = client.get(reverse("runs:tryout", args=[project.slug, made.pk])).content.decode()
    assert "<script>alert(1)" not in html
    assert "&lt;script&gt;alert(1)" in html
