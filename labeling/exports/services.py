"""Start exports that take a while: a job writes the file, which is kept for a day."""

from __future__ import annotations

from typing import IO, Any, cast

from django.db import transaction
from django.urls import reverse

from labeling.examples.shown_strata import hidden_strata
from labeling.exports import ExportFormat, Outcome, Selection, format_named
from labeling.models import Dataset, DatasetVersion
from toolevals.json_types import JsonObject
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.jobs.files import job_file_write
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, Role, User

KIND = "export"
# More than this is not written while someone waits for a page.
MOST_AT_ONCE = 5000
# So many rows of a file are written between two signs of progress, at least.
_ROWS = 1000
HIDES_STRATA = "This file holds strata of examples that are still to label. Export the dataset yourself."


@transaction.atomic
def export_start(*, selection: Selection, actor: User | None, format: str) -> Job:  # noqa: A002 (the interface's word)
    """Begin to write a dataset or a frozen version to a file; return the job. Raises InvalidDocument for the format."""
    export_format = format_named(format)
    dataset, version = selection.dataset, selection.version
    payload: JsonObject = {
        "dataset": str(dataset.pk),
        "version": str(version.pk) if version else None,
        "format": export_format.name,
    }
    payload["hidden"] = sorted(selection.hidden)
    job = job_create(
        project=dataset.project,
        actor=actor,
        kind=KIND,
        title=f"Export {dataset.name}{f', version {version.number}' if version else ''} as {export_format.title}",
        batches=[BatchPlan("labeling.export_write", payload, size=max(selection.size, 1))],
    )
    address = reverse("labeling:exports", args=[dataset.project.slug, dataset.slug])
    job.result_path = f"{address}?job={job.pk}"
    job.save(update_fields=["result_path"])
    audit_record(
        project=dataset.project,
        actor=actor,
        verb="export_start",
        target=dataset,
        detail={"job": str(job.pk), "format": export_format.name, "version": version.number if version else None},
    )
    return job


def export_write(lease: Lease) -> None:
    """Write the file: what the job's batch does."""
    selection, found = _asked(lease.payload)
    outcome = Outcome()

    def write(file: IO[bytes]) -> None:
        told = 0
        for some in found.write(selection, outcome):
            file.write(some)
            if (done := outcome.written + outcome.skipped.total()) - told >= _ROWS:
                lease.progress(done)
                told = done

    job_file_write(
        lease, write, name=found.file_name(selection), report=lambda: {"format": found.name, **outcome.to_document()}
    )


def export_tells(job: Job, role: Role) -> bool:
    """Tell whether the file of an export holds nothing that is hidden from someone of this role."""
    for batch in job.batches.all():
        if batch.payload["version"] is None:
            dataset = Dataset.objects.get(pk=batch.payload["dataset"])
            if not hidden_strata(dataset, role) <= set(batch.payload.get("hidden", ())):
                return False
    return True


def _asked(payload: Any) -> tuple[Selection, ExportFormat]:
    dataset = Dataset.objects.select_related("project").get(pk=payload["dataset"])
    version = DatasetVersion.objects.get(pk=payload["version"]) if payload["version"] else None
    return Selection(dataset, version, frozenset(payload.get("hidden", ()))), format_named(
        cast("str", payload["format"])
    )
