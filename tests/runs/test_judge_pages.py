"""The pages of judges and rubrics."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.agents.chat_server import chat_server
from tests.agents.judges import MODEL, judging
from tests.runs.judged import judge_of, judged_run
from toolevals.runs.judging.estimate import judging_estimates
from toolevals.runs.models import Judge, Rubric
from toolevals.workspace.models import Project, User

pytestmark = pytest.mark.django_db
JUDGE = {
    "name": "Large judge",
    "rubric": "shipped:argument_semantics",
    "base_url": "https://judges.example/v1",
    "model": MODEL,
    "share": "50",
    "timeout": "30",
    "input_price": "1",
    "output_price": "4",
    "budget": "2",
}
RUBRIC = {
    "name": "tone",
    "title": "Tone",
    "layer": "task",
    "gate": "task",
    "inputs": ["conversation", "done"],
    "text": "Score 1 if the agent is friendly, 0.5 if it is curt, 0 if it is rude.",
    "values": "0, 0.5, 1",
    "passes_from": "0.5",
}


@pytest.fixture
def page(client: Client, adjudicator: User, project: Project) -> Any:
    """Return a function that gets or posts a page of the project as an adjudicator."""
    client.force_login(adjudicator)

    def fetch(name: str, *args: Any, data: Any = None) -> Any:
        address = reverse(f"runs:{name}", args=[project.slug, *args])
        return client.get(address) if data is None else client.post(address, data)

    return fetch


def test_a_judge_is_made_switched_off_and_then_on(page, project):
    assert page("judge-new", data=JUDGE).status_code == 302
    judge = Judge.objects.get()
    assert (judge.share, judge.budget, judge.prices["output"], judge.is_on) == (0.5, 2.0, 4.0, False)
    assert (judge.rubric.name, judge.rubric.is_shipped, judge.model) == ("argument_semantics", True, MODEL)
    page("judge-change", judge.pk, data={"is_on": "1", "share": "25"})
    judge.refresh_from_db()
    assert (judge.is_on, judge.share, judge.budget) == (True, 0.25, 2.0)
    html = page("judges").content.decode()
    assert "Large judge" in html
    assert "not asked yet" in html


def test_an_alias_is_refused_with_an_explanation_and_taken_where_one_insists(page):
    answer = page("judge-new", data={**JUDGE, "model": "judge-large"})
    assert answer.status_code == 422
    assert "is an alias" in answer.content.decode()
    assert page("judge-new", data={**JUDGE, "model": "judge-large", "allow_alias": "on"}).status_code == 302
    assert "alias" in page("judges").content.decode()


def test_a_second_judge_of_a_rubric_is_not_switched_on_beside_the_first(page):
    for name in ("One", "Two"):
        page("judge-new", data={**JUDGE, "name": name})
    for judge in Judge.objects.all():
        page("judge-change", judge.pk, data={"is_on": "1"})
    assert Judge.objects.filter(is_on=True).count() == 1
    assert "switch it off first" in page("judges").content.decode()


def test_a_rubric_of_ones_own_is_a_version_and_can_be_judged_by(page):
    assert page("rubric-new", data=RUBRIC).status_code == 302
    assert page("rubric-new", data={**RUBRIC, "title": "Friendly tone"}).status_code == 302
    rubric = Rubric.objects.get(name="tone", version=2)
    html = page("rubrics").content.decode()
    assert "Friendly tone" in html
    assert "Argument semantics" in html
    assert page("judge-new", data={**JUDGE, "rubric": str(rubric.pk)}).status_code == 302
    assert Judge.objects.get().rubric == rubric


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"inputs": ["expected"]}, "not there behind the gate"),
        ({"name": "task_completion"}, "shipped"),
        ({"passes_from": "1", "values": "0"}, "nothing passes"),
        ({"values": "many"}, "Numbers with commas"),
        ({"text": "Short."}, "shorter"),
    ],
)
def test_what_is_wrong_with_a_rubric_is_shown_at_its_field(page, change, said):
    answer = page("rubric-new", data={**RUBRIC, **change})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Rubric.objects.exists()


def test_the_list_of_judges_costs_the_same_however_many_there_are(page, django_assert_max_num_queries):
    for number in range(3):
        page("judge-new", data={**JUDGE, "name": f"Judge {number}"})
    with django_assert_max_num_queries(15):
        page("judges")


def test_judging_a_run_is_estimated_before_and_counted_after(page, project, run_jobs, settings):
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    run = judged_run(project)
    run_jobs()
    run.refresh_from_db()
    with chat_server(judging(lambda _: {"score": 1})) as server:
        judge_of(project, server, prices={"input": 1, "output": 10}, budget=1e-9)
        (estimate,) = judging_estimates(run)
        assert (estimate.questions, estimate.known, estimate.capped) == (1, 0, True)
        assert estimate.cost == pytest.approx((estimate.input_tokens + 120 * 10) / 1e6)
        html = page("judging", run.number).content.decode()
        assert "cap reached first" in html
        Judge.objects.update(budget=None)
        page("run-regrade", run.number, data={})
        run_jobs()
    run.refresh_from_db()
    (after,) = judging_estimates(run)
    assert (after.questions, after.known, after.cost) == (1, 1, 0.0)
    html = page("judges").content.decode()
    assert f"Run {run.number}" in html
    assert "1 failed" not in html
