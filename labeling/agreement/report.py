"""Work out all figures of a dataset with one set of filters, also as a document that can be kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from labeling.agreement import figures
from labeling.agreement.all_pairs import PairFigures
from labeling.agreement.figures import ArgumentMeasures, Measures
from labeling.agreement.filters import Filters
from labeling.agreement.periods import Period, periods_of
from labeling.agreement.reviewers import ReviewerFigures, reviewer_figures
from labeling.agreement.units import Unit
from toolevals.grading.metrics.rates import Estimate, Interval


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

    def to_document(self) -> dict[str, Any]:
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
    def from_document(cls, document: Mapping[str, Any]) -> Agreement:
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
