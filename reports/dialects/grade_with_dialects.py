"""Make other evaluators' verdicts on a grading's cases: at once where they are few, else in a job; kept for good."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from math import fsum
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Count
from django.urls import reverse

from labeling.models import Gold, Revision, VersionEntry
from reports.dialects.analysis import Pattern, pattern_sums
from reports.models import DialectCase, DialectReading
from toolevals.grading.dialects.other_verdicts import (
    COLUMNS,
    OURS,
    OtherVerdict,
    ToolevalsVerdict,
    columns_document,
    own_verdict,
    verdicts_beside,
)
from toolevals.grading.values import Expectation, ToolSpec, Transcript
from toolevals.grading.values.canonical import Written, digest, exact
from toolevals.json_types import JsonObject
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.models import CaseGrade, Grading
from toolevals.runs.queries import entries_between, tools_offered
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.bulk import rows_insert
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Queue, User

# Gradings of more cases are read by a job, which an adjudicator begins.
READ_AT_ONCE: Final = 400
# Cases in one batch: about a second of work, and one short transaction to write it.
SLICE: Final = 500
# Cases whose documents are in memory together.
_SOME: Final = 200
_COLUMNS: Final = ("reading_id", "case_id", "pattern", "detail")


def dialects_read(grading: Grading) -> DialectReading | None:
    """Return what other tools say of a finished grading, made now where its cases are few.

    None where they are many and no one has begun; without `finished_at` while a job is at it.
    """
    kept = DialectReading.objects.select_related("job").filter(grading=grading).first()
    if kept is not None or _size(grading) > READ_AT_ONCE:
        return kept
    rows = list(_rows(grading, 0, grading.run.dataset_version.size))
    with transaction.atomic():
        reading, is_new = DialectReading.objects.get_or_create(
            grading=grading, defaults={"columns": columns_document()}
        )
        if is_new:
            rows_insert(DialectCase, _COLUMNS, rows)
            _count(reading)
    return reading


@transaction.atomic
def dialects_start(*, grading: Grading, actor: User | None) -> DialectReading:
    """Begin to have a finished grading's cases read by the rules of other evaluators.

    What is there already, or under way, is returned as it is; what was stopped is begun again.
    """
    Grading.objects.select_for_update(no_key=True).get(pk=grading.pk)
    kept = DialectReading.objects.select_related("job").filter(grading=grading).first()
    if kept is not None:
        if kept.finished_at is None and (kept.job is None or not kept.job.is_open):
            return _again(kept, actor)
        return kept
    reading = DialectReading(grading=grading, columns=columns_document(), actor=actor)
    return _begun(reading, actor)


def _again(reading: DialectReading, actor: User | None) -> DialectReading:
    """Begin again what was stopped: from nothing, as the rules may have other versions by now."""
    grading = reading.grading
    reading.delete()
    return _begun(DialectReading(grading=grading, columns=columns_document(), actor=actor), actor)


def _begun(reading: DialectReading, actor: User | None) -> DialectReading:
    run = reading.grading.run
    reading.job = job_create(
        project=run.project,
        actor=actor,
        kind="dialects",
        title=f"Run {run.number} by the rules of other evaluators",
        batches=_plans(reading.grading),
        result_path=reverse("reports:dialects", args=[run.project.slug, run.number]),
    )
    reading.save(force_insert=True)
    detail = {"grading": reading.grading.number, "job": str(reading.job.pk)}
    audit_record(project=run.project, actor=actor, verb="dialects_start", target=run, detail=detail)
    return reading


def _plans(grading: Grading) -> Iterator[BatchPlan]:
    run = grading.run
    step = max(1, SLICE // run.trials)
    for first in range(0, run.size, step):
        places = run.positions[first : first + step]
        part = {"grading": str(grading.pk), "start": places[0], "stop": places[-1] + 1}
        yield BatchPlan("reports.dialects_part", part, size=len(places) * run.trials, queue=Queue.GRADE)
    yield BatchPlan("reports.dialects_count", {"grading": str(grading.pk)}, stage=1, queue=Queue.GRADE)


def dialects_part(lease: Lease) -> None:
    """Read a part of the cases by the rules of other evaluators: what a batch of the first stage does."""
    grading = _grading(lease)
    rows = []
    for row in _rows(grading, lease.payload["start"], lease.payload["stop"]):
        rows.append(row)
        if len(rows) % _SOME == 0:
            lease.progress(len(rows))
    with lease.finish():
        rows_insert(DialectCase, _COLUMNS, rows)


def dialects_count(lease: Lease) -> None:
    """Count the patterns of all cases: what the batch of the last stage does."""
    reading = DialectReading.objects.get(pk=lease.payload["grading"])
    with lease.finish():
        _count(reading)


def _grading(lease: Lease) -> Grading:
    gradings = Grading.objects.select_related("run__agent__tools__tools", "run__dataset_version")
    return gradings.get(pk=lease.payload["grading"])


def _size(grading: Grading) -> int:
    return grading.run.size * grading.run.trials


def _count(reading: DialectReading) -> None:
    cases = DialectCase.objects.filter(reading=reading)
    counted = cases.order_by("pattern").values_list("pattern").annotate(Count("pk"))
    scores: list[list[float]] = [[] for _ in COLUMNS]
    for detail in cases.order_by().values_list("detail", flat=True).iterator(chunk_size=5000):
        for found, score in zip(scores, detail["scores"], strict=True):
            if score is not None:
                found.append(score)
    reading.counts = [[pattern, count] for pattern, count in counted]
    reading.means = {
        key: fsum(found) / len(found) if found else None for key, found in zip(COLUMNS, scores, strict=True)
    }
    reading.sums = sums_document(reading)
    reading.finished_at = database_now()
    reading.save(update_fields=["counts", "means", "sums", "finished_at"])


def sums_document(reading: DialectReading) -> list[list[Any]]:
    """Return the sums over the examples of a reading whose cases are all there; nothing with one trial an example."""
    if reading.grading.run.trials < 2:
        return []
    entry = "case__transcript__entry_id"
    rows = DialectCase.objects.filter(reading=reading).order_by(entry, "pattern").values_list(entry, "pattern")
    examples = Counter(
        tuple(text for _, text in cases) for _, cases in groupby(rows.iterator(chunk_size=5000), key=itemgetter(0))
    )
    pattern = cache(Pattern.from_text)
    keys = [OURS, *(column["key"] for column in reading.columns)]
    sums = pattern_sums(keys, ((list(map(pattern, texts)), count) for texts, count in examples.items()))
    return [[one, other, each.to_row()] for (one, other), each in sums.items()]


@dataclass(frozen=True, slots=True)
class _Case:
    id: UUID
    selection: Any
    arguments: Any
    mode: str
    document: Any


def _rows(grading: Grading, start: int, stop: int) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the cases at these positions, in the order of _COLUMNS."""
    reader = CaseReader(grading)
    entries = list(entries_between(grading.run, start, stop).select_related("revision__tools").defer("revision__input"))
    golds = _golds(grading, entries)
    step = max(1, _SOME // grading.run.trials)
    for first in range(0, len(entries), step):
        some = {entry.pk: entry for entry in entries[first : first + step]}
        cases = CaseGrade.objects.filter(grading=grading, transcript__entry__in=list(some)).order_by("pk")
        wanted = ("pk", "selection", "arguments", "mode", "transcript__document", "transcript__entry_id")
        for *facts, entry in cases.values_list(*wanted):
            case = _Case(*facts)
            revision = some[entry].revision
            own, others = reader.verdicts(case, revision, golds.get(revision.pk))
            yield (grading.pk, case.id, str(Pattern.of_case(own, others.values())), Written(exact(_detail(others))))


def _golds(grading: Grading, entries: list[VersionEntry]) -> dict[UUID, Gold]:
    """Return the gold that the grading was made by, by the revision's id."""
    revisions = [entry.revision_id for entry in entries]
    same = VersionEntry.objects.filter(version=grading.dataset_version_id, revision__in=revisions)
    return {entry.revision_id: entry.gold for entry in same.select_related("gold")}


def _detail(others: Mapping[str, OtherVerdict]) -> JsonObject:
    said = {str(place): each.said for place, each in enumerate(others.values()) if each.said}
    return {"scores": [each.score for each in others.values()], "said": said}


class CaseReader:
    """Reads the cases of one grading by the rules of other evaluators; expectations and tools are read once."""

    def __init__(self, grading: Grading) -> None:
        self._agent = grading.run.agent
        self._expectations: dict[str, Expectation] = {}
        self._tools: dict[str, tuple[ToolSpec, ...]] = {}

    def verdicts(
        self, case: Any, revision: Revision, gold: Gold | None
    ) -> tuple[ToolevalsVerdict, dict[str, OtherVerdict]]:
        """Return our verdict on a case's calls and every other tool's."""
        if gold is None:
            nothing = OtherVerdict("unscored", said="This version of the dataset does not hold what was shown.")
            return ToolevalsVerdict("unscored"), dict.fromkeys(COLUMNS, nothing)
        expectation = self._expectation(gold)
        own = own_verdict(case.selection, case.arguments, case.mode, expects_calls=expectation.kind == "calls")
        did = None if case.document is None else Transcript.from_document(case.document)
        return own, verdicts_beside(own, expectation, did, self._offered(revision))

    def _expectation(self, gold: Gold) -> Expectation:
        key = digest(gold.expectation)
        if key not in self._expectations:
            self._expectations[key] = Expectation.from_document(gold.expectation)
        return self._expectations[key]

    def _offered(self, revision: Revision) -> tuple[ToolSpec, ...]:
        tools = revision.tools
        if tools.digest not in self._tools:
            self._tools[tools.digest] = tools_offered(tools_in(tools), self._agent)
        return self._tools[tools.digest]
