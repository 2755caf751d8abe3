"""Importing examples: as a job over a file, or at once from rows in memory. All or nothing either way."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from labeling.imports.findings import findings_of
from labeling.imports.lines import MAX_LINE_BYTES, lines_in, parts_of
from labeling.imports.sources import SOURCES, Source, line_read
from labeling.imports.staging import Part, part_resolve, part_store
from labeling.models import Dataset, Example, Gold, ImportPart, LabelSlot, Revision, StagedExample
from labeling.services.publishing import Published, rows_publish
from toolevals.grading.examples import ExampleRow
from toolevals.grading.problems import InvalidDocument, Problem
from toolevals.workspace.bulk import tables_analyze
from toolevals.workspace.jobs import BatchPlan, BatchRefused, Lease, job_create
from toolevals.workspace.models import Job, Upload, User
from toolevals.workspace.services import audit_record


@transaction.atomic
def import_start(*, dataset: Dataset, actor: User | None, upload: Upload, source: str = "jsonl") -> Job:
    """Begin to import a file into a dataset and return the job that does it.

    `source` names a format of `labeling.imports.sources`. Raises InvalidDocument for one that is not there.
    """
    if source not in SOURCES:
        raise InvalidDocument([Problem("/source", f"must be one of {', '.join(SOURCES)}")])
    common = {"dataset": str(dataset.pk), "upload": str(upload.pk)}
    reads = [
        BatchPlan(
            "labeling.import_part",
            common | {"source": source, "number": number, "start": start, "end": end},
            size=max(end - start, 1),
        )
        for number, (start, end) in enumerate(parts_of(upload.size))
    ]
    job = job_create(
        project=dataset.project,
        actor=actor,
        kind="import",
        title=f"Import {upload.name} into {dataset.name}",
        batches=[*reads, BatchPlan("labeling.import_publish", common, stage=1)],
    )
    audit_record(
        project=dataset.project,
        actor=actor,
        verb="import_start",
        target=dataset,
        detail={"job": str(job.pk), "file": upload.name, "source": source},
    )
    return job


def import_part(lease: Lease) -> None:
    """Read one part of a file and stage its rows: what a batch of the first stage does."""
    payload = lease.payload
    dataset = _dataset(payload["dataset"])
    upload = Upload.objects.get(pk=payload["upload"])
    with upload.file.open("rb") as file:
        part = _read(file, SOURCES[payload["source"]], payload["start"], payload["end"])
    resolved = part_resolve(dataset, part)
    job = lease.batch.job
    with lease.finish():
        part_store(
            dataset,
            part,
            resolved,
            job_id=job.pk,
            number=payload["number"],
            moment=_milliseconds(upload.created_at),
        )


def import_publish(lease: Lease) -> None:
    """Publish what the parts have staged, or refuse the file: what the batch of the second stage does."""
    job = lease.batch.job
    parts = list(ImportPart.objects.filter(job=job).order_by("number"))
    if not parts:
        raise BatchRefused("The file was refused before. Correct it and import it again.")
    findings = findings_of(parts)
    if findings.error_count:
        with lease.transaction():
            _forget(parts)
            lease.report({"error_count": findings.error_count})
        raise BatchRefused(findings.sentence, findings.errors)
    dataset = _dataset(lease.payload["dataset"])
    with lease.finish():
        published = rows_publish(dataset, key=job.pk, actor=job.actor)
        lease.report(published.to_document() | {"warnings": findings.warnings, "warning_count": findings.warning_count})
        _forget(parts)
        audit_record(
            project=dataset.project,
            actor=job.actor,
            verb="import_publish",
            target=dataset,
            detail={"job": str(job.pk)} | published.to_document(),
        )
    tables_analyze(Example, Revision, Gold, LabelSlot)


def examples_import(*, dataset: Dataset, actor: User | None, rows: Iterable[ExampleRow]) -> Published:
    """Import rows at once, without a job; return what that changed.

    Raises InvalidDocument, with the row's number (from 0) in front of each pointer, and then changes nothing.
    """
    part = Part(rows=[(number + 1, number, row) for number, row in enumerate(rows)])
    part.lines = len(part.rows)
    resolved = part_resolve(dataset, part)
    moment = _milliseconds(timezone.now())
    with transaction.atomic():
        stored = part_store(dataset, part, resolved, job_id=None, number=0, moment=moment)
        if errors := findings_of([stored]).errors:
            raise InvalidDocument(Problem(f"/{each['line'] - 1}{each['pointer']}", each["message"]) for each in errors)
        published = rows_publish(dataset, key=stored.pk, actor=actor)
        _forget([stored])
        audit_record(
            project=dataset.project,
            actor=actor,
            verb="examples_import",
            target=dataset,
            detail=published.to_document(),
        )
    return published


def _read(file: Any, source: Source, start: int, end: int) -> Part:
    part = Part()
    for offset, line in lines_in(file, start, end):
        part.lines += 1
        if line is None:
            part.refuse(part.lines, [Problem("", f"the line is longer than {MAX_LINE_BYTES:,} bytes")])
        elif line.strip():
            try:
                part.rows.append((part.lines, offset, line_read(source, line)))
            except InvalidDocument as error:
                part.refuse(part.lines, error.problems)
    return part


def _dataset(pk: str) -> Dataset:
    return Dataset.objects.select_related("project", "default_tools__tools").get(pk=pk)


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _forget(parts: list[ImportPart]) -> None:
    for part in parts:
        StagedExample.objects.filter(part=part).delete()
        part.delete()
