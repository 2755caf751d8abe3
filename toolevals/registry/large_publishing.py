"""Publishes a large document of tools: by a job, which reads it before it takes the database."""

from __future__ import annotations

from typing import Any, Final

from django.core.files.base import ContentFile
from django.db import transaction
from django.urls import reverse

from toolevals.grading.reading.specs import Choice, read_tools
from toolevals.registry.large_previews import large_document
from toolevals.registry.models import Registry
from toolevals.registry.services import tools_publish
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, User
from toolevals.workspace.uploads.services import stored_together, upload_store

KIND: Final = "tools_publish"


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
        said: dict[str, Any] = {
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
            kind=KIND,
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
