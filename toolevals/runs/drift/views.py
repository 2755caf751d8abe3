"""Begin checks of judges for drift, and show what came of them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.drift.reading import KINDS, DriftForm, again_page, drift_offers
from toolevals.runs.drift.results import COLUMNS, cases_again, counts_of, drift_rows
from toolevals.runs.drift.services import drift_begin
from toolevals.runs.models import DriftCheck, Judge
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "HEAD", "POST"])
def drift_new(request: ProjectRequest, judge: UUID) -> HttpResponse:
    """Show what can be asked again and what it takes; by POST, begin."""
    judge_row = get_object_or_404(Judge.objects.in_project(request.project).select_related("project"), pk=judge)
    offers = drift_offers(judge_row)
    form = DriftForm(offers, request.POST or None)
    if request.method == "POST" and form.is_valid():
        budget = form.cleaned_data["budget"]
        try:
            made = drift_begin(judge=judge_row, calibration=form.chosen, actor=request.user, budget=budget)
            return redirect("runs:drift", request.project.slug, made.pk)
        except InvalidDocument as error:
            form.add_problems(error)
    context = {"judge": judge_row, "form": form, "offers": offers}
    return render(request, "runs/drift_new.html", context, status=422 if form.errors else 200)


@require_safe
def drift(request: ProjectRequest, drift: UUID) -> HttpResponse:
    """Show how far a check is; once it is finished, what changed."""
    check = _check(request, drift)
    context: dict[str, Any] = {"check": check, "judge": check.judge, "counts": counts_of(check)}
    if context["counts"]:
        context |= {"kinds": KINDS, "listed": again_page(cases_again(check), request.GET)}
    return render(request, "runs/drift.html", context)


@require_safe
def drift_csv(request: ProjectRequest, drift: UUID) -> StreamingHttpResponse:
    """Send a line for each case of a check."""
    check = _check(request, drift)
    return csv_file(f"drift-{check.pk}", COLUMNS, drift_rows(check))


def _check(request: ProjectRequest, pk: UUID) -> Any:
    return get_object_or_404(DriftCheck.objects.in_project(request.project).with_spending(), pk=pk)
