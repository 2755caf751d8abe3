"""Show how far reviewers agree: figures, tools by tools, over time, each against decisions.

The cases behind, and CSV.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from labeling.agreement import page
from labeling.agreement.all_pairs import BLOCK
from labeling.agreement.cache import agreement_counted, labels_read
from labeling.agreement.cases import UnitFilter, case_page, cases, names_of
from labeling.agreement.filters import Filters
from labeling.agreement.matrix import chart_document, tool_matrix
from labeling.agreement.report import Agreement
from labeling.agreement.units import Unit
from labeling.models import Dataset
from labeling.services.resolution import settle_due
from labeling.views.agreement_rows import case_rows, subject_of
from labeling.views.strata import strata_choices
from toolevals.presentation.csv import Cell
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.models import Membership, Role
from toolevals.workspace.requests import ProjectRequest

ARGUMENTS_SHOWN = 30
CASES_A_CHUNK = 300


@require_GET
def agreement(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Show how far the labels of a dataset's resolved examples agree."""
    dataset_row = _dataset(request, dataset)
    settle_due(project=request.project)
    filters = _filters(request)
    counted = agreement_counted(dataset_row, filters, actor=request.user)
    context: dict[str, Any] = {
        "dataset": dataset_row,
        "here": "agreement",
        "counted": counted,
        "filters": filters,
        "query": filters.query(),
        "strata": strata_choices(dataset_row, filters.strata, request.role),
        "guidelines": dataset_row.guidelines.order_by("-number").values_list("number", flat=True)[:50],
        "reviewers": _people(request),
    }
    if counted.agreement is not None:
        context |= _drawn(request, dataset_row, counted.agreement, filters)
    return render(request, "labeling/agreement.html", context)


@require_GET
def agreement_cases(request: ProjectRequest, dataset: str) -> HttpResponse:
    """List the examples behind a number of the agreement page."""
    dataset_row = _dataset(request, dataset)
    labels_read(dataset_row)
    filters, unit_filter = _filters(request), _unit_filter(request)
    shown = case_page(dataset_row, filters, unit_filter, request.GET.get("before", ""))
    context = {
        "dataset": dataset_row,
        "here": "agreement",
        "unit_filter": unit_filter,
        "subject": subject_of(unit_filter, filters),
        "page": shown,
        "rows": case_rows(shown.units),
        "query": filters.query(),
        "own_query": urlencode({**filters.parameters, **unit_filter.parameters}),
    }
    return render(request, "labeling/agreement_cases.html", context)


@require_GET
def agreement_csv(request: ProjectRequest, dataset: str) -> StreamingHttpResponse:
    """Send the figures; with `?form=`, the matrix, the periods or the reviewers."""
    dataset_row = _dataset(request, dataset)
    counted = agreement_counted(dataset_row, _filters(request), actor=request.user).agreement
    form = request.GET.get("form", "")
    columns: Sequence[str] = page.FIGURES_CSV
    rows: Iterable[Sequence[Cell]] = page.figure_lines(counted) if counted else ()
    if form == "matrix":
        columns, rows = page.MATRIX_CSV, page.matrix_lines(counted) if counted else ()
    elif form == "periods":
        columns, rows = page.PERIODS_CSV, page.period_lines(counted) if counted else ()
    elif form == "reviewers":
        told = page.shown_reviewers(counted, request.user, request.role) if counted else {}
        columns, rows = page.REVIEWERS_CSV, page.reviewer_lines(counted, told) if counted else ()
    else:
        form = "figures"
    return csv_file(f"{dataset_row.slug}-agreement-{form}", columns, rows)


@require_GET
def agreement_cases_csv(request: ProjectRequest, dataset: str) -> StreamingHttpResponse:
    """Send the labels of the units that are asked for, a row a label."""
    dataset_row = _dataset(request, dataset)
    labels_read(dataset_row)
    return csv_file(
        f"{dataset_row.slug}-agreement-cases",
        page.CASES_CSV,
        _case_lines(dataset_row, _filters(request), _unit_filter(request)),
    )


def _case_lines(dataset: Dataset, filters: Filters, unit_filter: UnitFilter) -> Iterable[Sequence[Cell]]:
    waiting: list[Unit] = []
    for unit in cases(dataset, filters, unit_filter):
        waiting.append(unit)
        if len(waiting) == CASES_A_CHUNK:
            yield from _named_lines(waiting)
            waiting = []
    yield from _named_lines(waiting)


def _named_lines(units: Sequence[Unit]) -> Iterable[Sequence[Cell]]:
    names = names_of(units)
    for unit in units:
        example, name = names[unit.revision]
        yield from page.case_lines(unit, example, name)


def _drawn(request: ProjectRequest, dataset: Dataset, counted: Agreement, filters: Filters) -> dict[str, Any]:
    behind = reverse("labeling:agreement-cases", args=[request.project.slug, dataset.slug])
    matrix = tool_matrix(counted.cells, is_pair=filters.is_pair)
    addresses = [f"{behind}?{filters.query(one=cell.row, two=cell.column)}" for _, _, cell in matrix.filled]
    told = page.shown_reviewers(counted, request.user, request.role)
    by_argument = [
        (row, page.measured(row.argument, row.measures), filters.query(show="argument_differs", tool=row.tool,
                                                                       argument=row.argument))
        for row in counted.each_argument[:ARGUMENTS_SHOWN] if row.differ
    ]  # fmt: skip
    pairs = counted.pairs
    return {
        "agreement": counted,
        "pair_rows": page.pair_rows(pairs) if pairs and pairs.counted else [],
        "pairs_a_block": BLOCK,
        "behind": behind,
        "rows": [(row, filters.query(show=row.show)) for row in page.measured_rows(counted)],
        "matrix": matrix,
        "by_argument": by_argument,
        "more_arguments": len(counted.each_argument) - len(by_argument),
        "periods": [
            (one, page.day_words(one), page.in_percent(one.same_tool), page.in_percent(one.same_label),
             filters.between(one.since, one.until).query())
            for one in reversed(counted.periods)
        ],
        "people": [
            (told[row.reviewer], row, page.in_percent(row.right_tool), page.in_percent(row.right_label))
            for row in counted.reviewers if row.reviewer in told
        ],
        "document": {
            "matrix": chart_document(matrix, addresses) if matrix.names else None,
            "periods": page.periods_chart(counted.periods) if len(counted.periods) > 1 else None,
        },
    }  # fmt: skip


def _filters(request: ProjectRequest) -> Filters:
    return Filters.of_address(request.GET.dict(), names=request.role == Role.OWNER)


def _people(request: ProjectRequest) -> QuerySet[Membership]:
    """Return who may be chosen: by owners, the members who may label."""
    if request.role != Role.OWNER:
        return Membership.objects.none()
    rows = Membership.objects.filter(project=request.project, role__gte=Role.REVIEWER)
    return rows.select_related("user").order_by("user__name", "id")


def _unit_filter(request: ProjectRequest) -> UnitFilter:
    return UnitFilter.of_address(
        request.GET.dict(), of=page.comparable_person(request.user, request.role, request.GET.get("of", ""))
    )


def _dataset(request: ProjectRequest, slug: str) -> Dataset:
    rows = Dataset.objects.in_project(request.project).select_related("default_tools__registry", "project")
    return get_object_or_404(rows, slug=slug)
