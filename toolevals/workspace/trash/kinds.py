"""Defines the kinds of things that can be deleted: what goes with each, what stays, and how it is destroyed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.db import models
from django.utils.module_loading import import_string

from toolevals.workspace.jobs.models import JobQuerySet
from toolevals.workspace.models import FIRST_NUMBER, Batch, Job, Project, User


class TrashKind(ABC):
    """One kind of thing, such as datasets. The settings list its subclasses as `TRASH_KINDS`."""

    # In addresses, in the API and in the verbs of the audit log.
    name: ClassVar[str]
    model: ClassVar[type[Any]]

    def rows(self, project: Project) -> models.QuerySet[Any]:
        """Return the project's rows of this kind that owners may delete, deleted ones included."""
        found: models.QuerySet[Any] = self.model.with_trash.filter(project=project).select_related("deleted_by")
        return found

    def project(self, row: Any) -> Project:
        """Return the project that a row belongs to."""
        found: Project = row.project
        return found

    def key(self, row: Any) -> str:
        """Return what people type to name a row: its short name, or its number."""
        return str(row.slug)

    def title(self, row: Any) -> str:
        """Return how pages call a row."""
        return str(row.name)

    def kind_title(self, row: Any) -> str:
        """Return the kind and the title of a row, for a message."""
        title = self.title(row)
        return title if title.startswith(self.name) else f"{self.name} {title}"

    @abstractmethod
    def takes(self, row: Any) -> Sequence[tuple[int, str, str]]:
        """Return what is destroyed with a row: how many of what, in words for one and for several."""

    @abstractmethod
    def rests(self, row: Any) -> Iterable[str]:
        """Return sentences on what rests on a row and stays."""

    def ids(self, row: Any) -> Iterable[UUID]:
        """Return the ids by which the batches of jobs name a row."""
        return [row.pk]

    def jobs(self, row: Any) -> JobQuerySet:
        """Return the jobs whose work is for a row alone: every batch of theirs names it.

        So the first batch of a stage does: of all the others, only those of such jobs are read.
        """
        named = models.Q()
        for pk in self.ids(row):
            named |= models.Q(payload__contains=str(pk))
        batches = Batch.objects.filter(job__project=self.project(row), job__trashed_with=None)
        found = set(batches.filter(named, number=FIRST_NUMBER).values_list("job", flat=True))
        others = set(Batch.objects.filter(job__in=found).exclude(named).values_list("job", flat=True))
        return Job.objects.filter(pk__in=found - others)

    def namesake(self, row: Any) -> bool:
        """Return whether another row has taken the name of a deleted one."""
        return bool(self.model.objects.filter(project=row.project_id, slug=row.slug).exists())

    def leave(self, row: Any, actor: User | None) -> dict[str, Any]:
        """Let go of what people hold of a row that is being deleted; return what the audit log says of it."""
        return {}

    @abstractmethod
    def remains(self, row: Any) -> dict[str, Any]:
        """Return the tombstone of a row that is about to be destroyed: counts and digests."""

    @abstractmethod
    def left(self, row: Any) -> int:
        """Return how many of the rows are left that take the time to destroy, for its progress."""

    @abstractmethod
    def destroy(self, row: Any, until: float) -> bool:
        """Destroy what goes with a row, until a moment of the monotonic clock; return whether all is gone.

        In short transactions, and so that a process that takes it up after another was killed goes on where that was.
        """

    @abstractmethod
    def finish(self, row: Any) -> bool:
        """Remove the row, once all is gone; return False where something became free meanwhile: destroy again.

        Within one transaction of the caller. A row that something rests on stays: the caller makes it a tombstone.
        """


@cache
def trash_kinds() -> dict[str, TrashKind]:
    """Return the kinds by their names, in the order in which they are destroyed."""
    kinds: list[TrashKind] = [import_string(path)() for path in settings.TRASH_KINDS]
    return {kind.name: kind for kind in kinds}


def kind_of(row: models.Model) -> TrashKind:
    """Return the kind that a row is of."""
    return next(kind for kind in trash_kinds().values() if isinstance(row, kind.model))


def counted(count: int, one: str, many: str) -> str:
    """Return a count with its words."""
    return f"{count:,} {one if count == 1 else many}"
