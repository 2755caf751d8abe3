"""Work out all figures of a dataset with one set of filters, and write them for a page, as CSV, as a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from labeling.agreement import figures
from labeling.agreement.figures import ArgumentMeasures, Measures, PairFigures
from labeling.agreement.filters import Filters
from labeling.agreement.units import Period, ReviewerFigures, Unit, periods_of, reviewer_figures
from toolevals.grading.metrics.rates import Estimate, Interval
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.presentation.csv import Cell as CsvCell
from toolevals.presentation.figures import TrendPoint, trend
from toolevals.presentation.numbers import ABSENT, percent, span
from toolevals.workspace.models import Role, User
from toolevals.workspace.requests import read_id

NO_CLASSES = "not computed: values rarely repeat, so chance agreement cannot be estimated"
FIGURES_CSV = ("what", "tool", "argument", "figure", "value", "low", "high", "units", "reason")
MATRIX_CSV = ("one", "other", "units")
PERIODS_CSV = ("since", "until", "figure", "value", "low", "high", "units")
REVIEWERS_CSV = ("reviewer", "name", "labels", "median_seconds", "figure", "value", "low", "high", "judged")
CASES_CSV = ("example", "external_id", "revision", "round", "label", "reviewer", "tool", "same_tool", "same_label",
             "labelled_at")  # fmt: skip
# A narrow chart names no more days than this under its line.
DAYS_NAMED = 6
NAMES = ("percent", "kappa", "alpha", "ac1")


@dataclass(frozen=True, slots=True)
class Agreement:
    """The figures. `units` can be compared, `alone` have one label; `people` have a label among them.

    These count resolved examples. `pairs` counts every pair of first labels; it is None where filters are set, since a
    filter could single out one pair. `cells`: tools x tools -> units; of a pair of people the first name is the first
    person's, else they are in order.
    """

    labels: int
    units: int
    alone: int
    people: tuple[UUID, ...]
    tool: Measures
    whole: Measures
    arguments: Measures
    each_argument: tuple[ArgumentMeasures, ...]
    cells: Mapping[tuple[str, str], int]
    periods: tuple[Period, ...]
    reviewers: tuple[ReviewerFigures, ...]
    pairs: PairFigures | None = None

    def to_document(self) -> JsonObject:
        """Return what `from_document` takes."""
        return {
            "counts": [self.labels, self.units, self.alone],
            "people": [str(person) for person in self.people],
            "measures": [_measures(one) for one in (self.tool, self.whole, self.arguments)],
            "each_argument": [[r.tool, r.argument, r.differ, _measures(r.measures)] for r in self.each_argument],
            "cells": [[one, other, count] for (one, other), count in self.cells.items()],
            "periods": [_period(one) for one in self.periods],
            "reviewers": [
                [str(r.reviewer), r.labels, r.seconds, _estimate(r.right_tool), _estimate(r.right_label)]
                for r in self.reviewers
            ],
            "pairs": _pairs(self.pairs) if self.pairs else None,
        }

    @classmethod
    def from_document(cls, document: JsonMapping) -> Agreement:
        """Return the figures that `to_document` gave."""
        tool, whole, arguments = map(_read_measures, document["measures"])
        labels, units, alone = document["counts"]
        return cls(
            labels=labels,
            units=units,
            alone=alone,
            people=tuple(map(UUID, document["people"])),
            tool=tool,
            whole=whole,
            arguments=arguments,
            each_argument=tuple(
                ArgumentMeasures(name, argument, differ, _read_measures(found))
                for name, argument, differ, found in document["each_argument"]
            ),
            cells={(one, other): count for one, other, count in document["cells"]},
            periods=tuple(map(_read_period, document["periods"])),
            reviewers=tuple(
                ReviewerFigures(UUID(person), labels, seconds, _read_estimate(tools), _read_estimate(right))
                for person, labels, seconds, tools, right in document["reviewers"]
            ),
            pairs=_read_pairs(document["pairs"]) if document.get("pairs") else None,
        )


def agreement_of(
    units: Sequence[Unit], decided: Mapping[UUID, str], filters: Filters, pairs: PairFigures | None = None
) -> Agreement:
    """Return the figures of units of resolved examples; `decided` as in `reviewer_figures`."""
    compared = [unit for unit in units if unit.is_compared]
    if filters.reviewer is not None and filters.other is not None:
        cells = figures.pair_cells(compared, filters.reviewer, filters.other)
    else:
        cells = figures.cells(compared)
    return Agreement(
        labels=sum(len(unit.labels) for unit in units),
        units=len(compared),
        alone=len(units) - len(compared),
        people=tuple(sorted({label.reviewer for unit in units for label in unit.labels if label.reviewer})),
        tool=figures.measures(compared, lambda label: label.tool),
        whole=figures.measures(compared, lambda label: label.meaning),
        arguments=figures.all_arguments(compared),
        each_argument=tuple(figures.argument_measures(compared)),
        cells=cells,
        periods=tuple(periods_of(compared)),
        reviewers=tuple(reviewer_figures(units, decided)),
        pairs=pairs,
    )


def _measures(one: Measures) -> list[Any]:
    return [_estimate(each) if each else None for each in (one.percent, one.kappa, one.alpha, one.ac1)]


def _read_measures(values: list[Any]) -> Measures:
    percent, kappa, alpha, ac1 = values
    return Measures(
        _read_estimate(percent), _read_estimate(kappa) if kappa else None, _read_estimate(alpha), _read_estimate(ac1)
    )


def _pairs(one: PairFigures) -> list[Any]:
    return [one.counted, one.waiting, _measures(one.tool), _measures(one.whole)]


def _read_pairs(values: list[Any]) -> PairFigures:
    counted, waiting, tool, whole = values
    return PairFigures(counted, waiting, _read_measures(tool), _read_measures(whole))


def _estimate(one: Estimate) -> list[Any]:
    ends = [one.interval.low, one.interval.high] if one.interval else None
    return [one.value, ends, one.count, one.reason]


def _read_estimate(values: list[Any]) -> Estimate:
    value, ends, count, reason = values
    return Estimate(value, Interval(*ends) if ends else None, count, reason)


def _period(one: Period) -> list[Any]:
    return [one.since.isoformat(), one.until.isoformat(), _estimate(one.same_tool), _estimate(one.same_label)]


def _read_period(values: list[Any]) -> Period:
    since, until, same_tool, same_label = values
    return Period(
        date.fromisoformat(since), date.fromisoformat(until), _read_estimate(same_tool), _read_estimate(same_label)
    )


@dataclass(frozen=True, slots=True)
class Figure:
    """An estimate in words: `value` is a dash where there is none, and `reason` says why."""

    value: str
    span: str
    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """One thing compared, in words; `units` of it, and where those that differ are listed, as part of a query."""

    title: str
    percent: Figure
    kappa: Figure
    alpha: Figure
    ac1: Figure
    units: int
    show: str

    @property
    def coefficients(self) -> tuple[Figure, Figure, Figure]:
        return self.kappa, self.alpha, self.ac1


def measured_rows(agreement: Agreement) -> list[MeasuredRow]:
    """Return the rows of the summary."""
    return [
        measured("Tool choice", agreement.tool, "tool_differs"),
        measured("Arguments, where the tool is the same", agreement.arguments),
        measured("The whole label", agreement.whole, "label_differs"),
    ]


def pair_rows(figures: PairFigures) -> list[MeasuredRow]:
    """Return the rows of the summary of all pairs."""
    return [measured("Tool choice", figures.tool), measured("The whole label", figures.whole)]


def measured(title: str, measures: Measures, show: str = "") -> MeasuredRow:
    """Return one row."""
    kappa = coefficient(measures.kappa) if measures.kappa else Figure(ABSENT, "", 0, NO_CLASSES)
    return MeasuredRow(
        title,
        in_percent(measures.percent),
        kappa,
        coefficient(measures.alpha),
        coefficient(measures.ac1),
        measures.percent.count,
        show,
    )


def in_percent(one: Estimate) -> Figure:
    """Return a proportion in words, in percent."""
    ends = one.interval
    return Figure(percent(one.value), span(ends.low, ends.high) if ends else "", one.count, one.reason)


def coefficient(one: Estimate) -> Figure:
    """Return a coefficient of -1 to 1 in words, with two decimals."""
    ends = one.interval
    between = f"{ends.low:.2f} to {ends.high:.2f}" if ends else ""
    return Figure(ABSENT if one.value is None else f"{one.value:.2f}", between, one.count, one.reason)


def periods_chart(periods: Sequence[Period], addresses: Sequence[str]) -> JsonObject:
    """Return the chart of agreement on the tool over time, with its interval; `addresses` are behind its points."""
    step = -(-len(periods) // DAYS_NAMED)
    points = [
        _point(place, one, address, named=place % step == 0)
        for place, (one, address) in enumerate(zip(periods, addresses, strict=True))
    ]
    return trend([[point for point in points if point]], goal=None, token="ink")  # noqa: S106 (a colour)


def _point(place: int, one: Period, address: str, *, named: bool) -> TrendPoint | None:
    found, ends = one.same_tool, one.same_tool.interval
    if found.value is None or ends is None:
        return None
    said = f"{percent(found.value)} % the same tool ({span(ends.low, ends.high)})"
    label = f"{one.since.day} {one.since:%b}" if named else ""
    hover = day_words(one), said, f"{found.count:,} examples"
    return TrendPoint(place, label, 100 * found.value, 100 * ends.low, 100 * ends.high, hover, address)


@dataclass(frozen=True, slots=True)
class PaceBar:
    """One person's median seconds for a label as a bar, in percent of the slowest person's."""

    reviewer: UUID
    name: str
    labels: int
    seconds: float
    width: float


def pace_bars(reviewers: Sequence[ReviewerFigures], names: Mapping[UUID, str]) -> list[PaceBar]:
    """Return the pace of the people that `names` holds, the fastest first; nothing of one alone."""
    told = sorted((row for row in reviewers if row.reviewer in names), key=lambda row: (row.seconds, row.reviewer))
    most = max((row.seconds for row in told), default=0)
    if len(told) < 2 or not most:
        return []
    return [
        PaceBar(row.reviewer, names[row.reviewer], row.labels, row.seconds, round(100 * row.seconds / most, 1))
        for row in told
    ]


def day_words(period: Period) -> str:
    """Return the days of a period: "3 Mar 2026", "2 Mar to 8 Mar 2026"."""
    if period.since == period.until:
        return f"{period.until.day} {period.until:%b %Y}"
    return f"{period.since.day} {period.since:%b} to {period.until.day} {period.until:%b %Y}"


def figure_lines(agreement: Agreement) -> Iterator[Sequence[CsvCell]]:
    """Yield every figure as rows of FIGURES_CSV."""
    for what, found in (("tool", agreement.tool), ("label", agreement.whole), ("arguments", agreement.arguments)):
        yield from _figure_lines((what, "", ""), found)
    if agreement.pairs is not None:
        yield from _figure_lines(("tool_of_all_pairs", "", ""), agreement.pairs.tool)
        yield from _figure_lines(("label_of_all_pairs", "", ""), agreement.pairs.whole)
    for row in agreement.each_argument:
        yield from _figure_lines(("argument", row.tool, row.argument), row.measures)


def matrix_lines(agreement: Agreement) -> Iterator[Sequence[CsvCell]]:
    """Yield the cells of the matrix as rows of MATRIX_CSV; without a pair of people each two tools once."""
    for (one, other), count in sorted(agreement.cells.items()):
        yield one, other, count


def period_lines(agreement: Agreement) -> Iterator[Sequence[CsvCell]]:
    """Yield agreement over time as rows of PERIODS_CSV."""
    for one in agreement.periods:
        days = one.since.isoformat(), one.until.isoformat()
        for name, found in (("same_tool", one.same_tool), ("same_label", one.same_label)):
            yield *days, name, *_numbers(found)


def reviewer_lines(agreement: Agreement, names: Mapping[UUID, str]) -> Iterator[Sequence[CsvCell]]:
    """Yield the people that `names` holds, against decisions, as rows of REVIEWERS_CSV."""
    for row in agreement.reviewers:
        if row.reviewer in names:
            person = row.reviewer, names[row.reviewer], row.labels, row.seconds
            for name, found in (("right_tool", row.right_tool), ("right_label", row.right_label)):
                yield *person, name, *_numbers(found)


def case_lines(unit: Unit, example: UUID, external_id: str) -> Iterator[Sequence[CsvCell]]:
    """Yield a unit's labels as rows of CASES_CSV."""
    for label in unit.labels:
        yield (example, external_id, unit.revision, unit.round, label.pk, label.reviewer, label.tool,
               unit.has_same_tool, unit.has_same_label, label.at)  # fmt: skip


def _figure_lines(what: tuple[str, str, str], measures: Measures) -> Iterator[Sequence[CsvCell]]:
    for name, one in zip(NAMES, (measures.percent, measures.kappa, measures.alpha, measures.ac1), strict=True):
        if one is not None:
            yield *what, name, *_numbers(one), one.reason


def _numbers(one: Estimate) -> tuple[CsvCell, CsvCell, CsvCell, CsvCell]:
    ends = one.interval
    return one.value, ends.low if ends else None, ends.high if ends else None, one.count


def comparable_person(user: User, role: Role, asked: str) -> UUID | None:
    """Return the person whose labels are compared with decisions: owners may name anyone, others only themselves."""
    person = read_id(asked)
    return person if role == Role.OWNER or person == user.pk else None


def shown_reviewers(agreement: Agreement, user: User, role: Role) -> dict[UUID, str]:
    """Return the names of the people whose own figures are shown: everyone to owners, to others only themselves."""
    if role == Role.OWNER:
        return dict(User.objects.filter(pk__in=[row.reviewer for row in agreement.reviewers]).values_list("pk", "name"))
    return {user.pk: user.name}
