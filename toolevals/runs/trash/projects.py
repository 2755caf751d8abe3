"""Delete projects. Only a line in the installation's log stays: nothing outside a project depends on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.db import models, transaction

from labeling.models import Dataset, Example
from toolevals.registry.models import Registry
from toolevals.runs.models import Run
from toolevals.runs.trash.datasets import Datasets
from toolevals.runs.trash.runs import Runs, run_remove
from toolevals.workspace.jobs.models import JobQuerySet
from toolevals.workspace.models import DESTROY, Job, Project, Upload
from toolevals.workspace.trash.kinds import TrashKind
from toolevals.workspace.trash.parts import children_count, children_delete, jobs_delete, uploads_delete


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

    def remains(self, row: Any) -> dict[str, Any]:
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
        return jobs_delete(jobs, until) and children_delete(row, until, keep=[Job])

    def finish(self, row: Any) -> bool:
        Project.with_trash.filter(pk=row.pk).delete()
        return True


@transaction.atomic
def _dataset_finish(dataset: Dataset) -> bool:
    return Datasets().finish(dataset)
