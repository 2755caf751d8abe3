"""Previews and publishes large documents of tools: by jobs. What one has read is kept for a day."""

from __future__ import annotations

import json
from typing import IO, Any, Final

from django.core.files.base import ContentFile
from django.db import transaction
from django.urls import reverse

from toolevals.grading.reading.specs import Choice, document_in, read_tools
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonObject
from toolevals.registry.models import Registry
from toolevals.registry.previews import Preview, preview_of
from toolevals.registry.services import tools_publish
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.jobs.files import job_file, job_file_write
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, Upload, User
from toolevals.workspace.uploads.services import stored_together, upload_store

PREVIEW_KIND: Final = "tools_preview"
# A document of more bytes is read by a job: a small one is read in a tenth of a second.
LARGE: Final = 200_000
# What a zip may unpack to.
MAX_UNPACKED: Final = 64_000_000
# Each operation of an API has one, so that they tell how much there is to read.
_OPERATION: Final = b"operationId"


def large_preview_start(
    *,
    registry: Registry,
    actor: User | None,
    content: bytes,
    format: str,  # noqa: A002
    name: str,
    choice: Choice | None = None,
) -> Job:
    """Keep a document and begin to read it; return the job. Raises as `upload_store`."""
    with stored_together(), transaction.atomic():
        upload = upload_store(project=registry.project, actor=actor, file=ContentFile(content), name=name)
        said: JsonObject = {"registry": str(registry.pk), "upload": str(upload.pk), "format": format}
        if choice is not None and not choice.takes_all:
            said["choice"] = choice.to_document()
        job = job_create(
            project=registry.project,
            actor=actor,
            kind=PREVIEW_KIND,
            title=f"Read {upload.name} for {registry.name}",
            batches=[BatchPlan("registry.preview", said, size=max(content.count(_OPERATION), 1))],
        )
        address = reverse("registry:registry", args=[registry.project.slug, registry.slug])
        job.result_path = f"{address}?job={job.pk}"
        job.save(update_fields=["result_path"])
        detail = {"job": str(job.pk), "file": upload.name}
        audit_record(project=registry.project, actor=actor, verb="large_preview_start", target=registry, detail=detail)
    return job


def large_preview_work(lease: Lease) -> None:
    """Read the document and keep what it holds: what the job's batch does. Raises InvalidDocument."""
    said = lease.payload
    document = large_document(said["upload"])
    choice = Choice.from_document(said.get("choice", {}))
    preview = preview_of(document, format=said["format"], choice=choice, progress=lease.progress)
    text = json.dumps(preview.to_document(), ensure_ascii=False).encode()

    def write(file: IO[bytes]) -> None:
        file.write(text)

    job_file_write(lease, write, name="preview.json", report=lambda: {"tools": len(preview.tools)})


def large_preview(job: Job) -> Preview | None:
    """Return what a job has read; None before, and when its day is over."""
    kept = job_file(job)
    if kept is None:
        return None
    with kept.file.open("rb") as file:
        return Preview.from_document(json.load(file))


def previewed_content(job: Job) -> bytes:
    """Return the content that a job reads or has read. Raises InvalidDocument where it is no longer kept."""
    return _content(job.batches.get().payload["upload"])


def large_document(upload: str) -> Any:
    """Return what a kept file holds. Raises InvalidDocument where it cannot be read or is no longer kept."""
    return document_in(_content(upload), max_bytes=MAX_UNPACKED)


def _content(upload: str) -> bytes:
    kept = Upload.objects.filter(pk=upload).first()
    if kept is None:
        raise InvalidDocument.at("", "The file has expired: choose it again.")
    with kept.file.open("rb") as file:
        content: bytes = file.read()
    return content


PUBLISH_KIND: Final = "tools_publish"


def large_publish_start(
    *,
    registry: Registry,
    actor: User | None,
    content: bytes,
    format: str,  # noqa: A002
    name: str,
    note: str = "",
    choice: Choice | None = None,
    assert_formats: bool | None = None,
) -> Job:
    """Keep a document and begin to publish it as `registry_publish` does; return the job. Raises as `upload_store`."""
    with stored_together(), transaction.atomic():
        upload = upload_store(project=registry.project, actor=actor, file=ContentFile(content), name=name)
        said: JsonObject = {
            "registry": str(registry.pk),
            "upload": str(upload.pk),
            "format": format,
            "note": note,
            "choice": (choice or Choice()).to_document(),
            "assert_formats": assert_formats,
        }
        job = job_create(
            project=registry.project,
            actor=actor,
            kind=PUBLISH_KIND,
            title=f"Publish {upload.name} in {registry.name}",
            batches=[BatchPlan("registry.publish", said)],
            result_path=reverse("registry:registry", args=[registry.project.slug, registry.slug]),
        )
        detail = {"job": str(job.pk), "file": upload.name}
        audit_record(project=registry.project, actor=actor, verb="large_publish_start", target=registry, detail=detail)
    return job


def large_publish_work(lease: Lease) -> None:
    """Read the document and publish its tools: what the job's batch does. Raises InvalidDocument."""
    said, job = lease.payload, lease.batch.job
    registry = Registry.objects.select_related("project").get(pk=said["registry"])
    choice = Choice.from_document(said["choice"])
    read = read_tools(large_document(said["upload"]), format=said["format"], choice=choice)
    with lease.finish():
        version = tools_publish(
            registry=registry,
            actor=job.actor,
            read=read,
            note=said["note"],
            assert_formats=said.get("assert_formats"),
        )
        address = reverse("registry:version", args=[registry.project.slug, registry.slug, version.number])
        Job.objects.filter(pk=job.pk).update(result_path=address)
        report = {
            "registry": registry.slug,
            "version": version.number,
            "name": str(version),
            "tools": version.tools.size,
        }
        lease.report(report)
