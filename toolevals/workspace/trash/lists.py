"""Lists what was deleted in pages: things of several kinds in one order, the last first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from django.db import models
from django.db.models import Q, QuerySet
from django.utils.dateparse import parse_datetime

from toolevals.workspace.models import Project, Role, User
from toolevals.workspace.paging import PAGE_SIZE
from toolevals.workspace.trash.kinds import TrashKind, trash_kinds


def deleted_projects(user: User) -> models.QuerySet[Project]:
    """Return the deleted projects that a person owns, the last deleted first."""
    mine = Project.with_trash.filter(memberships__user=user, memberships__role=Role.OWNER)
    return mine.exclude(deleted_at=None).select_related("deleted_by").order_by("-deleted_at", "pk")


_BETWEEN: Final = "_"
Moment = Literal["deleted_at", "destroyed_at"]


@dataclass(frozen=True, slots=True)
class TrashPage:
    """Some things with their kinds, and the cursor of the next ones; an empty cursor is the end."""

    rows: Sequence[tuple[TrashKind, Any]]
    older: str


def project_trash(project: Project) -> Iterator[tuple[TrashKind, QuerySet[Any]]]:
    """Yield the kinds of things within a project with their rows, deleted ones included."""
    yield from ((kind, kind.rows(project)) for kind in trash_kinds().values() if kind.model is not Project)


def person_trash(person: User) -> list[tuple[TrashKind, QuerySet[Any]]]:
    """Return the deleted projects that a person owns, with their kind."""
    return [(trash_kinds()["project"], deleted_projects(person))]


def trash_page(
    things: Iterable[tuple[TrashKind, QuerySet[Any]]], before: str, *, destroyed: bool = False, size: int = PAGE_SIZE
) -> TrashPage:
    """Return what lies in the trash, or with `destroyed` the tombstones, before a cursor.

    What is no cursor counts as none. Of each kind no more is read than a page holds.
    """
    at: Moment = "destroyed_at" if destroyed else "deleted_at"
    older = _older(before, at)
    deleted: list[tuple[TrashKind, Any]] = []
    for kind, all_rows in things:
        rows = all_rows.filter(older, deleted_at__isnull=False, destroyed_at__isnull=not destroyed)
        deleted += ((kind, row) for row in rows.order_by(f"-{at}", "-pk")[: size + 1])
    deleted.sort(key=lambda each: (getattr(each[1], at), each[1].pk), reverse=True)
    last = deleted[size - 1][1] if len(deleted) > size else None
    return TrashPage(deleted[:size], "" if last is None else f"{getattr(last, at).isoformat()}{_BETWEEN}{last.pk}")


def is_cursor(text: str) -> bool:
    """Tell whether a text is a cursor that a page gave."""
    return _read(text) is not None


def _older(before: str, at: Moment) -> Q:
    cursor = _read(before)
    if cursor is None:
        return Q()
    moment, last = cursor
    return Q(**{f"{at}__lt": moment}) | Q(**{at: moment, "pk__lt": last})


def _read(cursor: str) -> tuple[datetime, UUID] | None:
    moment, _, pk = cursor.partition(_BETWEEN)
    try:
        found, last = parse_datetime(moment), UUID(pk)
    except ValueError:
        return None
    # A moment without a zone was written by no one here.
    return (found, last) if isinstance(found, datetime) and found.tzinfo is not None else None
