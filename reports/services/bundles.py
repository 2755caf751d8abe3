"""Start bundles: jobs that write the zip of a run."""

from __future__ import annotations

from typing import IO

from django.db import transaction
from django.urls import reverse

from reports.bundle import bundle_write
from toolevals.runs.models import Grading
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.jobs.files import job_file_write
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, User

BUNDLE = "bundle"


@transaction.atomic
def bundle_start(*, grading: Grading, actor: User | None) -> Job:
    """Begin to write the zip of a finished grading; return the job, whose page has the file when it is done."""
    run = grading.run
    job = job_create(
        project=run.project,
        actor=actor,
        kind=BUNDLE,
        title=f"Bundle of run {run.number}, grading {grading.number}",
        batches=[BatchPlan("reports.bundle", {"grading": str(grading.pk)}, size=max(run.size * run.trials, 1))],
    )
    job.result_path = f"{reverse('reports:bundle', args=[run.project.slug, run.number])}?job={job.pk}"
    job.save(update_fields=["result_path"])
    detail = {"job": str(job.pk), "grading": grading.number}
    audit_record(project=run.project, actor=actor, verb="bundle_start", target=run, detail=detail)
    return job


def bundle_work(lease: Lease) -> None:
    """Write the zip: what the job's batch does."""
    gradings = Grading.objects.select_related(
        "run__project", "run__experiment", "run__agent__tools", "run__dataset_version__dataset"
    )
    grading = gradings.select_related("dataset_version__dataset").get(pk=lease.payload["grading"])

    def write(file: IO[bytes]) -> None:
        bundle_write(grading, file, lease.progress)

    name = f"{grading.run.project.slug}-run-{grading.run.number}-grading-{grading.number}.zip"
    job_file_write(lease, write, name=name)
