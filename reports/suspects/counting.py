"""Count a version's suspects: at once where that is little work, else in a job; kept until there is more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from labeling.models import DatasetVersion, Gold, Label, Revision, VersionEntry
from reports.analyses.suspicion import LEAST, REASONS, Reason, evidence_of, reasons_of, score
from reports.models import Suspect, SuspectCount
from reports.suspects.agent_evidence import gradings_heard, hear, voice_of
from reports.suspects.labels import wavered_of
from reports.suspects.similar_examples import twins_of
from toolevals.grading.values.canonical import digest
from toolevals.runs.models import Grading
from toolevals.workspace.addresses import address
from toolevals.workspace.jobs import BatchPlan, Lease, job_create
from toolevals.workspace.models import User

# Versions and runs of more examples and cases than this together are counted by a job.
COUNTED_AT_ONCE: Final = 2_000
# Counted anew where this differs.
RULES: Final = 2
_AT_ONCE: Final = 500


def suspects_counted(version: DatasetVersion, *, actor: User | None) -> SuspectCount:
    """Return what is kept of a version's suspects, counted anew first where there is more to count.

    Of much a job counts, and what was counted before is kept meanwhile: `counted_at` is None the first time.
    """
    gradings = gradings_heard(version)
    basis = _basis(version, gradings)
    kept = SuspectCount.objects.select_related("job").filter(version=version).first()
    if kept is not None and (kept.basis == basis or (kept.job is not None and kept.job.is_open)):
        return kept
    size = _size(version, gradings)
    if size <= COUNTED_AT_ONCE:
        reasons = _found(version, gradings)
        with transaction.atomic():
            return _store(version, reasons, basis, gradings)
    return _count_in_a_job(version, actor, size)


def suspects_count_work(lease: Lease) -> None:
    """Count one version: what the batch of the job does."""
    version = DatasetVersion.objects.select_related("dataset__project").get(pk=lease.payload["version"])
    gradings = gradings_heard(version)
    basis = _basis(version, gradings)
    reasons = _found(version, gradings, lease.progress)
    with lease.finish():
        _store(version, reasons, basis, gradings)
        lease.report({"suspects": len(reasons)})


def _found(
    version: DatasetVersion, gradings: list[Grading], progress: Callable[[int], None] = lambda _: None
) -> dict[UUID, list[Reason]]:
    """Return the reasons by revision."""
    hearing = hear(version, gradings, progress)
    found: dict[UUID, list[Reason]] = defaultdict(list)
    for revision in hearing.voices:
        found[revision] = reasons_of(hearing.of(revision))
    for revision, reason in (*twins_of(version), *wavered_of(version)):
        found[revision].append(reason)
    return {revision: reasons for revision, reasons in found.items() if evidence_of(reasons) >= LEAST}


def _store(
    version: DatasetVersion, found: dict[UUID, list[Reason]], basis: str, gradings: list[Grading]
) -> SuspectCount:
    entries = dict(VersionEntry.objects.filter(version=version).order_by().values_list("revision_id", "pk"))
    SuspectCount.objects.bulk_create([SuspectCount(version=version)], ignore_conflicts=True)
    kept = SuspectCount.objects.select_for_update(of=("self",)).get(version=version)
    Suspect.objects.filter(version=version).delete()
    rows = (_row(version, entries[revision], reasons) for revision, reasons in found.items())
    Suspect.objects.bulk_create(rows, batch_size=_AT_ONCE)
    kept.basis, kept.counted_at = basis, timezone.now()
    kept.voices = len({voice_of(grading.run).casefold() for grading in gradings})
    kept.save(update_fields=["basis", "counted_at", "voices"])
    return kept


def _row(version: DatasetVersion, entry: UUID, reasons: list[Reason]) -> Suspect:
    told = [reason for reason in reasons if reason.kind != "wavered"]
    wavered = next((reason for reason in reasons if reason.kind == "wavered"), None)
    kinds = {reason.kind for reason in told}
    return Suspect(
        version=version,
        entry_id=entry,
        score=score(told),
        score_with_labels=score(reasons),
        kinds="".join(f",{kind}" for kind in REASONS if kind in kinds) + "," * bool(kinds),
        reasons=[reason.to_document() for reason in told],
        wavered=wavered.to_document() if wavered else None,
    )


def _basis(version: DatasetVersion, gradings: list[Grading]) -> str:
    labels = Label.objects.filter(slot__dataset=version.dataset_id).order_by("-pk")
    # As a condition on each: joined, SQLite goes through all examples for the newest gold.
    own = Revision.objects.filter(pk=OuterRef("revision"), example__dataset=version.dataset_id)
    golds = Gold.objects.filter(Exists(own)).order_by("-pk")
    newest: list[Any] = [rows.values_list("pk", flat=True).first() for rows in (labels, golds)]
    return digest([RULES, sorted(str(grading.pk) for grading in gradings), *map(str, newest)])


def _size(version: DatasetVersion, gradings: list[Grading]) -> int:
    return version.size + sum(grading.run.size * grading.run.trials for grading in gradings)


@transaction.atomic
def _count_in_a_job(version: DatasetVersion, actor: User | None, size: int) -> SuspectCount:
    """Begin to count, unless somebody does already; return what is known so far. No audit row: nothing changes."""
    SuspectCount.objects.bulk_create([SuspectCount(version=version)], ignore_conflicts=True)
    kept = SuspectCount.objects.select_for_update(of=("self",)).select_related("job").get(version=version)
    if kept.job is None or not kept.job.is_open:
        dataset = version.dataset
        kept.job = job_create(
            project=dataset.project,
            actor=actor,
            kind="suspects",
            title=f"Suspect labels of {dataset.name} v{version.number}",
            batches=[BatchPlan("reports.suspects_count", {"version": str(version.pk)}, size=size)],
            result_path=address("reports:suspects", dataset.project.slug, dataset.slug, version.number),
        )
        kept.save(update_fields=["job"])
    return kept
