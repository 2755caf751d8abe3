from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.runs.building import HISTORY, STATUS, baseline_run, call, jsonl, uploaded_run, version_of
from toolevals.runs.models import Run

pytestmark = pytest.mark.django_db

ROOT = "/api/v1/projects/shop"
PREDICTIONS = jsonl([call("status", HISTORY), call("history", HISTORY)])


@pytest.fixture
def api(client, adjudicator):
    client.force_login(adjudicator)
    return client


def test_a_baseline_run_by_api(project, version, api, run_jobs):
    response = api.post(
        f"{ROOT}/runs/", {"experiment": "Nightly", "dataset": "core", "threshold": 0.2}, content_type="application/json"
    )

    assert response.status_code == 202
    started = response.json()
    assert (started["run"]["number"], started["run"]["grading"], started["job"]["state"]) == (1, None, "running")
    run_jobs()
    run = api.get(f"{ROOT}/runs/1/").json()
    assert (run["grading"], run["experiment"], run["stale"]) == (1, "nightly", "")
    assert run["agent"]["options"]["threshold"] == 0.2
    assert run["dataset_version"] == {"dataset": "core", "version": 1, "size": 4}
    assert sum(run["shown"]["counts"]["outcome"].values()) == 4


@pytest.mark.parametrize("content_type", ["application/jsonl", "application/x-ndjson"])
def test_predictions_as_the_bare_body(project, version, api, run_jobs, content_type):
    address = f"{ROOT}/runs/predictions/?experiment=nightly&dataset=core&version=1&name=agent&commit=3f9c2ab"

    response = api.post(address, PREDICTIONS, content_type=content_type)

    assert response.status_code == 202
    run_jobs()
    run = Run.objects.select_related("job").get()
    assert run.job is not None
    assert run.job.report == {"predictions": 2, "missing": 2}
    assert api.get(f"{ROOT}/runs/1/").json()["agent"]["commit"] == "3f9c2ab"


def test_predictions_as_a_form_once_for_one_key(project, version, api):
    def send() -> Any:
        form = {
            "experiment": "nightly",
            "dataset": "core",
            "name": "agent",
            "file": SimpleUploadedFile("a.jsonl", PREDICTIONS),
        }
        return api.post(f"{ROOT}/runs/predictions/", form, headers={"Idempotency-Key": "commit-1"})

    first, second = send(), send()

    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json() == second.json()
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"dataset": "none"}, "/dataset"),
        ({"version": 9}, "/version"),
        ({"trials": 0}, "/trials"),
        ({"registry": "none"}, "/registry"),
        ({"experiment": "–"}, "/experiment"),
        ({"threshold": 3}, "/threshold"),
    ],
)
def test_a_wrong_request_is_answered_by_a_problem(project, version, api, changes, pointer):
    body = {"experiment": "nightly", "dataset": "core", **changes}

    response = api.post(f"{ROOT}/runs/", body, content_type="application/json")

    assert response.status_code == 422
    assert response["Content-Type"] == "application/problem+json"
    assert [problem["pointer"] for problem in response.json()["problems"]] == [pointer]
    assert not Run.objects.exists()


def test_errors_by_line_stand_in_the_job(project, version, api, run_jobs):
    address = f"{ROOT}/runs/predictions/?experiment=nightly&dataset=core&name=agent"
    started = api.post(address, b'{"id": "nobody", "answer": ""}', content_type="application/jsonl").json()

    run_jobs()

    job = api.get(f"{ROOT}/jobs/{started['job']['id']}/").json()
    assert job["state"] == "failed"
    assert [(error["line"], error["pointer"]) for error in job["report"]["errors"]] == [(1, "/id")]
    assert api.get(f"{ROOT}/runs/{started['run']['number']}/").status_code == 404
    assert api.get(f"{ROOT}/runs/").json()["results"] == []


def test_lists_come_in_pages(project, version, api):
    for _ in range(3):
        baseline_run(project, version)

    first = api.get(f"{ROOT}/runs/?limit=2").json()
    rest = api.get(first["next"]).json()

    assert [run["number"] for run in first["results"] + rest["results"]] == [3, 2, 1]
    assert rest["next"] is None
    assert [run["number"] for run in api.get(f"{ROOT}/runs/?experiment=nightly").json()["results"]] == [3, 2, 1]
    assert api.get(f"{ROOT}/runs/?experiment=other").json()["results"] == []
    assert len(api.get(f"{ROOT}/agents/").json()["results"]) == 1
    assert [found["slug"] for found in api.get(f"{ROOT}/experiments/").json()["results"]] == ["nightly"]


def test_cases_are_filtered_and_shown_in_full(project, version, api, run_jobs):
    uploaded_run(project, version, [call("status", HISTORY), call("history", HISTORY)])
    run_jobs()

    def listed(**wanted: Any) -> list[str]:
        return [case["example"] for case in api.get(f"{ROOT}/runs/1/cases/", wanted).json()["results"]]

    assert sorted(listed()) == ["hello", "history", "refund", "status"]
    assert listed(expected=STATUS, actual=HISTORY) == ["status"]
    assert listed(mode="wrong_tool") == ["status"]
    assert listed(outcome="passed") == ["history"]
    assert sorted(listed(outcome="unscored")) == ["hello", "refund"]
    assert listed(grading=1, outcome="passed") == ["history"]
    [case] = api.get(f"{ROOT}/runs/1/cases/", {"mode": "wrong_tool"}).json()["results"]
    full = api.get(f"{ROOT}/runs/1/cases/{case['id']}/").json()
    assert full["pairs"][0]["expected"] == STATUS
    assert full["detail"]["verdicts"]["selection"]["status"] == "failed"
    assert full["input"]["messages"][0]["role"] == "user"
    assert full["prediction"]["messages"][0]["calls"][0]["name"] == HISTORY


def test_gradings_are_listed_and_added(project, version, api, run_jobs):
    baseline_run(project, version)
    run_jobs()

    response = api.post(f"{ROOT}/runs/1/gradings/", {"version": 1}, content_type="application/json")
    run_jobs()

    assert response.status_code == 202
    assert response.json()["grading"]["number"] == 2
    assert [found["number"] for found in api.get(f"{ROOT}/runs/1/gradings/").json()["results"]] == [2, 1]
    assert api.get(f"{ROOT}/runs/1/gradings/2/").json()["counts"]["outcome"]
    assert api.post(f"{ROOT}/runs/1/gradings/", {"version": 5}, content_type="application/json").status_code == 404


@pytest.mark.parametrize(
    "path", ["runs/9/", "runs/9/cases/", "runs/9/gradings/", "runs/1/cases/?grading=9", "runs/1/cases/?grading=x"]
)
def test_what_is_not_there_is_not_found(project, version, api, run_jobs, path):
    baseline_run(project, version)
    run_jobs()

    assert api.get(f"{ROOT}/{path}").status_code == 404


def test_a_run_of_another_project_is_not_there(project, api, run_jobs):
    from toolevals.workspace.projects.services import project_create

    other = project_create(actor=None, slug="other", name="Other")
    baseline_run(other, version_of(other))
    run_jobs()

    assert api.get(f"{ROOT}/runs/1/").status_code == 404
    assert api.get("/api/v1/projects/other/runs/1/").status_code == 404


def test_a_viewer_reads_and_starts_nothing(project, version, client, viewer, run_jobs):
    baseline_run(project, version)
    run_jobs()
    client.force_login(viewer)

    assert client.get(f"{ROOT}/runs/1/").status_code == 200
    body = {"experiment": "nightly", "dataset": "core"}
    assert client.post(f"{ROOT}/runs/", body, content_type="application/json").status_code == 403
    assert (
        client.post(f"{ROOT}/runs/predictions/?name=a", PREDICTIONS, content_type="application/jsonl").status_code
        == 403
    )
    assert Run.objects.count() == 1
