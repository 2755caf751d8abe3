"""Store what can be deleted by its owners: a row that lies in the trash for a while and is destroyed then."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import models

from toolevals.workspace.accounts.models import User
from toolevals.workspace.fields import DocumentField

# How long what was deleted can be restored.
KEPT = timedelta(days=30)


class Trashable(models.Model):
    """A row that its project's owners can delete and restore.

    Declare `objects = Untrashed.from_queryset(...)()` first and `with_trash = ....as_manager()` second. The first
    leaves out what was deleted, and so does every related manager. Rows that are reached over the row take `within`.
    """

    deleted_at = models.DateTimeField(null=True, editable=False)
    deleted_by = models.ForeignKey(User, null=True, editable=False, on_delete=models.SET_NULL, related_name="+")
    # What went into the trash with it and what rests on it, in words, as it was then: `{"takes", "rests"}`.
    deletion = DocumentField(null=True, editable=False)
    # When it is destroyed: 30 days after it was deleted, or at once where an owner said so.
    destroy_at = models.DateTimeField(null=True, editable=False)
    # When what it held was destroyed. The row stays as a tombstone as long as something rests on it.
    destroyed_at = models.DateTimeField(null=True, editable=False)
    # What it held by then: counts and digests.
    tombstone = DocumentField(null=True, editable=False)

    class Meta:
        abstract = True

    @property
    def is_deleted(self) -> bool:
        """Return whether it is in the trash, or a tombstone."""
        return self.deleted_at is not None


_Row = TypeVar("_Row", bound=models.Model)
# By model: the query for the rows that were not deleted.
_UNTRASHED: dict[type[models.Model], Any] = {}


class Untrashed(models.Manager[_Row]):
    """Finds the rows that were not deleted."""

    def get_queryset(self) -> models.QuerySet[_Row]:
        found = super().get_queryset()
        if self.model not in _UNTRASHED:
            _UNTRASHED[self.model] = found.filter(deleted_at=None).query
        # A copy of the condition costs less than to put it together with each query.
        found.query = _UNTRASHED[self.model].chain()
        return found


def untrashed(path: str) -> models.Q:
    """Return the condition that what stands at the end of a path, such as "grading__run", was not deleted."""
    return models.Q(**{f"{path}__deleted_at": None})


def within(project: Any, path: str) -> models.Q:
    """Return the condition that what stands at the end of a path is in a project, and was not deleted.

    Every row that is found by its own id within a project is asked for by this: see docs/decisions/0076.
    """
    return models.Q(**{f"{path}__project": project}) & untrashed(path)


def destroyed_from(deleted_at: datetime) -> datetime:
    """Return when something that was deleted at a moment is destroyed."""
    return deleted_at + KEPT
