"""Write down the tools of gold that has not been read yet. Made from what never changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from labeling.coverage.expected import ANY_CALL, NO_CALL, answering_tool, expected_tools
from labeling.coverage.nearest import nearest_tools
from labeling.expectations.offered_tools import Offers
from labeling.models import (
    Dataset,
    DatasetVersion,
    GoldTool,
    Resolution,
    Revision,
    ToolPart,
    VersionEntry,
)
from toolevals.grading.values import ToolSpec
from toolevals.workspace.jobs import Lease

AT_ONCE = 500


def gold_in_force(dataset: Dataset) -> QuerySet[Revision]:
    """Return the current revisions of a dataset that are resolved by gold: what coverage counts."""
    return Revision.objects.current().filter(example__dataset=dataset, resolution=Resolution.RESOLVED)


def unread(dataset: Dataset) -> QuerySet[Revision]:
    """Return those whose gold has not been read."""
    return gold_in_force(dataset).filter(gold__isnull=False, gold__tools=None)


def gold_read(dataset: Dataset, lease: Lease | None = None) -> int:
    """Read the gold that has not been read, a page in each transaction; return how many were read."""
    offers, done, last = Offers(), 0, None
    while page := _page(dataset, last):
        rows = list(_rows(page, offers))
        with lease.transaction() if lease else transaction.atomic():
            GoldTool.objects.bulk_create(rows, ignore_conflicts=True)
        done, last = done + len(page), page[-1][0]
    return done


def entries_unread(version: DatasetVersion) -> QuerySet[VersionEntry]:
    """Return the entries of a frozen version whose gold has not been read: it need not be in force any more."""
    return VersionEntry.objects.filter(version=version, gold__tools=None)


def entries_read(version: DatasetVersion, most: int) -> None:
    """Read the gold of so many entries of a frozen version that has not been read."""
    offers = Offers()
    told = ("pk", "gold_id", "gold__expectation", "revision__tools_id", "revision__input")
    found = list(entries_unread(version).order_by("position").values_list(*told)[:most])
    for start in range(0, len(found), AT_ONCE):
        GoldTool.objects.bulk_create(_rows(found[start : start + AT_ONCE], offers), ignore_conflicts=True)


def _page(dataset: Dataset, after: UUID | None) -> list[Any]:
    rows = unread(dataset).filter(pk__gt=after) if after else unread(dataset)
    return list(rows.order_by("pk").values_list("pk", "gold_id", "gold__expectation", "tools_id", "input")[:AT_ONCE])


def _rows(page: Sequence[Any], offers: Offers) -> Iterator[GoldTool]:
    lists = offers.of(tools for _, _, _, tools, _ in page)
    for _, gold, expectation, tools, shown in page:
        expected = expected_tools(expectation, lists[tools])
        for name, kinds in expected.items():
            marked = f",{','.join(sorted(kinds))}," if kinds else ""
            yield GoldTool(gold_id=gold, part=ToolPart.EXPECTED, tool=name[:200], kinds=marked)
        if NO_CALL in expected:
            for part, name in _near(expectation, shown, lists[tools]):
                yield GoldTool(gold_id=gold, part=part, tool=name[:200])
        answered = answering_tool(shown.get("messages") if isinstance(shown, dict) else None)
        for name in [answered] if answered else expected.keys() - {NO_CALL, ANY_CALL}:
            yield GoldTool(gold_id=gold, part=ToolPart.ANSWERED, tool=name[:200])


def _near(expectation: Any, shown: Any, tools: Mapping[str, ToolSpec]) -> Iterator[tuple[ToolPart, str]]:
    """Yield the offered tools that a request without a call comes near: as the gold says, else by an estimate."""
    if named := [name for name in expectation.get("near", ()) if name in tools]:
        yield from ((ToolPart.NEAR, name) for name in named)
    elif isinstance(shown, dict):
        yield from ((ToolPart.ESTIMATED, name) for name in nearest_tools(shown.get("messages"), tools))
