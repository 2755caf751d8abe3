"""Write examples, and labels, as CSV and as Parquet. Columns: docs/importing.md, docs/parquet.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet, TextField, Value
from django.db.models.functions import Cast

from labeling.blindness import is_resolved
from labeling.exports.plain_calls import exact_call
from labeling.exports.selection import Outcome, Row, Selection, ToolLists
from labeling.imports.readers.columns import NO_CALL, SOME_CALL
from labeling.models import Example, Label, SpareLabel
from toolevals.grading.values import Expectation
from toolevals.grading.values.canonical import exact, parse
from toolevals.presentation.csv import Cell, csv_stream
from toolevals.presentation.parquet import parquet_stream

EXAMPLE_COLUMNS: Mapping[str, type] = {
    **dict.fromkeys(("id", "user", "messages", "context", "expected_tool", "expected_args", "expectation"), str),
    **dict.fromkeys(("rationale", "gold_source", *Example.STRATA, "decided_by", "offered"), str),
    **dict.fromkeys(("example_id", "revision_id"), UUID),
}
LABEL_COLUMNS: Mapping[str, type] = {
    **dict.fromkeys(("id", "answer", "expected_tool", "expected_args", "expectation", "rationale"), str),
    "flagged": bool,
    "seconds": float,
    "labelled_at": datetime,
    "reviewer": str,
    **dict.fromkeys(("reviewer_id", "label_id", "example_id", "revision_id"), UUID),
    **dict.fromkeys(("kind", "external_author", "blindness"), str),
}


def example_table(selection: Selection, outcome: Outcome) -> Iterator[bytes]:
    """Return a CSV file with a row for every example."""
    return csv_stream(tuple(EXAMPLE_COLUMNS), _examples(selection, outcome))


def example_parquet(selection: Selection, outcome: Outcome) -> Iterator[bytes]:
    """Return the same as Parquet."""
    return parquet_stream(EXAMPLE_COLUMNS, _examples(selection, outcome))


def label_table(selection: Selection, outcome: Outcome) -> Iterator[bytes]:
    """Return a CSV file with a row for every label in force and every spare label of examples that are resolved."""
    return csv_stream(tuple(LABEL_COLUMNS), _labels(selection, outcome))


def label_parquet(selection: Selection, outcome: Outcome) -> Iterator[bytes]:
    """Return the same as Parquet."""
    return parquet_stream(LABEL_COLUMNS, _labels(selection, outcome))


def _examples(selection: Selection, outcome: Outcome) -> Iterator[Sequence[Cell]]:
    tools = _Names()
    for row in selection.rows():
        outcome.written += 1
        yield _example(row, tools[row.tools])


def _labels(selection: Selection, outcome: Outcome) -> Iterator[Sequence[Cell]]:
    # Asked for all at once, a planner that has not heard of new labels reads them all for each.
    for revisions in selection.revision_ids():
        for kind, found in (("label", _labels_of(revisions)), ("spare", _spares_of(revisions))):
            for name, answer, expectation, *rest, author in found:
                outcome.written += 1
                whose = (author, "unknown" if author else "")
                yield (name, answer, *_expected(expectation), expectation, *rest, kind, *whose)


def _labels_of(revisions: Sequence[UUID]) -> QuerySet[Label, tuple[Any, ...]]:
    labels = Label.objects.filter(is_resolved(), revision__in=revisions).standing()
    return _columns_of(labels.filter(slot__round=F("revision__round")), F("external_author"))


def _spares_of(revisions: Sequence[UUID]) -> QuerySet[SpareLabel, tuple[Any, ...]]:
    spares = SpareLabel.objects.filter(is_resolved(), revision__in=revisions, round=F("revision__round"))
    return _columns_of(spares, Value(""))


def _columns_of(labels: QuerySet[Any], external_author: F | Value) -> QuerySet[Any, tuple[Any, ...]]:
    return labels.order_by("revision__example", "id").values_list(
        "revision__example__external_id",
        "answer",
        Cast("expectation", TextField()),
        "rationale",
        "flagged",
        "seconds",
        "created_at",
        "reviewer__name",
        "reviewer",
        "id",
        "revision__example",
        "revision",
        external_author,
    )


def _example(row: Row, offered: str) -> Sequence[Cell]:
    content = row.content
    messages = content.get("messages", [])
    said = [m["content"] for m in messages if m.get("role") == "user" and isinstance(m.get("content"), str)]
    return (
        row.external_id,
        said[-1] if said else "",
        exact(messages),
        exact(content["context"]) if "context" in content else "",
        *_expected(row.expectation),
        row.expectation or "",
        row.rationale,
        row.gold_source,
        *(row.strata.get(name, "") for name in Example.STRATA),
        row.decided_by,
        offered,
        row.example,
        row.revision,
    )


@lru_cache(maxsize=1024)
def _expected(text: str | None) -> tuple[str, str]:
    """Return the expected tool and its arguments as JSON; these are empty where they are no plain values.

    Two people mostly say the same, and many examples expect no call: what was read is kept for a while.
    """
    if text is None:
        return "", ""
    expectation = Expectation.from_document(parse(text))
    if expectation.kind != "calls":
        return (NO_CALL if expectation.kind == "no_call" else SOME_CALL), ""
    if call := exact_call(expectation):
        return call.tool, exact(call.arguments)
    return next((call.tool for _, call in expectation.located_calls()), ""), ""


class _Names(dict[Any, str]):
    """The names of tool lists, by id."""

    def __init__(self) -> None:
        super().__init__()
        self.specs = ToolLists()

    def __missing__(self, pk: Any) -> str:
        if len(self) >= ToolLists.KEPT:
            self.clear()
        self[pk] = " ".join(spec.name for spec in self.specs[pk])
        return self[pk]
