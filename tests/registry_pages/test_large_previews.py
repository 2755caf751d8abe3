"""A large document of tools is read by a job; its preview is chosen from and published as a small one's."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from tests.labeling_pages.conftest import body
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.large_documents import (
    LARGE,
    large_preview,
    large_preview_start,
    large_preview_work,
    large_publish_work,
)
from toolevals.registry.models import Registry
from toolevals.registry.previews import Preview, preview_of
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.files import job_files_forget
from toolevals.workspace.jobs.leases import batch_work
from toolevals.workspace.jobs.services import job_cancel
from toolevals.workspace.models import Batch, Job, JobState, User

AsUser = Callable[[User], Client]
OPERATIONS = 400


def document() -> dict[str, Any]:
    paths = {
        f"/things/{number}": {
            "get": {
                "operationId": f"get_{number}",
                "tags": ["even" if number % 2 == 0 else "odd"],
                "callbacks": {},
                "description": "Reads a thing. " * 40,
            }
        }
        for number in range(OPERATIONS)
    }
    return {"openapi": "3.1.0", "info": {"title": "Things", "version": "1"}, "paths": paths}


CONTENT = json.dumps(document()).encode()


@pytest.fixture
def client(adjudicator: User, as_user: AsUser) -> Client:
    return as_user(adjudicator)


@pytest.fixture
def page(registry: Registry) -> str:
    return reverse("registry:registry", args=["shop", registry.slug])


def show(client: Client, page: str, **headers: str) -> Any:
    file = SimpleUploadedFile("things.json", CONTENT)
    return client.post(page, {"format": "auto", "preview": "1", "file": file}, headers=headers)


def work(job: Job) -> None:
    batch_work(str(Batch.objects.get(job=job).pk), large_preview_work)


def test_a_large_document_is_read_by_a_job_and_published_without_sending_it_again(
    registry: Registry, client: Client, page: str
):
    assert len(CONTENT) > LARGE
    answer = show(client, page)
    job = Job.objects.get(kind="tools_preview")
    assert answer["Location"] == f"{page}?job={job.pk}" == job.result_path
    waiting = body(client.get(answer["Location"]))
    assert f'id="job-{job.pk}"' in waiting
    assert "hx-get" in waiting
    assert "Publish</button>" not in waiting
    work(job)
    job.refresh_from_db()
    assert (job.state, job.report["tools"]) == (JobState.SUCCEEDED, OPERATIONS)
    shown = client.get(answer["Location"])
    assert shown.context["preview"] == preview_of(document())
    assert f"{OPERATIONS} tools" in body(shown)
    losses = client.post(
        reverse("registry:losses-csv", args=["shop", registry.slug]),
        {"format": "auto", "job": str(job.pk), "previewed": shown.context["digest"]},
    )
    assert b"callbacks" in b"".join(losses.streaming_content)  # type: ignore[attr-defined]
    entered = {"format": "auto", "job": str(job.pk), "previewed": shown.context["digest"], "tool": ["get_1", "get_7"]}
    sent = client.post(page, entered)
    publishing = Job.objects.get(kind="tools_publish")
    assert sent["Location"] == reverse("workspace:job", args=["shop", publishing.pk])
    assert registry.versions.count() == 2
    batch_work(str(Batch.objects.get(job=publishing).pk), large_publish_work)
    publishing.refresh_from_db()
    assert publishing.result_path == reverse("registry:version", args=["shop", registry.slug, 3])
    assert registry.versions.get(number=3).tools.size == 2


def test_htmx_is_sent_to_where_the_job_is_waited_for(client: Client, page: str):
    answer = show(client, page, **{"HX-Request": "true"})
    assert answer["HX-Redirect"] == f"{page}?job={Job.objects.get().pk}"


def test_another_format_than_was_shown_is_not_published(registry: Registry, client: Client, page: str):
    show(client, page)
    job = Job.objects.get()
    work(job)
    digest = client.get(job.result_path).context["digest"]
    refused = client.post(page, {"format": "openapi", "job": str(job.pk), "previewed": digest, "tool": ["get_1"]})
    assert refused.status_code == 422
    assert "has changed since the preview" in body(refused)


def test_what_cannot_be_read_is_said_by_the_job(registry: Registry, adjudicator: User, client: Client):
    content = b'{"openapi": "3.1.0", "paths": 7, "info": "' + b"x" * LARGE + b'"}'
    job = large_preview_start(registry=registry, actor=adjudicator, content=content, format="auto", name="bad.json")
    work(job)
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    page = body(client.get(job.result_path))
    assert "/paths" in page
    assert "is not an object" in page


def test_progress_is_told_and_a_cancelled_job_keeps_nothing(registry: Registry, adjudicator: User):
    told: list[int] = []
    preview_of(document(), progress=told.append)
    assert told == list(range(25, OPERATIONS + 1, 25))
    job = large_preview_start(registry=registry, actor=adjudicator, content=CONTENT, format="auto", name="t.json")
    assert job.batches.get().size == OPERATIONS
    job_cancel(job=job, actor=adjudicator)
    work(job)
    assert large_preview(Job.objects.get(pk=job.pk)) is None


def test_after_a_day_the_page_says_that_it_is_gone(registry: Registry, client: Client, page: str):
    show(client, page)
    job = Job.objects.get()
    work(job)
    Job.objects.filter(pk=job.pk).update(finished_at=database_now() - timedelta(days=2))
    assert job_files_forget(database_now()) == 1
    assert "has expired" in body(client.get(job.result_path))


def test_a_job_of_another_registry_or_project_is_shown_nowhere_else(
    registry: Registry, client: Client, page: str, viewer: User, as_user: AsUser
):
    show(client, page)
    job = Job.objects.get()
    work(job)
    other = Registry.objects.create(project=registry.project, slug="other", name="Other")
    elsewhere = reverse("registry:registry", args=["shop", other.slug])
    assert client.get(f"{elsewhere}?job={job.pk}").context["preview"] is None
    assert as_user(viewer).get(job.result_path).context["preview"] is None


def test_a_preview_reads_back_as_it_was():
    made = preview_of(document())
    assert Preview.from_document(json.loads(json.dumps(made.to_document()))) == made
    with pytest.raises(InvalidDocument):
        preview_of({"openapi": "3.1.0", "paths": 7})
