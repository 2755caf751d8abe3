"""Count a version's suspects: at once where that is little work, else in a job; kept until there is more.

Evidence is gold that several people labelled otherwise, and other gold of the same or nearly the same text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from labeling.agreement.cases import tool_said
from labeling.expectations.meaning import meaning
from labeling.lint.inputs import FEWEST_WORDS, Alike, conversation_text
from labeling.lint.texts import words_in
from labeling.models import DatasetVersion, Label, VersionEntry
from reports.models import Suspect, SuspectCount
from reports.suspects.agent_evidence import gradings_heard, hear, voice_of
from reports.suspects.analysis import (
    LEAST,
    REASONS,
    TWINS,
    WAVERED,
    Reason,
    evidence_of,
    overruled,
    reasons_of,
    score,
    share_against,
)
from toolevals.grading.values.canonical import digest, exact, parse
from toolevals.runs.models import Grading
from toolevals.workspace.addresses import address
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import User

# So many of the others are named.
NAMED: Final = 5
# The evidence of examples that say the same, or nearly the same, times the share against: of a pair half of it.
SAME, NEAR = 4.4, 1.5
# Versions and runs of more examples and cases than this together are counted by a job.
COUNTED_AT_ONCE: Final = 2_000
# Counted again where this differs.
RULES: Final = 2
_AT_ONCE: Final = 500
# So many of the newest labels are looked through for one of a dataset.
LOOKED_THROUGH: Final = 1_000


@dataclass(slots=True)
class _Group:
    """Examples that are alike, with what is compared of their gold."""

    members: list[tuple[UUID, str, str]] = field(default_factory=list)


def twins_of(version: DatasetVersion) -> Iterator[tuple[UUID, Reason]]:
    """Yield revisions with the reason that others of the version say the same and expect something else.

    The same words are compared by all that is expected; nearly the same words by the tools alone, because a word that
    differs may well be an argument.
    """
    same: dict[str, _Group] = defaultdict(_Group)
    near: dict[int, _Group] = defaultdict(_Group)
    alike = Alike()
    for revision, name, shown, tools, expectation in _examples(version):
        words = words_in(conversation_text(shown))
        key = digest([str(tools), " ".join(words)])
        # Of the same words one stands for all among the nearly same.
        if key not in same and len(words) >= FEWEST_WORDS:
            near[alike.group(words)].members.append((revision, name, tool_said("expectation", expectation)))
        same[key].members.append((revision, name, meaning("expectation", expectation)))
    told = set()
    for revision, reason in _differing(same.values(), "the same", SAME):
        told.add(revision)
        yield revision, reason
    yield from (
        (revision, each)
        for revision, each in _differing(near.values(), "nearly the same", NEAR)
        if revision not in told
    )


def _differing(groups: Any, how: str, weight: float) -> Iterator[tuple[UUID, Reason]]:
    for group in groups:
        golds = Counter(gold for _, _, gold in group.members)
        if len(golds) < 2:
            continue
        size = len(group.members)
        for revision, _, gold in group.members:
            others = [(str(pk), name) for pk, name, other in group.members if other != gold]
            named = tuple({"revision_id": pk, "external_id": name} for pk, name in others[:NAMED])
            verb = "example says" if len(others) == 1 else "examples say"
            sentence = f"{len(others)} {verb} {how} and expect{'s' if len(others) == 1 else ''} a different answer."
            # The others that expect the same side with it.
            counts = len(others), golds[gold] - 1, size - 1
            if evidence := weight * share_against(*counts):
                yield revision, Reason(TWINS, sentence, evidence, *counts, examples=named)


def _examples(version: DatasetVersion) -> Iterator[Any]:
    rows = VersionEntry.objects.filter(version=version).order_by("position")
    yield from rows.values_list(
        "revision_id",
        "revision__example__external_id",
        "revision__input",
        "revision__tools_id",
        "gold__expectation",
    ).iterator(chunk_size=_AT_ONCE)


def wavered_of(version: DatasetVersion) -> Iterator[tuple[UUID, Reason]]:
    """Yield revisions with the reason that people's labels say something else than the version's gold.

    Each person's newest label speaks, of whatever round. One person whom an adjudicator overruled is no evidence, and
    neither is gold that was corrected. Who may be told: `reports.suspects.queries`.
    """
    entries = VersionEntry.objects.filter(version=version).order_by("pk")
    rows = entries.values_list("pk", "revision_id", "gold__expectation", "revision__round")
    page = list(rows[:_AT_ONCE])
    while page:
        yield from _of_page(page)
        page = list(rows.filter(pk__gt=page[-1][0])[:_AT_ONCE])


def _of_page(page: list[Any]) -> Iterator[tuple[UUID, Reason]]:
    newest: dict[UUID, dict[tuple[UUID | None, str], str]] = defaultdict(dict)
    said = Label.objects.filter(revision__in=[revision for _, revision, *_ in page]).order_by("pk")
    for revision, person, name, answer, expectation in said.values_list(
        "revision_id", "reviewer_id", "external_author", "answer", "expectation"
    ):
        newest[revision][person, name] = _meaning(answer, exact(expectation))
    for _, revision, expectation, rounds in page:
        gold = _meaning("expectation", exact(expectation))
        differing = sum(means != gold for means in newest[revision].values())
        if evidence := overruled(differing, len(newest[revision]) - differing):
            people = len(newest[revision])
            words = f"{differing} of {people} people labelled something different from the gold"
            words += f", in {rounds} rounds." if rounds > 1 else "."
            yield revision, Reason(WAVERED, words, evidence, differing, people - differing, people)


@lru_cache(maxsize=4096)
def _meaning(answer: str, expectation: str) -> str:
    return meaning(answer, parse(expectation))


def suspects_counted(version: DatasetVersion, *, actor: User | None) -> SuspectCount:
    """Return what is kept of a version's suspects, counted again first where there is more to count.

    Of much a job counts, and what was counted before is kept meanwhile: `counted_at` is None the first time.
    """
    gradings = gradings_heard(version)
    basis = _basis(version, gradings)
    kept = SuspectCount.objects.select_related("job").filter(version=version).first()
    if kept is not None and (kept.basis == basis or (kept.job is not None and kept.job.stands)):
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
    kept.basis, kept.counted_at = basis, database_now()
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
    """Name what there is to count: gradings and labels, for the gold of a version stays as it is."""
    return digest([RULES, sorted(str(grading.pk) for grading in gradings), _labels_told(version)])


def _labels_told(version: DatasetVersion) -> str:
    """Return what is another with each new label of a version's dataset: the newest label, or how many there are.

    The newest is looked for among the newest of all datasets: an older one lies behind all that others have.
    """
    newest = Label.objects.order_by("-pk").values("pk")[:LOOKED_THROUGH]
    labels = Label.objects.filter(revision__example__dataset=version.dataset_id)
    found = labels.filter(pk__in=newest).order_by("-pk").values_list("pk", flat=True).first()
    return str(found or labels.count())


def _size(version: DatasetVersion, gradings: list[Grading]) -> int:
    return version.size + sum(grading.run.size * grading.run.trials for grading in gradings)


@transaction.atomic
def _count_in_a_job(version: DatasetVersion, actor: User | None, size: int) -> SuspectCount:
    """Begin to count, unless someone does already; return what is known so far. No audit row: nothing changes."""
    SuspectCount.objects.bulk_create([SuspectCount(version=version)], ignore_conflicts=True)
    kept = SuspectCount.objects.select_for_update(of=("self",)).select_related("job").get(version=version)
    if kept.job is None or not kept.job.stands:
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
