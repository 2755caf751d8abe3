"""Pages of long lists, newest first, by the sortable public id: every page costs the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import models

Row = TypeVar("Row", bound=models.Model)
PAGE_SIZE = 50
# Of a list that is read whole, so many at a time.
ROWS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Some rows, and the cursor of the next ones; an empty cursor is the end."""

    rows: Sequence[Row]
    older: str


def page_of(rows: models.QuerySet[Row, Any], before: str, size: int = PAGE_SIZE) -> Page[Row]:
    """Return the newest rows that are older than the cursor `before`. What is no cursor counts as none."""
    try:
        older = rows.filter(pk__lt=UUID(before)) if before else rows
    except ValueError:
        older = rows
    found = list(older.order_by("-pk")[: size + 1])
    return Page(found[:size], str(found[size - 1].pk) if len(found) > size else "")


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
