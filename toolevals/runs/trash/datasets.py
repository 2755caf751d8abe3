"""Delete datasets. A version that has a run keeps its examples and gold labels, and the dataset a tombstone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from hashlib import sha256
from time import monotonic
from typing import Any, ClassVar
from uuid import UUID

from django.db import models
from django.db.models import Exists, OuterRef
from django.db.models.deletion import ProtectedError

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
from toolevals.runs.models import Grading, RevisionTurn, Run
from toolevals.runs.trash.runs import registries_look_again, run_remove
from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.models import Project, User
from toolevals.workspace.trash.kinds import TrashKind, counted
from toolevals.workspace.trash.parts import AT_ONCE, children_delete, delete_in_parts, going_along

# What is kept of a revision in a version that a run rests on.
KEPT_OF_REVISIONS = (Gold, Adjudication, Origin, RevisionTurn, VersionEntry)


class Datasets(TrashKind):
    """Datasets with all that was labelled in them."""

    name: ClassVar[str] = "dataset"
    model: ClassVar[type[Any]] = Dataset

    def rows(self, project: Project) -> models.QuerySet[Any]:
        return super().rows(project).select_related("deleted_by")

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

    def leave(self, row: Any, actor: User | None) -> dict[str, Any]:
        held = LabelSlot.objects.filter(dataset=row, state=SlotState.CLAIMED)
        return {"claims_released": held.update(**FREE)}

    def remains(self, row: Any) -> dict[str, Any]:
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
        blank: dict[str, Any] = {"description": "", "guideline": "", "quotas": {}, "shown_strata": []}
        Dataset.with_trash.filter(pk=dataset.pk).update(default_tools=None, **blank)
    else:
        Dataset.with_trash.filter(pk=dataset.pk).delete()
    registries_look_again(dataset.project_id)
