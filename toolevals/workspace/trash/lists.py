"""Pages of what was deleted in a project: things of several kinds in one order, the last first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from django.db.models import Q
from django.utils.dateparse import parse_datetime

from toolevals.workspace.models import Project
from toolevals.workspace.paging import PAGE_SIZE
from toolevals.workspace.trash.kinds import TrashKind

_BETWEEN: Final = "_"
Moment = Literal["deleted_at", "destroyed_at"]


@dataclass(frozen=True, slots=True)
class TrashPage:
    """Some things with their kinds, and the cursor of the next ones; an empty cursor is the end."""

    rows: Sequence[tuple[TrashKind, Any]]
    older: str


def trash_page(
    kinds: Iterable[TrashKind], project: Project, before: str, *, destroyed: bool = False, size: int = PAGE_SIZE
) -> TrashPage:
    """Return what lies in the trash, or with `destroyed` the tombstones, before a cursor.

    What is no cursor counts as none. Of each kind no more is read than a page holds.
    """
    at: Moment = "destroyed_at" if destroyed else "deleted_at"
    older = _older(before, at)
    found: list[tuple[TrashKind, Any]] = []
    for kind in kinds:
        rows = kind.rows(project).filter(older, deleted_at__isnull=False, destroyed_at__isnull=not destroyed)
        found += ((kind, row) for row in rows.order_by(f"-{at}", "-pk")[: size + 1])
    found.sort(key=lambda each: (getattr(each[1], at), each[1].pk), reverse=True)
    last = found[size - 1][1] if len(found) > size else None
    return TrashPage(found[:size], "" if last is None else f"{getattr(last, at).isoformat()}{_BETWEEN}{last.pk}")


def _older(before: str, at: Moment) -> Q:
    moment, _, pk = before.partition(_BETWEEN)
    try:
        found, last = parse_datetime(moment), UUID(pk)
    except ValueError:
        return Q()
    # A moment without a zone was written by nobody here.
    if not isinstance(found, datetime) or found.tzinfo is None:
        return Q()
    return Q(**{f"{at}__lt": found}) | Q(**{at: found, "pk__lt": last})
