"""Judges and rubrics by REST."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.agents.judges import MODEL
from tests.runs.building import baseline_run, version_of
from toolevals.grading.judging import SHIPPED
from toolevals.workspace.models import Project, User

pytestmark = pytest.mark.django_db
JUDGE = {
    "rubric": "argument_semantics",
    "name": "Judge",
    "model": MODEL,
    "options": {"base_url": "https://judges.example/v1"},
    "prices": {"input": 1, "output": 2},
    "budget": 3,
}


@pytest.fixture
def ask(client: Client, adjudicator: User, project: Project) -> Any:
    """Return a function that sends JSON as an adjudicator."""
    client.force_login(adjudicator)

    def send(method: str, path: str, body: Any = None) -> Any:
        address = f"/api/v1/projects/{project.slug}/{path}"
        if body is None:
            return getattr(client, method)(address)
        return getattr(client, method)(address, body, content_type="application/json")

    return send


def test_a_judge_is_made_listed_and_switched_on(ask):
    made = ask("post", "judges/", JUDGE)
    assert made.status_code == 201
    judge = made.json()
    assert (judge["is_on"], judge["is_pinned"], judge["rubric"]["name"]) == (False, True, "argument_semantics")
    changed = ask("patch", f"judges/{judge['id']}/", {"is_on": True, "share": 0.5}).json()
    assert (changed["is_on"], changed["share"], changed["budget"]) == (True, 0.5, 3.0)
    assert [each["name"] for each in ask("get", "judges/").json()["results"]] == ["Judge"]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [({"model": "judge-large"}, "/model"), ({"rubric": "tone@1"}, "/rubric"), ({"share": 2}, "/share")],
)
def test_what_is_wrong_is_a_problem_with_its_pointer(ask, change, pointer):
    answer = ask("post", "judges/", {**JUDGE, **change})
    assert answer.status_code == 422
    assert pointer in answer.content.decode()


def test_a_rubric_of_ones_own_is_kept_by_version_and_judged_by(ask):
    document = {**SHIPPED["task_completion"].to_document(), "name": "tone", "title": "Tone"}
    made = ask("post", "rubrics/", {"document": document})
    assert made.status_code == 201
    assert (made.json()["version"], made.json()["is_shipped"]) == (1, False)
    assert ask("post", "judges/", {**JUDGE, "rubric": "tone@1"}).status_code == 201
    assert ask("post", "rubrics/", {"document": {**document, "name": "task_completion"}}).status_code == 422


def test_judging_a_run_is_estimated(ask, project, run_jobs):
    run = baseline_run(project, version_of(project))
    run_jobs()
    assert ask("get", f"runs/{run.number}/judging/").json() == []
    judge = ask("post", "judges/", {**JUDGE, "rubric": "task_completion"}).json()
    ask("patch", f"judges/{judge['id']}/", {"is_on": True})
    (estimate,) = ask("get", f"runs/{run.number}/judging/").json()
    assert estimate["judge"] == judge["id"]
    assert estimate["questions"] > 0
    assert estimate["cost"] > 0
