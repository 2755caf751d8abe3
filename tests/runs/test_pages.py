from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains, assertRedirects

from tests.runs.building import EXAMPLES, HISTORY, STATUS, baseline_run, call, example, jsonl, uploaded_run, version_of
from toolevals.runs.aggregates.run_rows import A_DAY, A_MINUTE
from toolevals.runs.models import Connector, Run
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Job, JobState

pytestmark = pytest.mark.django_db


def page(name: str, *args: Any) -> str:
    return reverse(f"runs:{name}", args=["shop", *args])


def test_without_runs_the_list_says_what_to_do(project, as_adjudicator):
    assertContains(as_adjudicator.get(page("runs")), page("new"))


def test_a_viewer_is_not_asked_to_do_anything(project, version, as_viewer, run_jobs):
    baseline_run(project, version)
    run_jobs()

    response = as_viewer.get(page("runs"))

    assertNotContains(response, page("new"))
    assertNotContains(response, "Grade again")


def test_the_list_shows_the_rate_with_its_count_and_interval(project, version, as_viewer, run_jobs):
    uploaded_run(project, version, [call("status", HISTORY), call("history", HISTORY), call("refund", "issue_refund")])
    run_jobs()

    response = as_viewer.get(page("runs"))
    response.content = b" ".join(response.content.split())

    assertContains(response, "66.7")
    assertContains(response, "2 of 3")
    assertContains(response, "6.0 to 98.7")
    assertContains(response, reverse("reports:run", args=["shop", 1]))
    assertContains(response, "Core v1")


def test_a_running_run_shows_its_progress_and_asks_again(project, version, as_adjudicator):
    baseline_run(project, version)

    response = as_adjudicator.get(page("runs"))

    assertContains(response, "0 of 9")
    assertContains(response, 'hx-trigger="every 2s"')
    part = as_adjudicator.get(page("runs"), headers={"HX-Request": "true"})
    assertNotContains(part, "<html")
    assertContains(part, 'id="run-table"')


def test_a_finished_list_does_not_ask_again(project, version, as_viewer, run_jobs):
    baseline_run(project, version)
    run_jobs()

    assertNotContains(as_viewer.get(page("runs")), 'hx-trigger="every')


def test_a_newer_version_makes_a_run_stale(project, version, as_viewer, run_jobs):
    baseline_run(project, version)
    run_jobs()
    assertNotContains(as_viewer.get(page("runs")), "stale")

    version_of(project, [*EXAMPLES, example("new", "Where is ORD-1?", STATUS)])

    assertContains(as_viewer.get(page("runs")), "out of date: v2 is newer")


def test_changed_gold_makes_a_run_stale(project, version, as_viewer, run_jobs):
    from labeling.models import Gold, GoldSource

    baseline_run(project, version)
    run_jobs()
    revision = version.entries.first().revision
    revision.gold = Gold.objects.create(
        revision=revision, expectation={"kind": "no_call"}, source=GoldSource.ADJUDICATED
    )
    revision.save()

    assertContains(as_viewer.get(page("runs")), "out of date: gold has changed")


def test_what_decides_otherwise_makes_a_run_stale_and_gold_that_is_gone_comes_first(
    project, version, as_viewer, run_jobs
):
    from labeling.datasets.services import example_decide_by

    baseline_run(project, version)
    run_jobs()
    first, second = (entry.revision for entry in version.entries.select_related("revision__example")[:2])
    example_decide_by(example=first.example, actor=None, decided_by="answer")
    assertContains(as_viewer.get(page("runs")), "out of date: the pass rule has changed")
    example_decide_by(example=first.example, actor=None, decided_by="")
    assertNotContains(as_viewer.get(page("runs")), "stale")

    version.dataset.decided_by = "calls"
    version.dataset.save()
    cache.clear()
    assertContains(as_viewer.get(page("runs")), "out of date: the pass rule has changed")
    second.gold = None
    second.save()
    cache.clear()
    assertContains(as_viewer.get(page("runs")), "out of date: gold has changed")


def reads_of_versions(as_viewer) -> int:
    with CaptureQueriesContext(connection) as queries:
        as_viewer.get(page("runs"))
    # Where gold comes from is counted once of a version, which never changes.
    said = [query["sql"] for query in queries.captured_queries if "COUNT(" not in query["sql"]]
    return sum("labeling_versionentry" in sql for sql in said)


def test_a_version_is_not_read_again_until_somebody_acts_on_what_has_gold(project, version, as_viewer, run_jobs):
    baseline_run(project, version)
    run_jobs()
    cache.clear()
    assert reads_of_versions(as_viewer) == 1
    assert reads_of_versions(as_viewer) == 0

    baseline_run(project, version)
    run_jobs()
    assert reads_of_versions(as_viewer) == 0, "starting and grading a run changes no gold"

    audit_record(project=project, actor=None, verb="gold_restore", target=version.entries.first().revision)
    assert reads_of_versions(as_viewer) == 1


@pytest.mark.parametrize(("age", "kept"), [(timedelta(minutes=5), A_MINUTE), (timedelta(hours=2), A_DAY)])
def test_what_an_act_left_is_sure_once_no_other_can_still_be_on_its_way(
    project, version, as_viewer, run_jobs, monkeypatch, age, kept
):
    baseline_run(project, version)
    run_jobs()
    now = database_now()
    monkeypatch.setattr("toolevals.runs.aggregates.run_rows.database_now", lambda: now + age)
    times: list[int] = []
    kept_by = SimpleNamespace(get_many=lambda _: {}, set=lambda *_, timeout: times.append(timeout))
    monkeypatch.setattr("toolevals.runs.aggregates.run_rows.cache", kept_by)
    as_viewer.get(page("runs"))
    assert times == [kept]


def test_the_list_can_be_of_one_experiment(project, version, as_viewer, run_jobs):
    baseline_run(project, version)

    assertContains(as_viewer.get(page("runs"), {"experiment": "nightly"}), "Run 1")
    assertNotContains(as_viewer.get(page("runs"), {"experiment": "other"}), "Run 1")


def test_the_list_costs_the_same_however_many_runs(
    project, version, as_viewer, run_jobs, django_assert_max_num_queries
):
    for _ in range(3):
        baseline_run(project, version)
    run_jobs()
    baseline_run(project, version)

    with django_assert_max_num_queries(16):
        as_viewer.get(page("runs"))


def test_names_are_never_markup(project, version, as_viewer):
    uploaded_run(project, version, b"", model="<script>alert(1)</script>")

    for name in ("runs", "agents"):
        response = as_viewer.get(page(name))
        assertContains(response, "&lt;script&gt;")
        assertNotContains(response, "<script>alert")


def baseline_form(version: Any, **changes: Any) -> dict[str, Any]:
    return {
        "baseline-experiment": "Prompt trials",
        "baseline-dataset_version": version.pk,
        "baseline-trials": 2,
        "baseline-threshold": "0.1",
        **changes,
    }


def upload_form(version: Any, content: bytes, **changes: Any) -> dict[str, Any]:
    return {
        "upload-experiment": "Nightly",
        "upload-dataset_version": version.pk,
        "upload-trials": 1,
        "upload-name": "shop-agent",
        "upload-model": "m-large",
        "upload-file": SimpleUploadedFile("predictions.jsonl", content),
        **changes,
    }


def test_the_form_starts_a_baseline(project, version, adjudicator, as_adjudicator):
    response = as_adjudicator.post(page("new"), baseline_form(version))

    run = Run.objects.get()
    assertRedirects(response, reverse("reports:run", args=["shop", run.number]), fetch_redirect_response=False)
    assert (run.experiment.slug, run.experiment.name, run.trials) == ("prompt-trials", "Prompt trials", 2)
    assert run.agent.options["threshold"] == 0.1
    assert run.actor == adjudicator


def test_the_form_uploads_predictions(project, version, as_adjudicator, run_jobs):
    as_adjudicator.post(page("upload"), upload_form(version, jsonl([call("status", STATUS)])))

    run_jobs()

    run = Run.objects.get()
    assert (run.agent.connector, run.agent.model) == (Connector.UPLOAD, "m-large")
    assert run.job is not None
    assert run.job.state == JobState.SUCCEEDED
    assert run.job.report["predictions"] == 1


def test_of_a_refused_file_the_page_of_the_run_leads_to_what_is_wrong(project, version, as_adjudicator, run_jobs):
    started = as_adjudicator.post(page("upload"), upload_form(version, b'{"id": "nobody", "answer": ""}'))

    run_jobs()

    response = as_adjudicator.get(started.url, follow=True)
    assertRedirects(response, reverse("workspace:job", args=["shop", Job.objects.get(kind="run").pk]))
    assertContains(response, "is not the id of an example in this dataset version")
    assert "Run 1" not in as_adjudicator.get(reverse("runs:runs", args=["shop"])).content.decode()
    assert as_adjudicator.get(reverse("reports:run", args=["shop", 2])).status_code == 404


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"baseline-experiment": "–"}, "a letter or a digit"),
        ({"baseline-dataset_version": ""}, "required"),
        ({"baseline-trials": "65"}, "64"),
        ({"baseline-threshold": "2"}, "less than or equal to 1"),
    ],
)
def test_a_wrong_form_is_shown_again(project, version, as_adjudicator, changes, says):
    response = as_adjudicator.post(page("new"), baseline_form(version, **changes))

    assertContains(response, says, status_code=422)
    assert not Run.objects.exists()


def test_another_projects_version_cannot_be_chosen(project, version, as_adjudicator):
    from toolevals.workspace.projects.services import project_create

    other = version_of(project_create(actor=None, slug="other", name="Other"))

    response = as_adjudicator.post(page("new"), baseline_form(other))

    assert response.status_code == 422
    assert not Run.objects.exists()


def test_without_a_version_the_page_says_what_to_do(project, as_adjudicator):
    assertContains(as_adjudicator.get(page("new")), reverse("labeling:datasets", args=["shop"]))


def test_agents_and_experiments_are_listed(project, version, as_viewer):
    baseline_run(project, version)

    assertContains(as_viewer.get(page("agents")), "the built-in baseline")
    assertContains(as_viewer.get(page("experiments")), "nightly")


@pytest.mark.parametrize("name", ["agents", "experiments"])
def test_empty_lists_say_so(project, as_viewer, name):
    assertContains(as_viewer.get(page(name)), "yet")
