"""Show published scores of a project, recorded by owners, with their history. No gate uses them.

docs/tables.md describes the table that is downloaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from reports.filters.case_filters import text
from reports.models import PublicScore
from reports.public_scores.compared_runs import agent_names, published_row
from reports.public_scores.reading import COLUMNS, MOST_BYTES, PublicScoreForm, read_scores
from reports.services import public_score_record, public_score_withdraw, public_scores_import
from toolevals.grading.values.problems import InvalidDocument
from toolevals.presentation.csv import Cell
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.models import Role
from toolevals.workspace.requests import ProjectRequest, page_number

SCORES: Final = ("score_id", *COLUMNS, "low", "high", "recorded_at", "ended_at")
SCORES_A_PAGE = 100


def scores(rows: Iterable[PublicScore]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each score; `ended_at` is empty of those in force."""
    for score in rows:
        counted = published_row(score).rate
        yield (
            str(score.pk),
            *(getattr(score, name) for name in COLUMNS[:6]),
            score.published_on.isoformat(),
            score.source,
            counted.low if counted else None,
            counted.high if counted else None,
            score.created_at,
            score.ended_at,
        )


@require_http_methods(["GET", "HEAD", "POST"])
def benchmarks(request: ProjectRequest) -> HttpResponse:
    """List published scores, in force or with their history; by POST, record one."""
    form = PublicScoreForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        public_score = public_score_record(project=request.project, actor=request.user, score=form.cleaned_data)
        messages.success(request, f"Recorded: {public_score} of {public_score.agent}.")
        return redirect("reports:benchmarks", request.project.slug)
    return _page(request, form, [])


@require_POST
def benchmarks_import(request: ProjectRequest) -> HttpResponse:
    """Record the scores of a CSV file, all or none."""
    upload = request.FILES.get("file")
    try:
        if upload is None:
            raise InvalidDocument.at("", "choose a CSV file")
        made = public_scores_import(
            project=request.project, actor=request.user, scores=read_scores(upload.read(MOST_BYTES + 1))
        )
    except InvalidDocument as error:
        return _page(request, PublicScoreForm(), [_words(each.pointer, each.message) for each in error.problems])
    messages.success(request, f"{len(made)} scores are recorded.")
    return redirect("reports:benchmarks", request.project.slug)


def _words(pointer: str, message: str) -> str:
    line, _, column = pointer.removeprefix("/").partition("/")
    return f"line {line}, {column}: {message}" if column else f"line {line}: {message}" if line else f"file: {message}"


def _page(request: ProjectRequest, form: PublicScoreForm, problems: list[str]) -> HttpResponse:
    history = request.GET.get("history") == "all"
    rows = PublicScore.objects.in_project(request.project)
    rows = rows if history else rows.in_force()
    page = page_number(text(request.GET, "page"))
    start = (page - 1) * SCORES_A_PAGE
    shown = list(rows[start : start + SCORES_A_PAGE + 1])
    context = {
        "rows": [(score, published_row(score)) for score in shown[:SCORES_A_PAGE]],
        "history": history,
        "before": page - 1,
        "more": page + 1 if len(shown) > SCORES_A_PAGE else 0,
        "form": form,
        "problems": problems,
        "columns": COLUMNS,
        "names": agent_names(request.project) if request.role >= Role.OWNER else (),
    }
    return render(request, "reports/benchmarks.html", context, status=422 if form.errors or problems else 200)


@require_POST
def benchmark_withdraw(request: ProjectRequest, score: UUID) -> HttpResponse:
    """Take a score out of force."""
    row = get_object_or_404(PublicScore.objects.in_project(request.project), pk=score)
    public_score_withdraw(score=row, actor=request.user)
    return redirect("reports:benchmarks", request.project.slug)


@require_safe
def benchmarks_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the scores with their history."""
    rows = PublicScore.objects.in_project(request.project)
    return csv_file("benchmarks", SCORES, scores(rows.iterator(chunk_size=500)))
