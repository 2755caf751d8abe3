"""Import examples: as a job over a file, or at once from rows in memory. All or nothing either way.

Rows are resolved against the project's tools, and staged until the whole file is known to be good.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any, NoReturn
from uuid import UUID

from django.conf import settings
from django.core.files import File
from django.db import IntegrityError, transaction

from labeling.datasets.staging_datasets import AT_ONCE
from labeling.imports.findings import Findings, findings_of, lines_stored
from labeling.imports.formats import AUTO, Source, source_named, source_of
from labeling.imports.gzip_files import plain_copy, unpacked_limit
from labeling.imports.judgements import Judged, judgements_publish, staged_judgements
from labeling.imports.parts import Part, Settings, parts_of
from labeling.imports.publish_import import (
    Published,
    arrival_decide,
    arrival_place,
    arrival_show,
    conflicts_take_back,
    is_to_label,
    parts_detach,
    places_wanted,
    rows_publish,
    staged_sweep,
)
from labeling.imports.reading import part_read
from labeling.imports.tables import columns_by_name, delimiter_of, table_parts
from labeling.models import Dataset, Example, Gold, ImportPart, LabelSlot, Revision, StagedExample
from toolevals.grading.json_schema.conformance import expectation_problems
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.reading.reading_report import Readings
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.canonical import digest
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.registry.models import RegistryVersion, ToolList, ToolListEntry
from toolevals.registry.models import ToolSpec as StoredSpec
from toolevals.registry.tool_lists import list_digest, tool_lists_store, tools_in
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.bulk import others_write_first, rows_insert, tables_analyze
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import BatchRefused, Lease
from toolevals.workspace.jobs.services import BatchPlan, job_add_batches, job_create
from toolevals.workspace.models import Job, Upload, User
from toolevals.workspace.uploads.services import upload_store

_COLUMNS = (
    "id", "part_id", "line", "example_id", "gold_id", "external_id", "digest", "input", "tools_id",
    "expectation", "rationale", *Example.STRATA, "decided_by", "origin", "judgements",
)  # fmt: skip
_STRATA_LIMITS = {name: getattr(Example._meta.get_field(name), "max_length", 0) for name in Example.STRATA}


@transaction.atomic
def import_start(
    *,
    dataset: Dataset,
    actor: User | None,
    upload: Upload,
    source: str = "jsonl",
    options: JsonMapping | None = None,
    evidence: str = "",
) -> Job:
    """Begin to import a file into a dataset and return the job that does it.

    `source` names a format of `labeling.imports.formats`, whose `options` the job keeps; `auto` finds it by what the
    file holds, and the columns of a table by their names, which the report says. `evidence` says why it is this one
    where the caller has found it. A packed file is unpacked. Raises InvalidDocument for a format that is not there,
    options that it does not take, and a file of no known format.
    """
    is_open = source == AUTO
    if is_open:
        with upload.file.open("rb") as file:
            detected = source_of(file)
        source, evidence = detected.source.name, detected.evidence
    import_format = source_named(source)
    given = dict(options or {})
    if is_open and source == "csv" and "columns" not in given:
        tools = tools_in(dataset.default_tools.tools) if dataset.default_tools else ()
        with upload.file.open("rb") as file:
            columns = columns_by_name(file, tools)
        given |= columns.options
        evidence = f"{evidence}, {columns.sentence}"
    import_format.require_options(given)
    common = {"dataset": str(dataset.pk), "upload": str(upload.pk)}
    reading = common | {"source": source} | ({"options": given} if given else {})
    with upload.file.open("rb") as file:
        first = _first_batches(import_format, file, upload.size, reading)
    job = job_create(
        project=dataset.project,
        actor=actor,
        kind="import",
        title=f"Import {upload.name} into {dataset.name}",
        batches=[
            *first,
            BatchPlan("labeling.import_publish", common | {"source": source, "evidence": evidence}, stage=2),
        ],
    )
    detail = {"job": str(job.pk), "file": upload.name, "source": source} | ({"options": given} if given else {})
    audit_record(project=dataset.project, actor=actor, verb="import_start", target=dataset, detail=detail)
    return job


def import_prepare(lease: Lease) -> None:
    """Unpack a file, find where it can be cut, and plan its parts: what the batch of the first stage does."""
    payload = lease.payload
    upload, source = Upload.objects.get(pk=payload["upload"]), source_named(payload["source"])
    with upload.file.open("rb") as file:
        if source.is_packed(file):
            limit = min(settings.UPLOAD_MAX_BYTES, unpacked_limit(upload.size))
            with plain_copy(source.unpacked(file), limit) as plain:
                name = upload.name.removesuffix(".gz").removesuffix(".zip")
                upload = upload_store(project=upload.project, actor=upload.user, file=File(plain), name=name)
    with upload.file.open("rb") as file:
        ranges = _ranges(source, file, upload.size, payload.get("options", {}))
    with lease.finish():
        job_add_batches(lease.batch.job, _parts(payload | {"upload": str(upload.pk)}, ranges))


def import_part(lease: Lease) -> None:
    """Read one part of a file and stage its rows: what a batch of the second stage does."""
    payload = lease.payload
    dataset = _dataset(payload["dataset"])
    upload = Upload.objects.get(pk=payload["upload"])
    tools = {tool.name: tool for tool in tools_in(dataset.default_tools.tools)} if dataset.default_tools else None
    chosen = Settings(payload.get("options", {}), tools)
    with upload.file.open("rb") as file:
        part = part_read(source_named(payload["source"]), file, payload["start"], payload["end"], chosen)
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
    """Publish what the parts have staged, or refuse the file: what the batch of the third stage does."""
    job = lease.batch.job
    parts = _parts_of(job)
    if not parts:
        raise BatchRefused("The file was refused before. Correct it and import it again.")
    findings = _findings(lease, parts)
    if findings.error_count:
        _refuse(lease, parts, findings)
    dataset = _dataset(lease.payload["dataset"])
    rows = StagedExample.objects.filter(part__in=parts).count()
    if rows > AT_ONCE:
        _publish_in_parts(lease, dataset, parts, rows)
    else:
        with lines_stored(job, parts, findings) as lines, lease.finish():
            published = rows_publish(dataset, key=job.pk, actor=job.actor)
            _record(lease, dataset, published, findings, _judgements_publish(dataset, job.pk))
            lease.report({"lines": lines.keep(is_published=True)})
            _forget(parts)
    tables_analyze(Example, Revision, Gold, LabelSlot, ToolList, ToolListEntry, StoredSpec)


def import_tell(lease: Lease) -> None:
    """Write what became of each line of a large import, and let go of its parts: what the last batch does."""
    job = lease.batch.job
    if parts := _parts_of(job):
        people: set[str] = set()
        for some in staged_judgements(job.pk):
            judged = Judged()
            with lease.transaction():
                judgements_publish(_dataset(lease.payload["dataset"]), some, judged)
                lease.report(judged.to_document(with_people=False))
            people |= judged.people
            others_write_first()
        findings = _findings(lease, parts)
        with lines_stored(job, parts, findings) as lines:
            name = lines.keep(is_published=True)
            with lease.finish():
                lease.report({"lines": name} | Judged(people=people).to_document())
                parts_detach(job)
        staged_sweep()


def _judgements_publish(dataset: Dataset, key: UUID) -> Judged:
    """Store the judgements of all rows staged under a key, within the caller's transaction."""
    judged = Judged()
    for some in staged_judgements(key):
        judgements_publish(dataset, some, judged)
    return judged


def _publish_in_parts(lease: Lease, dataset: Dataset, parts: list[ImportPart], rows: int) -> None:
    """Place the rows and decide what they change in short transactions, then show all in one: labelling goes on."""
    job = lease.batch.job
    findings = _findings(lease, parts)
    waiting = arrival_place(lease, dataset, parts)
    to_label = is_to_label(waiting)
    while not lease.finished:
        arrival_decide(lease, dataset, parts)
        try:
            with lease.finish():
                published = arrival_show(dataset, waiting, job=job, rows=rows)
                _record(lease, dataset, published, findings)
                if to_label or published.revised:
                    places_wanted(dataset, actor=job.actor)
                job_add_batches(job, [BatchPlan("labeling.import_tell", dict(lease.payload), stage=3)])
        except IntegrityError:
            if not conflicts_take_back(lease, dataset, waiting):
                raise


def _refuse(lease: Lease, parts: list[ImportPart], findings: Findings) -> NoReturn:
    job = lease.batch.job
    with lines_stored(job, parts, findings) as lines:
        name = lines.keep(is_published=False)
        with lease.transaction():
            lease.report({"error_count": findings.error_count, "lines": name} | _read(lease, 0, findings))
            parts_detach(job)
    staged_sweep()
    raise BatchRefused(findings.sentence, findings.errors)


def _record(
    lease: Lease, dataset: Dataset, published: Published, findings: Findings, judged: Judged | None = None
) -> None:
    job = lease.batch.job
    said = judged.to_document() if judged else {}
    lease.report(published.to_document() | said | _read(lease, published.rows, findings))
    audit_record(
        project=dataset.project,
        actor=job.actor,
        verb="import_publish",
        target=dataset,
        detail={"job": str(job.pk)} | published.to_document() | said,
    )


def _read(lease: Lease, count: int, findings: Findings) -> JsonObject:
    """Return what a report says of the file: the format that was found, unless a person named it, and warnings."""
    read = Readings(warnings=findings.warnings, warning_count=findings.warning_count)
    if evidence := lease.payload.get("evidence"):
        read.found(source_named(lease.payload["source"]).title, evidence, count)
    return {"read": read.to_document()} if read else {}


def _findings(lease: Lease, parts: list[ImportPart]) -> Findings:
    is_document = source_named(lease.payload.get("source", "jsonl")).shape == "document"
    return findings_of(parts, unit="entry" if is_document else "line")


def _parts_of(job: Job) -> list[ImportPart]:
    return list(ImportPart.objects.filter(job=job).order_by("number"))


def examples_import(*, dataset: Dataset, actor: User | None, rows: Iterable[ExampleRow]) -> Published:
    """Import rows at once, without a job; return what that changed.

    Raises InvalidDocument, with the row's number (from 0) in front of each pointer, and then changes nothing.
    """
    part = Part(rows=[(number + 1, number, row) for number, row in enumerate(rows)])
    part.lines = len(part.rows)
    resolved = part_resolve(dataset, part)
    moment = _milliseconds(database_now())
    with transaction.atomic():
        stored = part_store(dataset, part, resolved, job_id=None, number=0, moment=moment)
        if errors := findings_of([stored]).errors:
            raise InvalidDocument(
                Problem(f"/{error['line'] - 1}{error['pointer']}", error["message"]) for error in errors
            )
        published = rows_publish(dataset, key=stored.pk, actor=actor)
        judged = _judgements_publish(dataset, stored.pk)
        _forget([stored])
        audit_record(
            project=dataset.project,
            actor=actor,
            verb="examples_import",
            target=dataset,
            detail=published.to_document() | judged.to_document(),
        )
    return published


def _first_batches(source: Source, file: IO[bytes], size: int, reading: JsonObject) -> list[BatchPlan]:
    """Return the batches that begin a job: the parts where the file's size tells them, else one that finds them."""
    if source.shape != "document" and (source.is_packed(file) or source.shape == "table"):
        return [BatchPlan("labeling.import_prepare", reading)]
    return _parts(reading, [(0, size)] if source.shape == "document" else parts_of(size))


def _ranges(source: Source, file: IO[bytes], size: int, options: JsonMapping) -> list[tuple[int, int]]:
    if source.shape != "table":
        return parts_of(size)
    return table_parts(file, options.get("delimiter") or delimiter_of(file))


def _parts(reading: JsonMapping, ranges: Iterable[tuple[int, int]]) -> list[BatchPlan]:
    return [
        BatchPlan(
            "labeling.import_part",
            dict(reading) | {"number": number, "start": start, "end": end},
            size=max(end - start, 1),
            stage=1,
        )
        for number, (start, end) in enumerate(ranges)
    ]


def _dataset(pk: str) -> Dataset:
    return Dataset.objects.select_related("project", "default_tools__tools").get(pk=pk)


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _forget(parts: list[ImportPart]) -> None:
    for part in parts:
        StagedExample.objects.filter(part=part).delete()
        part.delete()


@dataclass(frozen=True, slots=True)
class Offer:
    """A stored tool list and its specs loaded."""

    tools: ToolList
    specs: tuple[ToolSpec, ...]


def part_resolve(dataset: Dataset, part: Part) -> list[tuple[int, int, ExampleRow, Offer]]:
    """Return the part's rows with the tools that each offers; rows that cannot be kept are refused on the way.

    New tool lists are stored at once: lists are shared and immutable, so one that no example comes to use does no harm.
    """
    inline = tool_lists_store(dataset.project, [row.tools for _, _, row in part.rows if isinstance(row.tools, list)])
    named = _NamedTools(dataset)
    resolved = []
    for line, offset, row in part.rows:
        try:
            _check_strata(row)
            if isinstance(row.tools, list):
                offer = Offer(inline[list_digest(row.tools)], tuple(row.tools))
            else:
                offer = named.offer(row.tools)
        except InvalidDocument as error:
            part.refuse(line, error.problems)
            continue
        part.remark(line, row.losses)
        if row.expectation is not None:
            part.remark(line, (p.below("/expectation") for p in expectation_problems(row.expectation, offer.specs)))
        for place, said in enumerate(row.judgements):
            if said.expectation is not None:
                problems = expectation_problems(said.expectation, offer.specs)
                told = (Problem(p.pointer, f"the label by {said.author}: {p.message}") for p in problems)
                part.remark(line, (p.below(f"/judgements/{place}/expectation") for p in told))
        resolved.append((line, offset, row, offer))
    return resolved


def part_store(
    dataset: Dataset,
    part: Part,
    resolved: Iterable[tuple[int, int, ExampleRow, Offer]],
    *,
    job_id: UUID | None,
    number: int,
    moment: int,
) -> ImportPart:
    """Write down a part that was read, within the caller's transaction.

    `moment` is the import's time in milliseconds: with the rows' offsets it makes ids that sort as the file does,
    whichever worker reads which part.
    """
    stored = ImportPart.objects.create(
        dataset=dataset,
        job_id=job_id,
        number=number,
        lines=part.lines,
        problems=part.problems,
        remarks=part.remarks,
        errors=part.errors,
        warnings=part.warnings,
    )
    rows_insert(StagedExample, _COLUMNS, _staged(stored.pk, resolved, moment))
    return stored


def _staged(
    part_id: UUID, resolved: Iterable[tuple[int, int, ExampleRow, Offer]], moment: int
) -> Iterator[tuple[Any, ...]]:
    for line, offset, row, offer in resolved:
        revision_id, example_id, gold_id = sortable_ids(moment, offset, 3)
        yield (
            revision_id,
            part_id,
            line,
            example_id,
            gold_id,
            row.external_id,
            digest({"input": row.input, "tools": offer.tools.digest}),
            row.input,
            offer.tools.pk,
            None if row.expectation is None else row.expectation.to_document(),
            row.rationale,
            *(row.strata.get(name, "") for name in Example.STRATA),
            row.decided_by,
            row.origin,
            [each.to_document() for each in row.judgements] or None,
        )


def sortable_ids(moment: int, offset: int, count: int) -> list[UUID]:
    """Return UUIDv7s of a time in milliseconds whose counter is `offset` (44 bits); the last 30 bits are random."""
    high = offset >> 32 & 0xFFF
    low = offset & 0xFFFFFFFF
    counted = moment << 80 | 7 << 76 | high << 64 | 2 << 62 | low << 30
    chance = secrets.randbits(30 * count)
    return [UUID(int=counted | chance >> 30 * number & 0x3FFFFFFF) for number in range(count)]


class _NamedTools:
    """Tool lists by the name of a registry version, looked up once each."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.found: dict[str | None, Offer | None] = {}

    def offer(self, name: str | None) -> Offer:
        """Return what `name` offers; None is the dataset's default. Raises InvalidDocument."""
        if name not in self.found:
            version = (
                self.dataset.default_tools
                if name is None
                else RegistryVersion.objects.named(self.dataset.project, name)
            )
            self.found[name] = None if version is None else Offer(version.tools, tools_in(version.tools))
        offer = self.found[name]
        if offer is None:
            message = (
                "no tools: name a registry version or list tool specs, or give the dataset default tools"
                if name is None
                else "this project has no registry version of that name"
            )
            raise InvalidDocument.at("/tools", message)
        return offer


def _check_strata(row: ExampleRow) -> None:
    for name, value in row.strata.items():
        limit = _STRATA_LIMITS.get(name)
        if limit is None:
            known = ", ".join(_STRATA_LIMITS)
            raise InvalidDocument.at(pointer_to(("strata", name)), f"unknown stratum. Known strata: {known}")
        if len(value) > limit:
            raise InvalidDocument.at(pointer_to(("strata", name)), f"longer than {limit} characters")
