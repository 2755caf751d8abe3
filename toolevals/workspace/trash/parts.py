"""Deletes very many rows: some in each transaction, so that labelling hardly waits and a kill loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from time import monotonic
from typing import Any
from uuid import UUID

from django.db import models, transaction
from django.db.models.deletion import CASCADE, ProtectedError, RestrictedError

from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.models import Batch, Job, Upload

# Rows in one transaction, with what hangs on them: some hundred milliseconds. A pause follows, so fewer take longer.
AT_ONCE = 1000


class RestsOnItself(Exception):  # noqa: N818 - named for what it says
    """A row whose companions cannot be deleted in any order."""


def delete_in_parts(
    rows: models.QuerySet[Any], until: float, *, and_then: Callable[[Sequence[Any]], None] | None = None
) -> bool:
    """Delete rows with all that goes with them, until a moment of the monotonic clock; return whether none is left.

    `and_then` is told which keys went, in the same transaction. Raises `ProtectedError` or `RestrictedError` where
    something rests on one.
    """
    while some := list(rows.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        with transaction.atomic():
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
        upload.file.delete(save=False)


def _is_id(value: Any) -> bool:
    try:
        UUID(str(value))
    except ValueError:
        return False
    return True
