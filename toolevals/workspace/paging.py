"""Cuts long lists into pages, newest first, by the sortable public id: every page costs the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import models
from django.db.models.functions import Cast

Row = TypeVar("Row", bound=models.Model)
PAGE_SIZE = 50
# Of a list that is read whole, so many at a time.
ROWS_AT_ONCE = 500
# So many of the newest rows are looked at one by one for those that no index finds.
LOOK_AT = 20_000


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Some rows, and the cursor of the next ones; an empty cursor is the end."""

    rows: Sequence[Row]
    older: str


def page_of(rows: models.QuerySet[Row, Any], before: str, size: int = PAGE_SIZE) -> Page[Row]:
    """Return the newest rows that are older than the cursor `before`. What is no cursor counts as none."""
    found = list(_older(rows, before).order_by("-pk")[: size + 1])
    return Page(found[:size], str(found[size - 1].pk) if len(found) > size else "")


def sought_page_of(
    rows: models.QuerySet[Row, Any],
    among: models.QuerySet[Row, Any],
    before: str,
    size: int = PAGE_SIZE,
    *,
    far: Callable[[], models.QuerySet[Row, Any]] | None = None,
    look_at: int = LOOK_AT,
) -> Page[Row]:
    """Return the same of `rows` that no index finds `among` many, such as those that hold a part of a text.

    Read in their order, all would be looked up one by one that are newer than the first that fits. So only the newest
    `look_at` are; where these do not fill the page, the database looks at all, in the way that is fastest for it. `far`
    returns the same rows asked for in a way that finds few among all.
    """
    last = _older(among, before).order_by("-pk").values_list("pk", flat=True)[look_at : look_at + 1].first()
    page = page_of(rows.filter(pk__gte=last) if last else rows, before, size)
    if page.older or not last:
        return page
    # By an order that no index has, or a planner that expects many would take the one by one again.
    unlike = _older(rows if far is None else far(), before).order_by(Cast("pk", models.TextField()).desc())
    return page_of(rows.filter(pk__in=list(unlike.values_list("pk", flat=True)[: size + 1])), before, size)


def _older(rows: models.QuerySet[Row, Any], before: str) -> models.QuerySet[Row, Any]:
    try:
        return rows.filter(pk__lt=UUID(before)) if before else rows
    except ValueError:
        return rows


def pages_of(rows: models.QuerySet[Row, Any], size: int = ROWS_AT_ONCE) -> Iterator[Sequence[Row]]:
    """Yield all rows in the order of `page_of`, some at a time: memory does not grow with their number."""
    page = page_of(rows, "", size)
    yield page.rows
    while page.older:
        page = page_of(rows, page.older, size)
        yield page.rows


def rows_of(rows: models.QuerySet[Row, Any]) -> Iterator[Row]:
    """Yield the rows of `pages_of`."""
    for page in pages_of(rows):
        yield from page
