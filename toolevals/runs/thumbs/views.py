"""Show what people think of a judge's verdicts, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from toolevals.grading.judging.raters import JUDGE
from toolevals.presentation.csv import Cell
from toolevals.runs.models import Judge, Thumb
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest

COLUMNS: Final = (
    "thumb_id",
    "case_id",
    "external_id",
    "run",
    "rubric",
    "person",
    "said",
    "note",
    "is_current",
    "created_at",
    "verdict",
)
KEYSET_PAGE = 1_000


@require_safe
def thumbs(request: ProjectRequest, judge: UUID) -> HttpResponse:
    """List what people say now of a judge's verdicts, the newest first."""
    row = _judge(request, judge)
    said, verdict = request.GET.get("said", ""), request.GET.get("verdict", "")
    rows = Thumb.objects.on(row).counted().with_verdicts()
    if verdict in JUDGE:
        rows = rows.filter(verdict=verdict)
    counts = {name: rows.filter(is_up=is_up).count() for name, is_up in (("up", True), ("down", False))}
    listed = rows.filter(is_up=said == "up") if said in ("up", "down") else rows
    context = {
        "judge": row,
        "page": page_of(listed, request.GET.get("before", "")),
        "counts": counts,
        "said": said if said in ("up", "down") else "",
        "verdict": verdict if verdict in JUDGE else "",
    }
    return render(request, "runs/thumbs.html", context)


@require_safe
def thumbs_csv(request: ProjectRequest, judge: UUID) -> StreamingHttpResponse:
    """Send every thumb that was ever given to a judge, those that others took the place of too."""
    row = _judge(request, judge)
    return csv_file(f"judge-{row.pk}-thumbs", COLUMNS, _rows(Thumb.objects.on(row).with_verdicts().order_by("pk")))


def _rows(thumbs: Any) -> Iterator[tuple[Cell, ...]]:
    page = list(thumbs[:KEYSET_PAGE])
    while page:
        for thumb in page:
            yield (
                thumb.pk,
                thumb.case_id,
                thumb.case.transcript.entry.revision.example.external_id,
                thumb.case.grading.run.number,
                thumb.rubric,
                thumb.person.name if thumb.person else "",
                thumb.words,
                thumb.note,
                thumb.is_current,
                thumb.created_at,
                thumb.verdict,
            )
        page = list(thumbs.filter(pk__gt=page[-1].pk)[:KEYSET_PAGE])


def _judge(request: ProjectRequest, pk: UUID) -> Judge:
    row: Judge = get_object_or_404(Judge.objects.in_project(request.project), pk=pk)
    return row
