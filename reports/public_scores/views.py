"""Show published scores of a project, recorded by owners, with their history. No gate uses them.

docs/tables.md describes the table that is downloaded.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from reports.filters.case_filters import text
from reports.models import PublicScore
from reports.public_scores.queries import agent_names, published_row
from reports.public_scores.services import (
    COLUMNS,
    MOST_BYTES,
    PublicScoreForm,
    public_score_record,
    public_score_withdraw,
    public_scores_import,
    read_scores,
)
from toolevals.grading.values.problems import InvalidDocument
from toolevals.presentation.table import Column, Table
from toolevals.workspace.models import Role
from toolevals.workspace.requests import ProjectRequest, page_number
from toolevals.workspace.tables import table_file

# `ended_at` is empty of those in force.
SCORES: Final = Table(
    "PublishedScore",
    "One published score.",
    (
        Column("score_id", UUID, "score.pk"),
        *(Column(name, None, f"score.{name}") for name in COLUMNS),
        *(Column(end, float, f"shown.rate.{end}") for end in ("low", "high")),
        Column("recorded_at", datetime, "score.created_at"),
        Column("ended_at", datetime, "score.ended_at"),
    ),
)
SCORES_A_PAGE = 100


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
    scores = ({"score": score, "shown": published_row(score)} for score in rows.iterator(chunk_size=500))
    return table_file("benchmarks", SCORES, scores)
