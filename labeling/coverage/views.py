"""Show what a dataset covers: heat map and table, what to add next, CSV, and the quotas behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from labeling.adjudicate.resolution import settle_due
from labeling.coverage import page
from labeling.coverage.cache import Coverage, coverage_of
from labeling.coverage.counting import Counts, tools_to_cover
from labeling.coverage.forms import QuotasForm
from labeling.coverage.quotas import quotas_of, quotas_set
from labeling.examples.shown_strata import hidden_strata
from labeling.models import Dataset
from toolevals.presentation.csv import Cell
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.models import Role
from toolevals.workspace.requests import ProjectRequest


@require_GET
def coverage(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Show what a dataset's gold covers, against its quotas."""
    dataset_row = _dataset(request, dataset)
    settle_due(project=request.project)
    state = page.State.of_address(request.GET)
    covered = _covered(request, dataset_row)
    context: dict[str, Any] = {"dataset": dataset_row, "here": "coverage", "state": state, "coverage": covered}
    if covered.counts is not None:
        context |= _drawn(request, dataset_row, covered.counts, state)
    return render(request, "labeling/coverage.html", context)


@require_GET
def coverage_csv(request: ProjectRequest, dataset: str) -> StreamingHttpResponse:
    """Send the table, a row a cell; with `?form=next`, what to add next."""
    dataset_row = _dataset(request, dataset)
    state = page.State.of_address(request.GET)
    covered = _covered(request, dataset_row)
    is_next = request.GET.get("form") == "next"
    rows: Iterable[Sequence[Cell]] = ()
    if covered.counts is not None:
        told = covered.counts, quotas_of(dataset_row), tools_to_cover(dataset_row, covered.counts)
        rows = page.GAPS.rows(page.drawn(*told, state).gaps) if is_next else page.table_lines(*told, state.view)
    columns = page.GAPS.head if is_next else page.TABLE_CSV
    return csv_file(f"{dataset_row.slug}-{'to-add' if is_next else 'coverage'}", columns, rows)


@require_http_methods(["GET", "POST"])
def quotas(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Show a dataset's quotas; by POST, by adjudicators, change them."""
    dataset_row = _dataset(request, dataset)
    form = QuotasForm(request.POST or None, dataset=dataset_row)
    if request.method == "POST" and form.is_valid():
        quotas_set(dataset=dataset_row, actor=request.user, document=form.document)
        return redirect("labeling:coverage", request.project.slug, dataset_row.slug)
    if request.role < Role.ADJUDICATOR:
        for field in form.fields.values():
            field.disabled = True
    context = {"dataset": dataset_row, "here": "coverage", "form": form}
    return render(request, "labeling/quotas.html", context, status=422 if form.errors else 200)


def _covered(request: ProjectRequest, dataset: Dataset) -> Coverage:
    return coverage_of(dataset, actor=request.user).told(hidden_strata(dataset, request.role))


def _drawn(request: ProjectRequest, dataset: Dataset, counts: Counts, state: page.State) -> dict[str, Any]:
    shown = page.drawn(counts, quotas_of(dataset), tools_to_cover(dataset, counts), state)
    examples = reverse("labeling:dataset", args=[request.project.slug, dataset.slug])
    addresses = [[f"{examples}?{count.cell.query}" for count in row.cells] for row in shown.table.rows]
    return {
        "counts": counts,
        "table": shown.table,
        "shares": shown.shares,
        "gaps": shown.gaps[: page.GAPS_SHOWN],
        "gap_count": len(shown.gaps),
        "examples": examples,
        "document": page.chart_document(shown.table, addresses) if shown.table.rows else None,
    }


def _dataset(request: ProjectRequest, slug: str) -> Dataset:
    rows = Dataset.objects.in_project(request.project).select_related("default_tools__tools", "project")
    return get_object_or_404(rows, slug=slug)
