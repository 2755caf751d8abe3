"""Read tags and notes on the cases of a grading, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from toolevals.runs.models import CaseGrade, CaseNote, CaseTag, Grading
from toolevals.workspace.requests import read_id

PAGE = 500
# Tags stand before notes. Kind -> its model, and the column of its words.
KINDS: dict[str, tuple[type[CaseTag | CaseNote], str]] = {"tag": (CaseTag, "tag"), "note": (CaseNote, "text")}


@dataclass(frozen=True, slots=True)
class RemarkPage:
    """Rows in the order of `cases.REMARKS`; `after` is where the next page begins, "" at the end."""

    rows: tuple[tuple[Any, ...], ...]
    after: str


def remark_page(grading: Grading, after: str = "") -> RemarkPage:
    """Return a page of the tags and notes on a run's cases; `after` is that of the page before."""
    kind, _, last = after.partition(":")
    kinds = list(KINDS)
    first = kinds.index(kind) if kind in KINDS else 0
    remarks = _remarks(grading, kinds[first])
    if (known := read_id(last)) is not None:
        remarks = remarks.filter(pk__gt=known)
    page = list(remarks[: PAGE + 1])
    rows = tuple(_rows(grading, kinds[first], page[:PAGE]))
    if len(page) > PAGE:
        return RemarkPage(rows, f"{kinds[first]}:{page[PAGE - 1].pk}")
    return RemarkPage(rows, f"{kinds[first + 1]}:" if first + 1 < len(kinds) else "")


def remark_rows(grading: Grading) -> Iterator[tuple[Any, ...]]:
    """Yield every row, a page at a time."""
    page = remark_page(grading)
    yield from page.rows
    while page.after:
        page = remark_page(grading, page.after)
        yield from page.rows


def _remarks(grading: Grading, kind: str) -> QuerySet[Any]:
    rows = KINDS[kind][0]._default_manager.filter(transcript__run=grading.run_id).order_by("pk")
    return rows.select_related("transcript__entry__revision__example", "actor").defer(
        "transcript__document", "transcript__entry__revision__input"
    )


def _rows(grading: Grading, kind: str, remarks: list[Any]) -> Iterator[tuple[Any, ...]]:
    cases = CaseGrade.objects.filter(grading=grading, transcript__in={each.transcript_id for each in remarks})
    ids = dict(cases.values_list("transcript", "pk"))
    for each in remarks:
        transcript = each.transcript
        revision = transcript.entry.revision
        whose = ids.get(transcript.pk), transcript.pk, revision.pk, revision.example.external_id, transcript.trial
        yield (
            *whose,
            each.pk,
            kind,
            getattr(each, KINDS[kind][1]),
            each.actor.name if each.actor else "",
            each.created_at,
        )
