"""Show what a lint of a dataset found: the newest report, what was let be, and linting again."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from labeling.errors import InvalidAct
from labeling.lint import page
from labeling.lint.services import finding_ignore, finding_restore, lint_failed, lint_running, lint_start
from labeling.models import Dataset, LintReport
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "POST"])
def lint(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Show the newest report; by POST, by adjudicators, lint again."""
    dataset_row = _dataset(request, dataset)
    if request.method == "POST":
        lint_start(dataset=dataset_row, actor=request.user)
        return redirect("labeling:lint", request.project.slug, dataset_row.slug)
    state, report = page.State.of_address(request.GET), _report(dataset_row)
    context = {
        "dataset": dataset_row,
        "here": "lint",
        "state": state,
        "report": report,
        "job": lint_running(dataset_row),
        "failed": lint_failed(dataset_row),
        "drawn": page.drawn(report.document, state) if report else None,
    }
    return render(request, "labeling/lint.html", context)


@require_GET
def lint_csv(request: ProjectRequest, dataset: str) -> StreamingHttpResponse:
    """Send the findings that the page's filters choose."""
    dataset_row = _dataset(request, dataset)
    report = _report(dataset_row)
    rows = page.lines(report.document, page.State.of_address(request.GET)) if report else iter(())
    return csv_file(f"{dataset_row.slug}-lint", page.CSV, rows)


@require_POST
def lint_ignore(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Let a finding be, with a reason; without one, show it again."""
    dataset_row = _dataset(request, dataset)
    key, reason = request.POST.get("key", ""), request.POST.get("reason")
    try:
        if reason is None:
            finding_restore(dataset=dataset_row, actor=request.user, key=key)
        else:
            finding_ignore(dataset=dataset_row, actor=request.user, key=key, reason=reason)
    except InvalidAct as error:
        messages.error(request, str(error))
    state = page.State.of_address(request.POST)
    response = redirect("labeling:lint", request.project.slug, dataset_row.slug)
    response["Location"] += f"?{state.query}&page={state.page}" if state.query else f"?page={state.page}"
    return response


def _report(dataset: Dataset) -> LintReport | None:
    return LintReport.objects.filter(dataset=dataset).order_by("-id").first()


def _dataset(request: ProjectRequest, slug: str) -> Dataset:
    rows = Dataset.objects.in_project(request.project).select_related("project", "default_tools__tools")
    return get_object_or_404(rows, slug=slug)
