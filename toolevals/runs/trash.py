"""Tell what becomes of runs, datasets, registries and projects that are deleted.

It stands here because runs are what rests on datasets and registries. A tombstone of each run stays, so that its number
is never given again. A version of a dataset that has a run keeps its examples and gold labels, and the dataset a
tombstone; so does a version of tools that a dataset, an agent or a policy takes its tools from. Of a project, only a
line in the installation's log stays: nothing outside a project depends on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from hashlib import sha256
from time import monotonic
from typing import Any, ClassVar
from uuid import UUID

from django.db import models, transaction
from django.db.models import Count, Exists, OuterRef, Q
from django.db.models.deletion import ProtectedError, RestrictedError

from labeling.datasets.staging_datasets import examples_delete
from labeling.label.claims import FREE
from labeling.models import (
    Adjudication,
    Dataset,
    DatasetVersion,
    Example,
    Gold,
    ImportPart,
    Label,
    LabelSlot,
    Origin,
    Revision,
    SlotState,
    StagedExample,
    VersionEntry,
)
from toolevals.json_types import JsonObject
from toolevals.registry.models import Policy, Registry, RegistryVersion, ToolSource
from toolevals.runs.models import (
    Agent,
    CaseGrade,
    Grading,
    JudgeCalibration,
    RevisionTurn,
    Run,
    Transcript,
    Tryout,
    VerdictCount,
)
from toolevals.workspace.audit.services import audit_opened
from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.jobs.models import JobQuerySet
from toolevals.workspace.models import DESTROY, AuditEntry, Job, Project, Upload, User
from toolevals.workspace.trash.kinds import (
    AT_ONCE,
    TrashKind,
    children_count,
    children_delete,
    counted,
    delete_in_parts,
    going_along,
    jobs_delete,
    uploads_delete,
)


class Runs(TrashKind):
    """Runs that people started. Baseline agents go with their dataset."""

    name: ClassVar[str] = "run"
    model: ClassVar[type[Any]] = Run

    def rows(self, project: Project) -> models.QuerySet[Any]:
        return super().rows(project).filter(baseline_agent="").select_related("agent", "dataset_version__dataset")

    def key(self, row: Any) -> str:
        return str(row.number)

    def title(self, row: Any) -> str:
        return f"run {row.number} of {row.agent.name}"

    def takes(self, row: Any) -> Sequence[tuple[int, str, str]]:
        return [
            (row.transcripts.count(), "transcript", "transcripts"),
            (row.gradings.count(), "grading", "gradings"),
            (row.held_gates.count(), "gate that checked it", "gates that checked it"),
        ]

    def rests(self, row: Any) -> Iterable[str]:
        gradings = row.gradings.values("pk")
        gates = _others_gates(row, gradings)
        if gates:
            words = counted(gates, "gate of another run compares", "gates of other runs compare")
            yield f"{words} with it. Their results are kept and show this run as deleted."
        calibrations = JudgeCalibration.objects.filter(grading__in=gradings).count()
        if calibrations:
            words = counted(calibrations, "calibration of a judge was", "calibrations of judges were")
            yield f"{words} drawn from it. The figures stay; the cases go."
        repeated = row.repeated_by.count()
        if repeated:
            yield f"{counted(repeated, 'run repeats', 'runs repeat')} what failed in it, which does not change."
        yield f"The run number {row.number} is not reused."

    def ids(self, row: Any) -> Iterable[UUID]:
        gradings = list(row.gradings.values_list("pk", flat=True))
        yield row.pk
        yield from gradings
        yield from row.held_gates.values_list("pk", flat=True)
        for drawn in (JudgeCalibration, Tryout):
            yield from drawn._base_manager.filter(grading__in=gradings).values_list("pk", flat=True)

    def namesake(self, row: Any) -> bool:
        return False

    def remains(self, row: Any) -> JsonObject:
        outcomes = VerdictCount.objects.filter(grading=row.grading_id, column="outcome").order_by("value")
        return {
            "transcripts": row.transcripts.count(),
            "gradings": row.gradings.count(),
            "agent": row.agent.name,
            "agent_digest": row.agent.digest,
            "dataset_version": str(row.dataset_version),
            "outcomes": dict(outcomes.values_list("value", "count")),
        }

    def left(self, row: Any) -> int:
        return Transcript.objects.filter(run=row).count() + CaseGrade.objects.filter(grading__run=row).count()

    def destroy(self, row: Any, until: float) -> bool:
        return run_empty(row, until)

    def finish(self, row: Any) -> bool:
        # Their versions, and the tools of their agents, may have been kept for it alone.
        dataset = Dataset.with_trash.select_for_update(no_key=True, of=("self",)).filter(
            pk=row.dataset_version.dataset_id
        )
        for each in dataset:
            Dataset.with_trash.filter(pk=each.pk).exclude(destroyed_at=None).update(destroyed_at=None)
        registries_look_again(row.project_id)
        return True


def run_empty(run: Run, until: float) -> bool:
    """Destroy what a run holds, all but its row, its gradings' and the closed calibrations'; return whether it is gone.

    What names a grading as its baseline, and what a calibration came to, keep what they refer to.
    """
    for grading in Grading.objects.filter(run=run).order_by("number"):
        if not children_delete(grading, until, keep=[JudgeCalibration]):
            return False
    if not delete_in_parts(Transcript.objects.filter(run=run), until):
        return False
    if not children_delete(run, until, keep=[Grading, Transcript]):
        return False
    Run.with_trash.filter(pk=run.pk).update(settings={}, only=None)
    return True


def run_remove(run: Run, until: float) -> bool:
    """Destroy a run with its row; return whether it is gone."""
    if not run_empty(run, until):
        return False
    run.delete()
    return True


def registries_look_again(project: UUID) -> None:
    """Have the tombstones of registries destroyed again: what was kept for something else may be free now."""
    Registry.with_trash.filter(project=project).exclude(destroyed_at=None).update(destroyed_at=None)


def _others_gates(run: Any, gradings: Any) -> int:
    """Return how many gates of other runs name a grading of this run."""
    gates = run.held_gates.model.objects.exclude(run=run)
    counts: dict[str, int] = gates.filter(Q(baseline__in=gradings) | Q(consistency__in=gradings)).aggregate(
        n=Count("pk")
    )
    return counts["n"]


# What is kept of a revision in a version that a run rests on.
KEPT_OF_REVISIONS = (Gold, Adjudication, Origin, RevisionTurn, VersionEntry)


class Datasets(TrashKind):
    """Datasets with all that was labelled in them."""

    name: ClassVar[str] = "dataset"
    model: ClassVar[type[Any]] = Dataset

    def takes(self, row: Any) -> Sequence[tuple[int, str, str]]:
        kept = versions_in_use(row)
        return [
            (_loose_examples(row, kept).count(), "example", "examples"),
            (Label.objects.filter(revision__example__dataset=row).count(), "label", "labels"),
            (row.versions.exclude(pk__in=kept).count(), "frozen version", "frozen versions"),
            (row.guidelines.count(), "wording of its guideline", "wordings of its guideline"),
        ]

    def rests(self, row: Any) -> Iterable[str]:
        for version in DatasetVersion.objects.filter(pk__in=versions_in_use(row)).order_by("number"):
            runs = Run.objects.of_people().filter(dataset_version=version).count()
            graded = Run.objects.of_people().filter(gradings__dataset_version=version).distinct().count()
            yield (
                f"{counted(max(runs, graded), 'run rests', 'runs rest')} on version {version.number}. "
                f"Its {version.size:,} examples and gold labels stay for them; its labels go."
            )

    def ids(self, row: Any) -> Iterable[UUID]:
        return [row.pk, *row.versions.values_list("pk", flat=True)]

    def leave(self, row: Any, actor: User | None) -> JsonObject:
        held = LabelSlot.objects.filter(dataset=row, state=SlotState.CLAIMED)
        return {"claims_released": held.update(**FREE)}

    def remains(self, row: Any) -> JsonObject:
        versions = row.versions.order_by("number")
        examples = Example.objects.filter(dataset=row)
        return {
            "examples": examples.count(),
            "with_gold": examples.filter(current__gold__isnull=False).count(),
            "labels": Label.objects.filter(revision__example__dataset=row).count(),
            "versions": [
                {
                    "id": str(version.pk),
                    "number": version.number,
                    "size": version.size,
                    "digest": version_digest(version),
                }
                for version in versions
            ],
        }

    def left(self, row: Any) -> int:
        return Example.objects.filter(dataset=row).count() + VersionEntry.objects.filter(version__dataset=row).count()

    def destroy(self, row: Any, until: float) -> bool:
        kept = versions_in_use(row)
        return (
            _baseline_agents_remove(row, kept, until)
            and delete_in_parts(VersionEntry.objects.filter(version__dataset=row).exclude(version__in=kept), until)
            and _examples_remove(row, until)
            and _labels_remove(row, until)
            and delete_in_parts(StagedExample.objects.filter(part__dataset=row), until)
            and delete_in_parts(ImportPart.objects.filter(dataset=row), until)
            and children_delete(row, until, keep=[Example, DatasetVersion])
        )

    def finish(self, row: Any) -> bool:
        # Who destroys a run locks the dataset too: what a run frees now, this one or the other sees.
        Dataset.with_trash.select_for_update(no_key=True, of=("self",)).get(pk=row.pk)
        kept = versions_in_use(row)
        if _loose_examples(row, kept).exists():
            return False
        _versions_remove(row, kept)
        return True


def versions_in_use(dataset: Dataset) -> set[UUID]:
    """Return the versions that a run with transcripts was made on, or graded against: such as are in the trash too.

    Baseline agents do not count: they are there for people's runs.
    """
    runs = Run.with_trash.filter(baseline_agent="", destroyed_at=None)
    made = runs.filter(dataset_version__dataset=dataset).values_list("dataset_version", flat=True)
    graded = Grading.objects.filter(run__in=runs.values("pk"), dataset_version__dataset=dataset)
    return {*made, *graded.values_list("dataset_version", flat=True)}


def version_digest(version: DatasetVersion) -> str:
    """Return a SHA-256 over the digests of a version's revisions and the ids of its gold, in order."""
    digest = sha256()
    entries = VersionEntry.objects.filter(version=version).order_by("position")
    for revision, gold in entries.values_list("revision__digest", "gold").iterator(chunk_size=2000):
        digest.update(f"{revision} {gold}\n".encode())
    return digest.hexdigest()


def _loose_examples(dataset: Dataset, kept: Collection[UUID]) -> models.QuerySet[Example]:
    """Return the examples that no kept version holds."""
    held = VersionEntry.objects.filter(revision__example=OuterRef("pk"), version__in=kept)
    return Example.objects.filter(~Exists(held.order_by()), dataset=dataset)


def _baseline_agents_remove(dataset: Dataset, kept: Collection[UUID], until: float) -> bool:
    baseline_agents = Run.with_trash.exclude(baseline_agent="").filter(dataset_version__dataset=dataset)
    return all(run_remove(run, until) for run in baseline_agents.exclude(dataset_version__in=kept).order_by("pk"))


def _examples_remove(dataset: Dataset, until: float) -> bool:
    """Delete the examples that no version holds any more, with their revisions, labels and gold."""
    held = VersionEntry.objects.filter(revision__example=OuterRef("pk")).order_by()
    loose = Example.objects.filter(~Exists(held), dataset=dataset).order_by("pk").values_list("pk", flat=True)
    while some := list(loose[:AT_ONCE]):
        examples_delete(some)
        others_write_first()
        if monotonic() >= until:
            return False
    return True


def _labels_remove(dataset: Dataset, until: float) -> bool:
    """Delete what people wrote about the examples that stay; their revisions and gold stay."""
    if not delete_in_parts(Label.objects.filter(revision__example__dataset=dataset), until):
        return False
    for relation in going_along(Revision):
        if relation.related_model not in KEPT_OF_REVISIONS:
            path = f"{relation.field.name}__example__dataset"
            if not delete_in_parts(relation.related_model._base_manager.filter(**{path: dataset}), until):
                return False
    return True


def _versions_remove(dataset: Dataset, kept: Collection[UUID]) -> None:
    """Remove the versions that nothing names, and the dataset with the last of them; else blank what it says."""
    for version in DatasetVersion.objects.filter(dataset=dataset).exclude(pk__in=kept).order_by("pk"):
        try:
            version.delete()
        except ProtectedError:
            # The tombstone of a run names it.
            continue
    if DatasetVersion.objects.filter(dataset=dataset).exists():
        blank: JsonObject = {"description": "", "guideline": "", "quotas": {}, "shown_strata": []}
        Dataset.with_trash.filter(pk=dataset.pk).update(default_tools=None, **blank)
    else:
        Dataset.with_trash.filter(pk=dataset.pk).delete()
    registries_look_again(dataset.project_id)


class Registries(TrashKind):
    """Registries with their versions. The tool specs in them stay, as examples and other registries share them."""

    name: ClassVar[str] = "registry"
    model: ClassVar[type[Any]] = Registry

    def takes(self, row: Any) -> Sequence[tuple[int, str, str]]:
        return [(row.versions.exclude(_in_use()).count(), "version", "versions")]

    def rests(self, row: Any) -> Iterable[str]:
        for version in row.versions.filter(_in_use()).order_by("number"):
            datasets = Dataset.objects.filter(default_tools=version).order_by("name").values_list("name", flat=True)
            agents = Agent.objects.filter(tools=version).order_by("name").values_list("name", flat=True).distinct()
            policies = row.policies.order_by("name").values_list("name", flat=True)
            names = ", ".join([*datasets, *agents, *policies]) or "something in the trash"
            yield f"Version {version.number} stays for {names}."

    def remains(self, row: Any) -> JsonObject:
        versions = row.versions.select_related("tools").order_by("number")
        return {
            "versions": [
                {
                    "id": str(version.pk),
                    "number": version.number,
                    "size": version.tools.size,
                    "digest": version.tools.digest,
                }
                for version in versions
            ]
        }

    def left(self, row: Any) -> int:
        return int(RegistryVersion.objects.filter(registry=row).count())

    def destroy(self, row: Any, until: float) -> bool:
        ToolSource.objects.filter(registry=row).delete()
        for version in RegistryVersion.objects.filter(registry=row).exclude(_in_use()).order_by("pk"):
            try:
                version.delete()
            except (ProtectedError, RestrictedError):
                continue
        return True

    def finish(self, row: Any) -> bool:
        if not RegistryVersion.objects.filter(registry=row).exists():
            Registry.with_trash.filter(pk=row.pk).delete()
        return True


def _in_use() -> Q:
    """Return the condition that a version is what a dataset, an agent or a policy takes its tools from."""
    datasets = Dataset.with_trash.exclude(default_tools=None).values("default_tools")
    policies = Policy.objects.exclude(registry=None).values("registry")
    agents = Agent.objects.exclude(tools=None).values("tools")
    return Q(pk__in=datasets) | Q(pk__in=agents) | Q(registry__in=policies)


class Projects(TrashKind):
    """Projects with everything in them."""

    name: ClassVar[str] = "project"
    model: ClassVar[type[Any]] = Project

    def rows(self, project: Project) -> models.QuerySet[Any]:
        return Project.with_trash.filter(pk=project.pk).select_related("deleted_by")

    def project(self, row: Any) -> Project:
        found: Project = row
        return found

    def takes(self, row: Any) -> Sequence[tuple[int, str, str]]:
        return [
            (Registry.with_trash.filter(project=row).count(), "registry", "registries"),
            (Dataset.with_trash.filter(project=row).count(), "dataset", "datasets"),
            (Example.objects.filter(dataset__project=row).count(), "example", "examples"),
            (Run.with_trash.filter(project=row, baseline_agent="").count(), "run", "runs"),
            (row.tokens.count(), "token", "tokens"),
            (row.secrets.count(), "secret", "secrets"),
        ]

    def rests(self, row: Any) -> Iterable[str]:
        return ["The accounts of its members stay. Its audit log goes with it."]

    def jobs(self, row: Any) -> JobQuerySet:
        # What was to be destroyed before is destroyed all the same.
        return Job.objects.filter(project=row).open().exclude(kind=DESTROY)

    def ids(self, row: Any) -> Iterable[UUID]:
        return [row.pk]

    def namesake(self, row: Any) -> bool:
        return bool(Project.objects.filter(slug=row.slug).exists())

    def left(self, row: Any) -> int:
        runs, datasets = Run.with_trash.filter(project=row), Dataset.with_trash.filter(project=row)
        within = sum(map(Runs().left, runs)) + sum(map(Datasets().left, datasets))
        return within + children_count(row)

    def remains(self, row: Any) -> JsonObject:
        return {many: count for count, _, many in self.takes(row)}

    def destroy(self, row: Any, until: float) -> bool:
        runs = Run.with_trash.filter(project=row).order_by("pk")
        if not all(run_remove(run, until) for run in runs):
            return False
        datasets = Dataset.with_trash.filter(project=row).order_by("pk")
        if not all(Datasets().destroy(dataset, until) and _dataset_finish(dataset) for dataset in datasets):
            return False
        uploads_delete(Upload.objects.filter(project=row))
        # The job that does this goes with the project's row.
        jobs = Job.objects.filter(project=row).exclude(kind=DESTROY)
        if not (jobs_delete(jobs, until) and children_delete(row, until, keep=[Job, AuditEntry])):
            return False
        acts = AuditEntry.objects.filter(project=row)
        return delete_in_parts(acts, until, within=lambda: audit_opened(project=row))

    def finish(self, row: Any) -> bool:
        with audit_opened(project=row):
            Project.with_trash.filter(pk=row.pk).delete()
        return True


@transaction.atomic
def _dataset_finish(dataset: Dataset) -> bool:
    return Datasets().finish(dataset)
