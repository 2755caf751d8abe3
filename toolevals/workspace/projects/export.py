"""Writes a whole project into one ZIP: JSON lines for each table, and the files that were uploaded; no secret."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import IO, Any, Final

from django.apps import apps
from django.conf import settings
from django.db import models, transaction
from django.urls import reverse
from django.utils.module_loading import import_string

from toolevals.grading.values.canonical import exact
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.exporting import archive, rows_write
from toolevals.workspace.jobs.files import KINDS, job_file_write
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, Project, Upload, User
from toolevals.workspace.people.rows import person_columns

KIND: Final = "project_export"
_README = """One project of toolevals, whole.

Each .jsonl file holds the rows of one table, a JSON object a line, under the names of its columns. Columns that end in
_id hold the ids of other rows, which are the same in every export. Times are in UTC. files/ holds what was uploaded,
under the id of its row in workspace_upload.jsonl. manifest.json says how many rows each table has, and which columns
are left out because they hold secrets. The rows are read while people work: a row may point to one that came later.
"""


class StillBlindError(ValueError):
    """A project holds what its owners must not read yet."""


def still_blind(project: Project) -> list[str]:
    """Return why an owner may not read the whole project yet; empty where nothing is blind any more.

    A lower room does not know what is blind in the higher ones: the settings list functions of theirs, `STILL_BLIND`,
    each `(project) -> sentence`, empty where all is seen.
    """
    return [said for path in settings.STILL_BLIND if (said := import_string(path)(project))]


@transaction.atomic
def project_export_start(*, project: Project, actor: User | None) -> Job:
    """Begin to write a project's file; return the job. Raises `StillBlindError`."""
    if reasons := still_blind(project):
        raise StillBlindError(" ".join(reasons))
    size = sum(rows.count() for rows in project_rows(project))
    batch = BatchPlan("workspace.project_export", {}, size=max(size, 1))
    job = job_create(project=project, actor=actor, kind=KIND, title=f"Export {project.name} whole", batches=[batch])
    job.result_path = f"{reverse('workspace:project-export', args=[project.slug])}?job={job.pk}"
    job.save(update_fields=["result_path"])
    audit_record(project=project, actor=actor, verb="project_export_start", target=project, detail={"job": str(job.pk)})
    return job


def project_export_work(lease: Lease) -> None:
    """Write the file: what the job's batch does. Begun again it writes all of it again."""
    project = lease.batch.job.project

    def write(file: IO[bytes]) -> None:
        project_export(project, file, lease.progress)

    job_file_write(lease, write, name=f"{project.slug}.zip")


def project_export(project: Project, file: IO[bytes], progress: Callable[[int], None]) -> None:
    """Write a whole project into a ZIP; `progress` is told the rows that are written."""
    counts: dict[str, int] = {}
    done = 0
    with archive(file) as opened:
        opened.writestr("README.txt", _README)
        for rows in project_rows(project):
            written = rows_write(opened, rows, progress, done)
            if written:
                counts[rows.model._meta.db_table] = written
            done += written
        people = User.objects.filter(pk__in=_people_of(project)).order_by("pk").values("id", "name", "email")
        opened.writestr("people.jsonl", "".join(exact({**each, "id": str(each["id"])}) + "\n" for each in people))
        for upload in Upload.objects.filter(project=project).exclude(pk__in=_written_by_jobs(project)):
            if upload.file.storage.exists(str(upload.file.name)):
                with upload.file.open("rb"), opened.open(f"files/{upload.pk}", "w", force_zip64=True) as part:
                    part.writelines(upload.file.chunks())
            progress(done)
        manifest = {
            "project": project.slug,
            "id": str(project.pk),
            "made_at": database_now().isoformat(),
            "rows": counts,
            "columns_left_out": list(settings.SECRET_COLUMNS),
        }
        opened.writestr("manifest.json", exact(manifest))


def project_rows(project: Project) -> Iterator[models.QuerySet[Any]]:
    """Yield the rows of each table that are the project's."""
    for model, path in project_paths().items():
        yield model._base_manager.filter(**{path: project.pk})


@cache
def project_paths() -> dict[type[models.Model], str]:
    """Return by which lookups each table reaches its project; a table that reaches none is the installation's.

    The shortest way by columns that are never null, then by others.
    """
    found: dict[type[models.Model], str] = {Project: "pk"}
    every = apps.get_models(include_auto_created=True)
    for may_be_null in (False, True):
        while more := {
            model: f"{column.name}__{path}".removesuffix("__pk")
            for model in every
            if model not in found
            for column, path in _steps(model, found, may_be_null)
        }:
            found |= more
    return found


def _steps(model: type[models.Model], found: dict[type[models.Model], str], may_be_null: bool) -> Iterator[Any]:
    for column in model._meta.concrete_fields:
        if isinstance(column, models.ForeignKey) and (may_be_null or not column.null) and column.related_model in found:
            yield column, found[column.related_model]


def _people_of(project: Project) -> set[Any]:
    """Return the ids of the people that rows of the project point to."""
    paths = project_paths()
    people: set[Any] = set()
    for column in person_columns():
        if column.model in paths:
            rows = column.model._base_manager.filter(**{paths[column.model]: project.pk})
            people |= set(rows.order_by().values_list(column.attname, flat=True).distinct())
    return people


def _written_by_jobs(project: Project) -> set[str]:
    reports = Job.objects.filter(project=project, kind__in=KINDS).values_list("report", flat=True)
    return {report["upload"] for report in reports if report.get("upload")}
