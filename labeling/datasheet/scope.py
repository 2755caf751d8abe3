"""Tell what a datasheet is about: the examples of a frozen version, or those that the dataset holds now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from labeling.blindness import is_resolved
from labeling.coverage.index_gold_tools import entries_unread, gold_in_force, unread
from labeling.models import Dataset, DatasetVersion, Example, GoldTool, Label, Revision, ToolPart, VersionEntry
from labeling.querysets.labels import LabelQuerySet


@dataclass(frozen=True, slots=True)
class Scope:
    """A dataset, and one of its versions where that is meant. Reads are in SQL, whatever the size."""

    dataset: Dataset
    version: DatasetVersion | None = None

    @property
    def until(self) -> datetime | None:
        """The moment that counts; None is now."""
        return self.version.created_at if self.version else None

    @property
    def rows(self) -> QuerySet[Any]:
        """One row an example; lookups begin with `example`, `revision` or `gold`."""
        if self.version is not None:
            return VersionEntry.objects.filter(version=self.version).order_by()
        return Example.objects.of_dataset(self.dataset).filter(current__isnull=False).order_by()

    def example(self, field: str) -> str:
        """Return the lookup of a field of the example from `rows`."""
        return f"revision__example__{field}" if self.version else field

    def revision(self, field: str) -> str:
        """Return the lookup of a field of the revision from `rows`."""
        return f"revision__{field}" if self.version else f"current__{field}"

    def gold(self, field: str) -> str:
        """Return the lookup of a field of the gold from `rows`."""
        return f"gold__{field}" if self.version else f"current__gold__{field}"

    def revisions(self) -> QuerySet[Any, Any]:
        """Return the ids of the revisions, for a subquery."""
        return self.rows.values(*["revision" if self.version else "current"])

    def labels(self) -> LabelQuerySet:
        """Return the labels that stood at the moment that counts, of what is resolved: nothing else may be counted."""
        return Label.objects.filter(is_resolved(), revision__in=self.revisions()).standing(self.until).order_by()

    def tools(self) -> QuerySet[GoldTool]:
        """Return what the gold is about, as far as it was read."""
        rows: QuerySet[Any] = self.rows if self.version else gold_in_force(self.dataset).order_by()
        golds: QuerySet[Any, Any] = rows.values("gold")
        return GoldTool.objects.filter(part=ToolPart.EXPECTED, gold__in=golds).order_by()

    def unread(self) -> QuerySet[VersionEntry] | QuerySet[Revision]:
        """Return that whose gold was not read yet: it is not among `tools`."""
        return entries_unread(self.version) if self.version else unread(self.dataset)
