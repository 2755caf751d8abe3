"""Tell what is exported, a dataset as it is now or a frozen version of it, row by row, and what came of it.

Only gold leaves: labels that no one has resolved do not pass here. Rows come with their documents as stored text, so
that a format that writes them as they are never parses them, and memory does not grow with their number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import UUID

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from labeling.blindness import RESOLVED
from labeling.examples.shown_strata import NOTHING_HIDDEN
from labeling.models import Dataset, DatasetVersion, Example, VersionEntry
from toolevals.grading.values import Expectation, ToolSpec
from toolevals.grading.values.canonical import parse
from toolevals.grading.values.verdicts import EXPECTED
from toolevals.json_types import JsonObject
from toolevals.registry.models import ToolList
from toolevals.registry.tool_lists import tools_in

# So many are named; all are counted.
LISTED = 100


AT_ONCE = 1000


class Inexpressible(ValueError):  # noqa: N818 - nothing is wrong: the format has no words for it
    """An example that has no form in the format; the text is the reason."""


@dataclass(slots=True)
class Outcome:
    """Counts that grow while the export is written."""

    written: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    listed: list[dict[str, str]] = field(default_factory=list)

    def skip(self, external_id: str, reason: str) -> None:
        """Note that an example was left out."""
        self.skipped[reason] += 1
        if len(self.listed) < LISTED:
            self.listed.append({"id": external_id, "reason": reason})

    def note(self, reason: str) -> None:
        """Note that an example was written and lost something."""
        self.notes[reason] += 1

    def to_document(self) -> JsonObject:
        """Return counts by reason, and the first examples left out."""
        return {
            "written": self.written,
            "skipped": self.skipped.total(),
            "skipped_by_reason": dict(self.skipped.most_common()),
            "notes": dict(self.notes.most_common()),
            "skipped_examples": self.listed,
        }


@dataclass(frozen=True, slots=True)
class Row:
    """One example: ids, stored texts of its documents, its strata. `expectation` is None where there is no gold.

    `decided_by` is the example's own, empty where it has none; in a frozen version it is the entry's, empty for
    EXPECTED.
    """

    example: UUID
    revision: UUID
    external_id: str
    input: str
    tools: UUID
    expectation: str | None
    rationale: str
    gold_source: str
    origin: str | None
    decided_by: str
    strata: dict[str, str]

    @property
    def content(self) -> JsonObject:
        """The input document."""
        value: JsonObject = parse(self.input)
        return value

    @property
    def gold(self) -> Expectation | None:
        """The expectation in force."""
        return None if self.expectation is None else Expectation.from_document(parse(self.expectation))


@dataclass(frozen=True, slots=True)
class Selection:
    """The examples to export."""

    dataset: Dataset
    version: DatasetVersion | None = None
    # Strata that are left out where an example is not resolved. A version holds gold, and hides nothing.
    hidden: frozenset[str] = NOTHING_HIDDEN

    @property
    def name(self) -> str:
        """Return what its files are called: made of slugs and numbers."""
        return f"{self.dataset.slug}-{self.version.number}" if self.version else self.dataset.slug

    @property
    def size(self) -> int:
        """Return how many examples there are."""
        return self.version.size if self.version else Example.objects.of_dataset(self.dataset).count()

    def rows(self) -> Iterator[Row]:
        """Yield the examples, in the order of import, or the version's."""
        *columns, strata = self._columns()
        examples = self._base().values_list(*columns, *strata).iterator(chunk_size=AT_ONCE)
        known = len(columns)
        for *values, resolution in examples:
            hidden = NOTHING_HIDDEN if self.version or resolution in RESOLVED else self.hidden
            named = zip(Example.STRATA, values[known:], strict=True)
            said = {name: value for name, value in named if value and name not in hidden}
            decided_by = "" if hidden or (self.version and values[known - 1] == EXPECTED) else values[known - 1]
            yield Row(*(*values[: known - 1], decided_by, said))

    def revision_ids(self) -> Iterator[list[UUID]]:
        """Yield the revisions' ids in the order of their examples' ids, so many at a time as a query can name."""
        ids: QuerySet[Any, UUID] = (
            self.version.entries.order_by("revision__example").values_list("revision", flat=True)
            if self.version
            else Example.objects.of_dataset(self.dataset).order_by("id").values_list("current", flat=True)
        )
        revisions = ids.iterator(chunk_size=AT_ONCE)
        while part := list(islice(revisions, AT_ONCE)):
            yield part

    def _base(self) -> QuerySet[Any]:
        if self.version:
            return VersionEntry.objects.filter(version=self.version).order_by("position")
        return Example.objects.of_dataset(self.dataset).order_by("id")

    def _columns(self) -> tuple[Any, ...]:
        example, revision, gold = (
            ("revision__example__", "revision__", "gold__") if self.version else ("", "current__", "current__gold__")
        )
        return (
            f"{example}id",
            f"{revision}id",
            f"{example}external_id",
            Cast(f"{revision}input", TextField()),
            f"{revision}tools",
            Cast(f"{gold}expectation", TextField()),
            f"{gold}rationale",
            f"{gold}source",
            Cast(f"{revision}origin__document", TextField()),
            "decided_by",
            [*(f"{example}{name}" for name in Example.STRATA), f"{revision}resolution"],
        )


class ToolLists(dict[UUID, tuple[ToolSpec, ...]]):
    """The specs of tool lists, by id: most examples share a few."""

    KEPT = 1000

    def __missing__(self, pk: UUID) -> tuple[ToolSpec, ...]:
        if len(self) >= self.KEPT:
            self.clear()
        specs = tools_in(ToolList.objects.get(pk=pk))
        self[pk] = specs
        return specs
