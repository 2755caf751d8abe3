"""Keeps the files that a job writes for someone to fetch, each for a day."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import IO

from django.core.files import File

from toolevals.json_types import JsonMapping
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.models import Job, Upload
from toolevals.workspace.replica import replica_reads
from toolevals.workspace.uploads.services import file_delete, file_store

KEPT = timedelta(days=1)
# The kinds of jobs that leave a file.
KINDS = ("export", "bundle", "table", "tools_preview", "file_look", "project_export")


def job_file_write(
    lease: Lease, write: Callable[[IO[bytes]], None], *, name: str, report: Callable[[], JsonMapping] = dict
) -> None:
    """Write a job's file and finish its batch; `report` is asked afterwards for what else the job found out.

    Nothing is left behind where writing fails, or where the lease was lost meanwhile.
    """
    with tempfile.TemporaryFile() as file:
        with replica_reads():
            write(file)
        file.seek(0)
        job = lease.batch.job
        upload = file_store(project=job.project, actor=job.actor, content=File(file), name=name)
    try:
        with lease.finish():
            lease.report({"upload": str(upload.pk), "bytes": upload.size, **report()})
    except BaseException:
        _delete(upload)
        raise


def job_file(job: Job) -> Upload | None:
    """Return the file that a job has written; None before, and when its day is over."""
    if job.kind not in KINDS or not job.report.get("upload"):
        return None
    return Upload.objects.filter(project=job.project_id, pk=job.report["upload"]).first()


def job_files_forget(now: datetime) -> int:
    """Delete the files that have been kept for a day; return how many."""
    ended = Job.objects.filter(kind__in=KINDS, finished_at__lt=now - KEPT, finished_at__gt=now - 9 * KEPT)
    files = [file for job in ended if (file := job_file(job))]
    for upload in files:
        _delete(upload)
    return len(files)


def _delete(upload: Upload) -> None:
    file_delete(upload)
    upload.delete()
