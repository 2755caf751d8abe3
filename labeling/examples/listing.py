"""Find the examples of a list, filtered and sorted by what the reader may see, a page at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import F

from labeling.batches.overlap import Overlap
from labeling.coverage.table import Cell
from labeling.examples.models import ExampleQuerySet
from labeling.examples.shown_strata import hidden_strata
from labeling.examples.told import COMMENTS, FLAG, KEPT, LABELS, WHO, Reader
from labeling.models import Dataset, Example, GoldSource, Resolution
from toolevals.workspace.paging import Page, page_of, sought_page_of
from toolevals.workspace.requests import whole_number

LIST_SIZE = 100
FILTERS: Final = ("q", "status", "covers", "tool", "gold", "source", LABELS, WHO, FLAG, COMMENTS, KEPT, *Example.STRATA)
# What an index finds in order, and what is sorted only where few examples are left.
INDEXED: Final = ("id", "added")
COUNTED: Final = ("strata", "labels", "status", "gold", "flags", "comments")
SORTS: Final = frozenset(f"{sign}{name}" for name in (*INDEXED, *COUNTED) for sign in ("", "-"))
# More examples than this are sorted by nothing but an index.
SORT_MOST = 5000


def asked_of(data: Mapping[str, str]) -> dict[str, str]:
    """Return the filters and the sort that an address or a form names; what is not said is empty."""
    sort = data.get("sort", "")
    return {name: data.get(name, "")[:200] for name in FILTERS} | {"sort": sort if sort in SORTS else ""}


def query_of(asked: Mapping[str, str]) -> str:
    """Return the same as an address says it."""
    return urlencode({name: value for name, value in asked.items() if value})


@dataclass(frozen=True)
class ExampleList:
    """A dataset's examples as one reader is shown them: `every` one, and those that are `asked` for."""

    dataset: Dataset
    reader: Reader
    asked: Mapping[str, str]

    @property
    def every(self) -> ExampleQuerySet:
        """All examples of the dataset, with their status."""
        return Example.objects.of_dataset(self.dataset).seen_by(self.reader.user, self.reader.role)

    @property
    def is_filtered(self) -> bool:
        return any(self.asked[name] for name in FILTERS)

    def rows(self) -> ExampleQuerySet:
        """Return the examples that the filters find."""
        asked, hidden = dict(self.asked), hidden_strata(self.dataset, self.reader.role)
        rows = self.every.named_like(asked["q"].strip()).in_strata(asked, hidden=hidden)
        rows = self.reader.filtered(rows, asked)
        cell = Cell.of_address(asked)
        rows = cell.examples(rows, hidden=hidden) if cell else rows
        rows = rows.with_gold_from(asked["source"]) if asked["source"] in GoldSource.values else rows
        return rows.in_status(asked["status"], self.reader.role) if asked["status"] in Resolution.values else rows

    @cached_property
    def is_too_long_to_sort(self) -> bool:
        """Tell whether the sort that is asked for needs a shorter list."""
        if self.asked["sort"].removeprefix("-") not in COUNTED:
            return False
        return self.rows().order_by()[: SORT_MOST + 1].count() > SORT_MOST

    def page(self, before: str, number: str, *, large: bool = True) -> Page[Example]:
        """Return a page in the order that is asked for; its cursor is an id, or a page's number.

        Of a `large` dataset a page is found first and read then: SQLite would read and sort all of it.
        """
        sort = self.asked["sort"]
        if sort in ("", "-added") or self.is_too_long_to_sort:
            return self._newest(before) if large else page_of(self.rows().with_content(), before, LIST_SIZE)
        at = max(whole_number(number) or 1, 1)
        start = (at - 1) * LIST_SIZE
        pks = list(self._sorted(sort).values_list("pk", flat=True)[start : start + LIST_SIZE + 1])
        return Page(self._loaded(pks[:LIST_SIZE]), str(at + 1) if len(pks) > LIST_SIZE else "")

    def wanted(self, examples: Iterable[Example]) -> dict[UUID, int]:
        """Return how many labels each of some examples gets."""
        overlap = Overlap.of(self.dataset.project)
        return {
            each.pk: overlap.labels_for(each.external_id, each.current.round if each.current else 1)
            for each in examples
        }

    def _newest(self, before: str) -> Page[Example]:
        """Return a page by the newest; by what no index finds in order, first among the newest alone."""
        said = {name for name in FILTERS if self.asked[name]}
        rows = self.rows().only("pk")
        is_sought = said in ({"q"}, {LABELS})
        page = sought_page_of(rows, self.every, before, LIST_SIZE) if is_sought else page_of(rows, before, LIST_SIZE)
        return Page(self._loaded([each.pk for each in page.rows]), page.older)

    def _loaded(self, pks: Sequence[UUID]) -> list[Example]:
        """Return examples with their content, in this order."""
        found = {row.pk: row for row in self.every.with_content().filter(pk__in=pks)}
        return [found[pk] for pk in pks if pk in found]

    def _sorted(self, sort: str) -> ExampleQuerySet:
        name, rows = sort.removeprefix("-"), self.rows()
        if name in INDEXED:
            key = F("external_id" if name == "id" else "pk")
        else:
            rows, key = rows.annotate(sort_key=self.reader.sort_key(name, self.dataset)), F("sort_key")
        falling = sort.startswith("-")
        return rows.order_by(key.desc(nulls_last=True) if falling else key.asc(nulls_last=True), "-pk")
