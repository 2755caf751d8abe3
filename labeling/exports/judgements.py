"""Read what people said of examples elsewhere, as an export has it: of what is resolved, nothing else leaves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from uuid import UUID

from django.db.models import F

from labeling.blindness import is_resolved
from labeling.exports.selection import AT_ONCE, Row, Selection
from labeling.models import Comment, Dataset, Label
from toolevals.json_types import JsonObject


def with_judgements(selection: Selection) -> Iterator[tuple[Row, list[JsonObject]]]:
    """Yield each row with the labels and notes that its example has from elsewhere: none in a frozen version."""
    if selection.version or not _has_any(selection.dataset):
        yield from ((row, []) for row in selection.rows())
        return
    rows = selection.rows()
    while some := list(islice(rows, AT_ONCE)):
        found = _judgements_of([row.revision for row in some])
        yield from ((row, found.get(row.revision, [])) for row in some)


def _has_any(dataset: Dataset) -> bool:
    labels = Label.objects.filter(slot__dataset=dataset).exclude(external_author="")
    notes = Comment.objects.filter(revision__example__dataset=dataset).exclude(external_author="")
    return labels.exists() or notes.exists()


def _judgements_of(revisions: Iterable[UUID]) -> dict[UUID, list[JsonObject]]:
    found: dict[UUID, list[JsonObject]] = defaultdict(list)
    ids = list(revisions)
    labels = Label.objects.filter(is_resolved(), revision__in=ids, slot__round=F("revision__round")).standing()
    told = labels.exclude(external_author="").order_by("pk")
    for pk, author, expectation, why in told.values_list("revision", "external_author", "expectation", "rationale"):
        found[pk].append({"author": author, "expectation": expectation} | ({"text": why} if why else {}))
    notes = Comment.objects.filter(is_resolved(), revision__in=ids).exclude(external_author="").order_by("pk")
    for pk, author, text in notes.values_list("revision", "external_author", "text"):
        found[pk].append({"author": author, "text": text})
    return found
