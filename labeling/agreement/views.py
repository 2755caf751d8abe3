"""Show how far reviewers agree: figures, tools by tools, over time, each against decisions.

The cases behind, and CSV.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from labeling.adjudicate.resolution import settle_due
from labeling.agreement import report as page
from labeling.agreement.cache import agreement_counted, labels_read
from labeling.agreement.cases import UnitFilter, case_page, cases, names_of
from labeling.agreement.figures import BLOCK
from labeling.agreement.filters import Filters
from labeling.agreement.report import Agreement
from labeling.agreement.units import Unit
from labeling.conversation.turns import snippet
from labeling.examples.rows import strata_choices
from labeling.expectations.comparison import answer_words
from labeling.expectations.wording import summary
from labeling.models import Dataset, Label, LabelAnswer, Revision
from toolevals.presentation.csv import Cell
from toolevals.presentation.figures import HeatCell, heat_map
from toolevals.presentation.numbers import whole_percent
from toolevals.presentation.palettes import heat_step
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.models import Membership, Role, User
from toolevals.workspace.requests import ProjectRequest

# With more classes than this no one reads a table: those that differ most are drawn, the file holds all.
MOST_DRAWN = 40


SHOWN: Mapping[str, str] = {
    "tool_differs": "The tool differs",
    "tool_same": "The tool is the same",
    "label_differs": "The labels differ",
    "label_same": "The labels mean the same",
}
AGAINST: Mapping[str, str] = {
    "judged": "Decided by an adjudicator, labelled by",
    "tool_wrong": "Decided on another tool than",
    "label_wrong": "Decided differently from",
}
ARGUMENTS_SHOWN = 30
CASES_A_CHUNK = 300


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """In how many units a label chose `row` where another chose `column`; empty where in none."""

    row: str
    column: str
    count: int = 0
    of: int = 0

    @property
    def step(self) -> str:
        return heat_step(self.count, self.of, right=self.row == self.column) if self.count else "z"


@dataclass(frozen=True, slots=True)
class ToolMatrix:
    """Tool choices in order, and the cells of each row. Of a pair of people the rows are the one's, else both ways."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, tuple[MatrixCell, ...]], ...]
    hidden: int
    is_pair: bool

    @property
    def filled(self) -> list[tuple[int, int, MatrixCell]]:
        """The cells that hold something, with their places."""
        placed = [(down, cells) for down, (_, cells) in enumerate(self.rows)]
        return [(down, right, cell) for down, cells in placed for right, cell in enumerate(cells) if cell.count]


def tool_matrix(counts: Mapping[tuple[str, str], int], *, is_pair: bool, most: int = MOST_DRAWN) -> ToolMatrix:
    """Return the matrix of `Agreement.cells`: what differs most often first, what is no tool last."""
    both = dict(counts) if is_pair else {**counts, **{(two, one): count for (one, two), count in counts.items()}}
    rows: Counter[str] = Counter()
    differ: Counter[str] = Counter()
    for (one, two), count in both.items():
        rows[one] += count
        if one != two:
            differ[one] += count
            differ[two] += count
    every = sorted({name for key in both for name in key}, key=lambda name: (name[:1] == "(", -differ[name], name))
    shown = sorted(every, key=lambda name: (-differ[name], -rows[name]))[:most]
    names = tuple(name for name in every if name in set(shown))
    return ToolMatrix(
        names,
        tuple((one, tuple(MatrixCell(one, two, both.get((one, two), 0), rows[one]) for two in names)) for one in names),
        len(every) - len(names),
        is_pair,
    )


def chart_document(matrix: ToolMatrix, addresses: Sequence[str]) -> dict[str, Any]:
    """Return what the page's script draws: the chart, its cells, and the address behind each of `matrix.filled`."""
    held = [
        HeatCell(down, right, cell.step, str(cell.count), hover(cell, is_pair=matrix.is_pair))
        for down, right, cell in matrix.filled
    ]
    corner = ("the other said", "the one said") if matrix.is_pair else ("another said", "one said")
    # Every row and every column needs a cell.
    diagonal = {(cell.row, cell.column) for cell in held}
    blanks = [HeatCell(n, n, "", "", ()) for n in range(len(matrix.names)) if (n, n) not in diagonal]
    return {
        "rows": list(matrix.names),
        "columns": list(matrix.names),
        "cells": [[cell.row, cell.column] for cell in held],
        "chart": heat_map(matrix.names, matrix.names, [*held, *blanks], corner=corner),
        "addresses": list(addresses),
    }


def hover(cell: MatrixCell, *, is_pair: bool) -> tuple[str, ...]:
    """Return what a cell says about itself, line by line."""
    if cell.row == cell.column:
        told = [f"both said {cell.row}"]
    else:
        told = [f"one said {cell.row}", f"{'the other' if is_pair else 'another'} {cell.column}"]
    return (*told, f"{cell.count:,} of {cell.of:,}, {whole_percent(cell.count / cell.of)} % of the row")


@dataclass(frozen=True, slots=True)
class LabelWords:
    """One label: who (may be no one), and what in words."""

    who: str
    words: str


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One unit: its example's last words, what each label says and what was decided."""

    unit: Unit
    revision: Revision
    says: str
    said: tuple[LabelWords, ...]
    gold: str
    # The example shows other content now.
    superseded: bool


def subject_of(unit_filter: UnitFilter, filters: Filters) -> str:
    """Return what a list of cases is about, as a title."""
    if unit_filter.one and unit_filter.one == unit_filter.two:
        return f"Both said {unit_filter.one}"
    if unit_filter.one:
        return f"One said {unit_filter.one}, {'the other' if filters.is_pair else 'another'} {unit_filter.two}"
    if unit_filter.gold and unit_filter.of:
        name = User.objects.filter(pk=unit_filter.of).values_list("name", flat=True).first() or "somebody"
        return f"{AGAINST[unit_filter.gold]} {name}"
    if unit_filter.argument:
        verb = "differs" if unit_filter.show.endswith("differs") else "agrees"
        return f"{unit_filter.argument} of {unit_filter.tool} {verb}"
    return SHOWN.get(unit_filter.show, "All that can be compared")


def case_rows(units: Sequence[Unit]) -> list[CaseRow]:
    """Return the rows of units, read together."""
    revisions = Revision.objects.with_content().in_bulk([unit.revision for unit in units])
    labels = Label.objects.select_related("reviewer").in_bulk([label.pk for unit in units for label in unit.labels])
    return [_row(unit, revisions[unit.revision], [labels[label.pk] for label in unit.labels]) for unit in units]


def _row(unit: Unit, revision: Revision, labels: Sequence[Label]) -> CaseRow:
    if revision.gold is not None:
        gold = summary(revision.gold.expectation)
    else:
        gold = str(LabelAnswer(revision.set_aside_as).label) if revision.set_aside_as else ""
    return CaseRow(
        unit=unit,
        revision=revision,
        says=snippet(revision.input),
        said=tuple(LabelWords(label.author_name or "somebody", answer_words(label)) for label in labels),
        gold=gold,
        superseded=revision.example.current_id != revision.pk,
    )


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
        "has_elsewhere": Label.objects.filter(slot__dataset=dataset_row).exclude(external_author="").exists(),
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
    filters = _filters(request)
    counted = agreement_counted(dataset_row, filters, actor=request.user).agreement
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
    return csv_file(f"{_file_name(dataset_row, filters)}-{form}", columns, rows)


def _file_name(dataset: Dataset, filters: Filters) -> str:
    """Return how its files begin; it says where labels count that may not be blind."""
    return f"{dataset.slug}-agreement{'-with-elsewhere' * filters.elsewhere}"


@require_GET
def agreement_cases_csv(request: ProjectRequest, dataset: str) -> StreamingHttpResponse:
    """Send the labels of the units that are asked for, a row a label."""
    dataset_row = _dataset(request, dataset)
    labels_read(dataset_row)
    filters = _filters(request)
    return csv_file(
        f"{_file_name(dataset_row, filters)}-cases",
        page.CASES_CSV,
        _case_lines(dataset_row, filters, _unit_filter(request)),
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
    listed = [filters.between(one.since, one.until).query() for one in counted.periods]
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
            (page.day_words(one), page.in_percent(one.same_tool), page.in_percent(one.same_label), query)
            for one, query in zip(reversed(counted.periods), reversed(listed), strict=True)
        ],
        "people": [
            (told[row.reviewer], row, page.in_percent(row.right_tool), page.in_percent(row.right_label))
            for row in counted.reviewers if row.reviewer in told
        ],
        "pace": [
            (bar, filters.query(reviewer=str(bar.reviewer))) for bar in page.pace_bars(counted.reviewers, told)
        ],
        "document": {
            "matrix": chart_document(matrix, addresses) if matrix.names else None,
            "periods": page.periods_chart(counted.periods, [f"{behind}?{query}" for query in listed])
            if len(counted.periods) > 1 else None,
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
