"""Write long tables as CSV files: a job writes one, which is kept for a day for the person who asked for it."""

from __future__ import annotations

from typing import IO, Any, Final

from django.db import transaction
from django.urls import reverse

from reports.tables.long import TableRequest
from toolevals.presentation.csv import ROWS_A_CHUNK, csv_stream
from toolevals.runs.models import Grading
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.jobs.files import job_file_write
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, Role, User

TABLE: Final = "table"
# So many parts of a file are written between two signs of progress.
_PARTS: Final = 10


@transaction.atomic
def table_start(*, table_request: TableRequest, actor: User | None) -> Job:
    """Begin to write a table of a finished grading; return the job, whose page has the file when it is done."""
    run = table_request.grading.run
    payload = {
        "table": table_request.name,
        "grading": str(table_request.grading.pk),
        "parameters": dict(table_request.parameters),
    }
    job = job_create(
        project=run.project,
        actor=actor,
        kind=TABLE,
        title=f"{table_request.table.title} of run {run.number}, as CSV",
        batches=[BatchPlan("reports.table", payload, size=max(table_request.count(), 1))],
    )
    job.result_path = (
        f"{reverse('reports:table', args=[run.project.slug, run.number, table_request.name])}?job={job.pk}"
    )
    job.save(update_fields=["result_path"])
    detail = {"job": str(job.pk), "table": table_request.name, "grading": table_request.grading.number}
    audit_record(project=run.project, actor=actor, verb="table_start", target=run, detail=detail)
    return job


def table_work(lease: Lease) -> None:
    """Write the file: what the job's batch does. Begun again it writes all of it again."""
    asked = _asked(lease.payload)

    def write(file: IO[bytes]) -> None:
        for number, some in enumerate(csv_stream(asked.columns, asked.rows()), 1):
            file.write(some)
            if number % _PARTS == 0:
                lease.progress(number * ROWS_A_CHUNK)

    job_file_write(lease, write, name=f"{asked.grading.run.project.slug}-{asked.file_name}")


def table_of(job: Job) -> TableRequest:
    """Return the table that a job writes."""
    return _asked(job.batches.get().payload)


def table_belongs(job: Job, user: User, role: Role) -> bool:
    """Return whether someone may fetch what a job has written: who asked for it, and the project's owners.

    It may hold what is hidden from others by now.
    """
    return job.actor_id == user.pk or role == Role.OWNER


def _asked(payload: Any) -> TableRequest:
    grading = Grading.objects.select_related("run__project", "dataset_version__dataset").get(pk=payload["grading"])
    return TableRequest(payload["table"], grading, payload["parameters"])
