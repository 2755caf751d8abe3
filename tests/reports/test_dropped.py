"""A file that is dropped on a project's page: looked at, stored nowhere, then imported by one button."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from labeling.models import Dataset, Example
from reports.dropped.preview import KIND, LARGE, file_look_work
from tests.reports.reading import text
from tests.runs.building import EXAMPLES, STATUS, TOOLS, call, jsonl, version_of
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.runs.models import Run
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.files import job_files_forget
from toolevals.workspace.jobs.leases import batch_work
from toolevals.workspace.models import AuditEntry, Batch, Job, JobState, Upload

pytestmark = pytest.mark.django_db


@pytest.fixture
def keeper(client: Client, adjudicator: Any) -> Client:
    """A browser with an adjudicator signed in."""
    client.force_login(adjudicator)
    return client


@pytest.fixture
def drop(keeper: Client, project: Any) -> Any:
    """Return a function that drops a file and gives the answer, followed to its page."""

    def dropped(content: bytes, name: str = "file") -> Any:
        file = SimpleUploadedFile(name, content)
        return keeper.post(reverse("reports:drop", args=[project.slug]), {"file": file}, follow=True)

    return dropped


def address(project: Any, name: str, *args: object) -> str:
    return reverse(f"reports:{name}", args=[project.slug, *args])


def stored(project: Any) -> Upload:
    return Upload.objects.get(project=project)


def test_tools_are_shown_and_then_published(keeper, project, drop):
    page = drop(json.dumps(TOOLS).encode(), "tools.json")
    assert "3 tools" in text(page)
    assert "Read as tools, native" in text(page)
    assert not Registry.objects.exists()
    upload = stored(project)
    store = address(project, "dropped-store", upload.pk, "tools")
    refused = keeper.post(store, {"tools-there": "", "tools-name": "", "tool": [STATUS]})
    assert refused.status_code == 422
    assert "Enter a name for the new registry" in text(refused)
    refused = keeper.post(store, {"tools-there": "", "tools-name": "Shop tools"})
    assert "no tool is chosen" in text(refused)
    assert not RegistryVersion.objects.exists()
    answer = keeper.post(store, {"tools-there": "", "tools-name": "Shop more", "tool": [STATUS]})
    version = RegistryVersion.objects.get()
    assert answer["Location"] == reverse("registry:version", args=[project.slug, version.registry.slug, 1])
    assert version.tools.size == 1


def test_examples_are_shown_with_their_errors_and_not_stored_with_them(keeper, project, drop):
    page = drop(jsonl([*EXAMPLES, {"id": "", "input": 3}]), "examples.jsonl")
    html = text(page)
    assert f"line {len(EXAMPLES) + 1}" in html
    assert "A file is imported completely or not at all." in html
    assert "Import the examples</button>" not in html
    assert not Dataset.objects.exists()


def test_examples_go_to_a_new_dataset_by_the_import(keeper, project, drop, run_jobs):
    page = drop(jsonl(EXAMPLES), "examples.jsonl")
    assert f"{len(EXAMPLES)} examples" in text(page)
    store = address(project, "dropped-store", stored(project).pk, "examples")
    answer = keeper.post(store, {"examples-there": "", "examples-name": "Core"})
    job = Job.objects.get(kind="import")
    assert answer["Location"] == f"{reverse('labeling:import', args=[project.slug, 'core'])}?job={job.pk}"
    run_jobs()
    assert Example.objects.filter(dataset__slug="core").count() == len(EXAMPLES)
    taken = keeper.post(store, {"examples-there": "", "examples-name": "Core"})
    assert "A dataset with the short name" in text(taken)


def test_a_new_dataset_offers_the_tools_that_were_brought_last(keeper, project, drop, run_jobs):
    drop(json.dumps(TOOLS).encode(), "tools.json")
    keeper.post(
        address(project, "dropped-store", stored(project).pk, "tools"),
        {"tools-there": "", "tools-name": "Shop", "tool": [STATUS]},
    )
    Upload.objects.all().delete()
    page = drop(b"id,says,tool\ne-1,Where is A-1?,\n", "examples.csv")
    version = RegistryVersion.objects.get()
    assert f'<option value="{version.pk}" selected>Shop, version 1</option>' in text(page)
    store = address(project, "dropped-store", stored(project).pk, "examples")
    keeper.post(store, {"examples-there": "", "examples-name": "Core", "examples-tools": str(version.pk)})
    assert Dataset.objects.get().default_tools == version
    page = keeper.get(reverse("labeling:datasets", args=[project.slug]))
    assert f'<option value="{version.pk}" selected>Shop, version 1</option>' in text(page)


def test_a_table_is_asked_about_by_the_page_that_knows_columns(keeper, project, drop):
    page = drop(b"says,tool\nWhere is A-1?,get_order\n", "table.csv")
    assert "1 row, 2 columns" in text(page)
    assert "Where is A-1?" in text(page)
    store = address(project, "dropped-store", stored(project).pk, "examples")
    answer = keeper.post(store, {"examples-there": "", "examples-name": "Core"})
    options = reverse("labeling:import-options", args=[project.slug, "core", stored(project).pk])
    assert answer["Location"] == f"{options}?source=csv"
    assert keeper.get(answer["Location"]).status_code == 200


def test_predictions_become_a_run(keeper, project, drop):
    version = version_of(project)
    page = drop(jsonl([call("e1", STATUS)]), "answers.jsonl")
    assert "1 prediction" in text(page)
    assert f"calls {STATUS}" in text(page)
    entered = {
        "predictions-experiment": "nightly",
        "predictions-dataset_version": str(version.pk),
        "predictions-name": "agent",
        "predictions-trials": "1",
    }
    answer = keeper.post(address(project, "dropped-store", stored(project).pk, "predictions"), entered)
    run = Run.objects.of_people().get()
    assert answer["Location"] == reverse("reports:run", args=[project.slug, run.number])


def test_a_gate_opens_in_its_form(keeper, project, drop):
    page = drop(b"bounds:\n  - {metric: outcome, min: 0.9}\n", "gate.yaml")
    assert "Create a gate from this file" in text(page)
    sent = {"as": "text", "act": "form", "document": page.context["text"]}
    form = keeper.post(address(project, "named-gate-new"), sent)
    assert [row["min"].value() for row in form.context["editor"].rows["bounds"]] == [0.9]


def test_messages_alone_say_what_they_lack(keeper, project, drop):
    page = drop(json.dumps([{"role": "user", "content": "Hello <b>"}]).encode())
    assert "These messages do not say which example they belong to" in text(page)
    assert "Hello &lt;b&gt;" in text(page)


def test_an_unknown_file_is_refused_and_not_kept(keeper, project, drop):
    page = drop(b'{"eval_set_id": "x", "conversation": []}', "<b>.json")
    assert page.status_code == 422
    html = text(page)
    assert "The nearest format is ADK evaluation set" in html
    assert 'href="/docs/formats/"' in html
    assert "&lt;b&gt;.json" in html
    assert not Upload.objects.exists()
    assert keeper.post(address(project, "drop"), {}).status_code == 422


def test_a_large_file_is_looked_at_by_a_job(keeper, project, drop):
    rows = [{**EXAMPLES[0], "id": f"e{number}", "rationale": "x" * 500} for number in range(400)]
    page = drop(jsonl(rows), "examples.jsonl")
    assert len(jsonl(rows)) > LARGE
    job = Job.objects.get(kind=KIND)
    assert f'id="job-{job.pk}"' in text(page)
    assert page.context["look"] is None
    refused = keeper.post(address(project, "dropped-store", stored(project).pk, "examples"), {"examples-name": "Core"})
    assert refused.status_code == 409
    batch_work(str(Batch.objects.get(job=job).pk), file_look_work)
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED
    upload = Upload.objects.get(name="examples.jsonl")
    page = keeper.get(job.result_path)
    assert job.result_path == address(project, "dropped", upload.pk)
    assert page.context["look"].counts == {"examples": 400}
    Job.objects.filter(pk=job.pk).update(finished_at=database_now() - timedelta(days=2))
    assert job_files_forget(database_now()) == 1
    assert "has expired" in text(keeper.get(job.result_path))


def test_a_large_unknown_file_is_refused_by_the_job(keeper, project, drop):
    page = drop(json.dumps({"colour": "x" * LARGE, "size": 3}).encode())
    job = Job.objects.get(kind=KIND)
    batch_work(str(Batch.objects.get(job=job).pk), file_look_work)
    assert "it has colour, size" in text(keeper.get(page.redirect_chain[-1][0]))


@pytest.mark.django_db(transaction=True)
def test_a_file_is_discarded_and_shown_to_nobody_else(keeper, project, drop, owner):
    drop(json.dumps(TOOLS).encode())
    upload = stored(project)
    path = upload.file.path
    here = address(project, "dropped", upload.pk)
    other = Client()
    other.force_login(owner)
    assert other.get(here).status_code == 404
    answer = keeper.post(address(project, "dropped-discard", upload.pk))
    assert answer["Location"] == reverse("workspace:project", args=[project.slug])
    assert not Upload.objects.exists()
    assert AuditEntry.objects.filter(verb="upload_discard", target_id=upload.pk).exists()
    assert not Path(path).exists()
    assert keeper.get(here).status_code == 404


def test_the_first_page_takes_files_from_those_who_may_import(keeper, project, client, reviewer):
    here = reverse("workspace:project", args=[project.slug])
    assert "data-drop" in text(keeper.get(here))
    client.force_login(reviewer)
    assert "data-drop" not in text(client.get(here))
    assert client.post(address(project, "drop"), {}).status_code == 403
