"""Defines the kinds of things that can be deleted: what goes with each, what stays, and how it is destroyed.

What goes with a row follows from `on_delete`. Very many rows are deleted some in each transaction, so that labelling
hardly waits and a kill loses nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from time import monotonic
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.db import models, transaction
from django.db.models.deletion import CASCADE, ProtectedError, RestrictedError
from django.utils.module_loading import import_string

from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.jobs.models import JobQuerySet
from toolevals.workspace.models import FIRST_NUMBER, Batch, Job, Project, Upload, User
from toolevals.workspace.uploads.services import file_delete


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


# Rows in one transaction, with what hangs on them: some hundred milliseconds. A pause follows, so fewer take longer.
AT_ONCE = 1000


class RestsOnItself(Exception):  # noqa: N818 - named for what it says
    """A row whose companions cannot be deleted in any order."""


def delete_in_parts(
    rows: models.QuerySet[Any],
    until: float,
    *,
    within: Callable[[], AbstractContextManager[Any]] = transaction.atomic,
    and_then: Callable[[Sequence[Any]], None] | None = None,
) -> bool:
    """Delete rows with all that goes with them, until a moment of the monotonic clock; return whether none is left.

    Each part is one transaction, `within`; `and_then` is told in it which keys went. Raises `ProtectedError` or
    `RestrictedError` where something rests on one.
    """
    while some := list(rows.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        with within():
            rows.model._base_manager.filter(pk__in=some).delete()
            if and_then:
                and_then(some)
        others_write_first()
        # After a part: however long it took to find it, each turn comes further.
        if monotonic() >= until:
            return False
    return True


def children_delete(row: models.Model, until: float, *, keep: Collection[type[models.Model]] = ()) -> bool:
    """Delete what would go with a row, table by table, and leave the row; return whether all is gone.

    `keep`: the models whose rows stay. What another table rests on waits until that one is done.
    """
    left = [relation for relation in going_along(type(row)) if relation.related_model not in keep]
    while left:
        waiting = []
        for relation in left:
            rows = relation.related_model._base_manager.filter(**{relation.field.name: row.pk})
            try:
                if not delete_in_parts(rows, until):
                    return False
            except (ProtectedError, RestrictedError):
                waiting.append(relation)
        if len(waiting) == len(left):
            names = ", ".join(sorted(relation.related_model._meta.label for relation in waiting))
            raise RestsOnItself(f"what is left of {row._meta.label} {row.pk} rests on itself: {names}")
        left = waiting
    return True


def children_count(row: models.Model) -> int:
    """Return how many rows would go with a row, those that go with them not counted."""
    counts = (
        relation.related_model._base_manager.filter(**{relation.field.name: row.pk}).count()
        for relation in going_along(type(row))
    )
    return sum(counts)


def going_along(model: type[models.Model]) -> Iterator[Any]:
    """Yield the relations by which rows go with a row of a model."""
    for field in model._meta.get_fields(include_hidden=True):
        if field.auto_created and not field.concrete and getattr(field, "on_delete", None) is CASCADE:
            yield field


def jobs_delete(jobs: models.QuerySet[Job], until: float) -> bool:
    """Delete jobs with their batches and the files that they read or wrote; return whether none is left."""
    for job in jobs.order_by("pk"):
        files = {job.report.get("upload"), job.report.get("lines")}
        files |= {payload.get("upload") for payload in job.batches.values_list("payload", flat=True)}
        uploads_delete(Upload.objects.filter(project=job.project_id, pk__in=[pk for pk in files if _is_id(pk)]))
        if not delete_in_parts(Batch.objects.filter(job=job), until):
            return False
        job.delete()
        others_write_first()
    return True


def uploads_delete(uploads: models.QuerySet[Upload]) -> None:
    """Delete files with their rows: a file that a killed process leaves behind is stray, and swept."""
    for upload in uploads.order_by("pk"):
        with transaction.atomic():
            upload.delete()
        file_delete(upload)


def _is_id(value: Any) -> bool:
    try:
        UUID(str(value))
    except ValueError:
        return False
    return True
