"""Write long tables, and everything about one grading as one zip, in jobs; files are kept for a day."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import IO, Any, Final

from django.db import transaction
from django.urls import reverse

from labeling.datasheet.gathering import datasheet_of
from labeling.exports import version_lines
from reports.cases.queries import KEYSET_PAGE
from reports.downloads.bundle_tables import BUNDLED
from reports.downloads.long_tables import TableRequest
from reports.trends.queries import COMPARED
from toolevals.grading.values.canonical import exact
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping
from toolevals.presentation.csv import Cell, csv_stream
from toolevals.runs.judging.blindness import detail_without, hidden_in
from toolevals.runs.models import CaseGrade, Grading
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.jobs.files import job_file_write
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, Role, User

TABLE: Final = "table"
# So many rows of a file are written between two signs of progress.
_ROWS: Final = 5_000


@transaction.atomic
def table_start(*, table_request: TableRequest, actor: User | None) -> Job:
    """Begin to write a table of a finished grading; return the job, whose page has the file when it is done.

    Raises InvalidDocument where it cannot be written in the form that is asked for.
    """
    if refusal := table_request.refusal:
        raise InvalidDocument.at("/form", refusal)
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
        title=f"{table_request.table.title} of run {run.number}, as {table_request.form}",
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

    def rows() -> Iterator[Sequence[Cell]]:
        for number, row in enumerate(asked.rows(), 1):
            if number % _ROWS == 0:
                lease.progress(number)
            yield row

    def write(file: IO[bytes]) -> None:
        file.writelines(asked.parts(rows()))

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


# While tables are written something is told every so many seconds: a worker that is silent for long loses its work.
SILENT: Final = 5
# What a part of the zip is made of, written as it is read.
Parts = Iterator[bytes]


def bundle_write(grading: Grading, file: IO[bytes], progress: Callable[[int], None]) -> None:
    """Write the zip. `progress` is told the cases written so far, of those of VERDICTS, and every some seconds none."""
    told = monotonic()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, part in _parts(grading):
            with bundle.open(name, "w", force_zip64=True) as written:
                for chunk in part:
                    written.write(chunk)
                    if monotonic() - told > SILENT:
                        progress(0)
                        told = monotonic()
        with bundle.open(VERDICTS, "w", force_zip64=True) as written:
            for number, line in enumerate(_verdicts(grading), 1):
                written.write(line)
                if number % KEYSET_PAGE == 0:
                    progress(number)


def _parts(grading: Grading) -> Iterator[tuple[str, Parts]]:
    """Yield the name of each part but the verdicts, and what it is made of."""
    for name, (_, part) in PARTS.items():
        yield name, part(grading)
    for name, table in BUNDLED.items():
        rows = table.rows(grading)
        if rows is not None:
            yield name, csv_stream(table.columns, rows)


def _about(grading: Grading) -> Parts:
    run = grading.run
    about = {
        "project": run.project.slug,
        "experiment": run.experiment.slug,
        "run": run.number,
        "grading": grading.number,
        "trials": run.trials,
        "size": run.size,
        "created_at": run.created_at.isoformat(),
        "finished_at": grading.finished_at.isoformat() if grading.finished_at else None,
        "agent": {name: read(run) for name, read in COMPARED.items()},
        "dataset": {"slug": grading.dataset_version.dataset.slug, "version": grading.dataset_version.number},
        "graders": grading.graders,
        "judges": grading.judges,
        "spending": grading.spending,
    }
    yield (json.dumps(about, indent=2, ensure_ascii=False) + "\n").encode()


def _verdicts(grading: Grading) -> Parts:
    """Yield a line for each case: its ids, every verdict with its reason, and what the agent said and did."""
    cases = CaseGrade.objects.filter(grading=grading).order_by("transcript_id")
    columns = ("transcript_id", "pk", "transcript__trial", "transcript__entry__revision__example__external_id")
    rows = cases.values_list(*columns, "detail", "transcript__document", "transcript__entry__revision")
    hidden = hidden_in(grading.run.project_id)
    page = list(rows[:KEYSET_PAGE])
    while page:
        for transcript, case, trial, external_id, detail, document, revision in page:
            ids = {"case_id": str(case), "transcript_id": str(transcript), "external_id": external_id, "trial": trial}
            grade = detail_without(detail, hidden.get(revision, ()))
            yield f"{exact({**ids, 'grade': grade, 'transcript': document})}\n".encode()
        page = list(rows.filter(transcript_id__gt=page[-1][0])[:KEYSET_PAGE])


def _gold(grading: Grading) -> Parts:
    return version_lines(grading.dataset_version)


def _datasheet(grading: Grading) -> Parts:
    version = grading.dataset_version
    sheet: JsonMapping = datasheet_of(version.dataset, version).to_document()
    yield (json.dumps(sheet, indent=2, ensure_ascii=False) + "\n").encode()


# Name in the zip -> what it holds, and what writes it, beside the tables.
PARTS: Final[Mapping[str, tuple[str, Callable[[Grading], Parts]]]] = {
    "run.json": ("the agent, the dataset version, graders, judges, cost and time", _about),
    "gold.jsonl": ("the frozen examples with the gold of the grading, ready to import", _gold),
    "datasheet.json": ("the datasheet of that version", _datasheet),
}
VERDICTS = "verdicts.jsonl"
CONTENTS: Final = (
    *((name, says) for name, (says, _) in PARTS.items()),
    *((name, table.says) for name, table in BUNDLED.items()),
    (VERDICTS, "a line a case: every verdict with its reason and differences, and the transcript"),
)


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
        batches=[
            BatchPlan("reports.downloads.services", {"grading": str(grading.pk)}, size=max(run.size * run.trials, 1))
        ],
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
