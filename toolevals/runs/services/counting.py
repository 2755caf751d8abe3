"""Count a grading's cases by cell and by all that they can be narrowed by, once, in one pass over them."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Case, Value, When

from toolevals.grading.metrics.confusion import NO_MAJORITY
from toolevals.runs.counts.counted_cases import NO_COSTS, Cell, ClassSums, Context, Costs, Counted, Unit, View
from toolevals.runs.models import CountedCases, Grading, PlacedCase
from toolevals.runs.services.case_tallies import CaseTallies
from toolevals.runs.services.counting_cases import One, examples_of
from toolevals.runs.services.example_sums import class_sums, class_sums_document, class_sums_of, first_call_sums
from toolevals.runs.services.turns import turns_write
from toolevals.workspace.bulk import rows_insert, tables_analyze

_OUTSIDE: Final[Cell] = ("", "")
COUNTED_COLUMNS: Final = ("grading_id", "view", "unit", "document", "numbers", "costs")
PLACED_COLUMNS: Final = ("grading_id", "view", "unit", "cell", "case_id")
# Where a matrix's document keeps the sums over its examples.
SUMS: Final = "sums"
Kind = tuple[View, Unit]
_Key = tuple[int, Cell]


@dataclass(slots=True)
class _Matrix:
    """One matrix on its way; `placed` are the cells and ids of cases whose rows don't tell where they stand."""

    counts: Counter[_Key] = field(default_factory=Counter)
    costs: dict[_Key, Costs] = field(default_factory=dict)
    placed: tuple[list[Cell], bytearray] = field(default_factory=lambda: ([], bytearray()))
    # The cells of an example, and how many examples have these.
    examples: Counter[tuple[Cell, ...]] = field(default_factory=Counter)

    def add(self, one: One, cells: Sequence[Cell], *, place: bool) -> None:
        for cell in cells or (_OUTSIDE,):
            key = one.context, cell
            self.counts[key] += 1
            if one.costs is not NO_COSTS:
                before = self.costs.get(key, NO_COSTS)
                self.costs[key] = tuple(said + more for said, more in zip(before, one.costs, strict=True))  # type: ignore[assignment]
            if place and cells:
                self.placed[0].append(cell)
                self.placed[1].extend(one.id.bytes)


@dataclass(frozen=True, slots=True)
class CountedGrading:
    """Every matrix of a grading, and what PlacedCase holds next to each: places of cells, and ids of cases."""

    matrices: dict[Kind, Counted]
    placed: dict[Kind, tuple[array[int], bytearray]]
    # Of the matrices in which an example may stand several times, but that of first calls.
    sums: dict[Kind, ClassSums]

    def placed_rows(self, grading: Grading) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of PlacedCase."""
        for (view, unit), (places, ids) in self.placed.items():
            for number, place in enumerate(places):
                yield grading.pk, view.value, unit.value, place, UUID(bytes=bytes(ids[16 * number : 16 * number + 16]))


def cases_count(grading: Grading, tallies: CaseTallies | None = None) -> CountedGrading:
    """Read and return the cases of a grading, counted; `tallies` take them in on the way."""
    units = (Unit.TRIAL, Unit.MAJORITY) if grading.run.trials > 1 else (Unit.TRIAL,)
    contexts: dict[Context, int] = {}
    matrices = {(View.FIRST, unit): _Matrix() for unit in units}
    views: tuple[View, ...] = (View.FIRST,)
    for trials in examples_of(grading, contexts, tallies):
        if len(views) == 1 and not all(one.agrees for one in trials):
            # Until here every view was the same.
            views = tuple(View)
            matrices |= {(view, unit): deepcopy(matrices[View.FIRST, unit]) for view in views[1:] for unit in units}
        for view in views:
            matrices[view, Unit.TRIAL].examples[_together(trials, view)] += 1
            for one in trials:
                several = view is View.SET and len(one.cells[View.ALIGNED]) > 1
                matrices[view, Unit.TRIAL].add(one, one.cells[view], place=several)
            if len(units) > 1 and (majority := _majority(trials, view)) is not None:
                matrices[view, Unit.MAJORITY].add(*majority, place=True)
                matrices[view, Unit.MAJORITY].examples[majority[1]] += 1
    counted = {kind: Counted.of(tuple(contexts), each.counts, each.costs) for kind, each in matrices.items()}
    placed = {kind: _placed(counted[kind], each) for kind, each in matrices.items()}
    sums = {kind: class_sums(each.examples.items()) for kind, each in matrices.items() if kind[0] is not View.FIRST}
    return CountedGrading(counted, placed, sums)


def _together(trials: Sequence[One], view: View) -> tuple[Cell, ...]:
    """Return the cells of all trials of an example, in an order that does not depend on that of the trials."""
    if len(trials) == 1:
        return trials[0].cells[view]
    return tuple(sorted(cell for one in trials for cell in one.cells[view]))


def _placed(counted: Counted, matrix: _Matrix) -> tuple[array[int], bytearray]:
    places = {counted.cell(place): place for place in range(len(counted.cells[0]))}
    return array("I", (places[cell] for cell in matrix.placed[0])), matrix.placed[1]


def counted_store(grading: Grading, counted: CountedGrading) -> None:
    """Keep the counts of a grading, inside a transaction."""
    rows = (
        (
            grading.pk,
            view.value,
            unit.value,
            matrix.to_document() | _sums_document(counted.sums.get((view, unit))),
            matrix.to_bytes(),
            matrix.costs_to_bytes(),
        )
        for (view, unit), matrix in counted.matrices.items()
    )
    rows_insert(CountedCases, COUNTED_COLUMNS, rows)
    rows_insert(PlacedCase, PLACED_COLUMNS, counted.placed_rows(grading))
    tables_analyze(PlacedCase, keys_only=True)


def counted_sums(grading: Grading, view: View, unit: Unit) -> ClassSums:
    """Return the sums over examples of each class of a matrix; nothing where no example stands in it twice.

    Of a grading from before they were kept the cases are counted again.
    """
    if view is View.FIRST:
        return first_call_sums(grading) if unit is Unit.TRIAL else {}
    row = _kept(grading, view, unit, costs=False)
    if row is None or View(row.view) is View.FIRST:
        return first_call_sums(grading) if unit is Unit.TRIAL else {}
    if (document := row.document.get(SUMS)) is None:
        counted = cases_count(grading)
        for kept in CountedCases.objects.filter(grading=grading).exclude(view=View.FIRST):
            kept.document |= _sums_document(counted.sums.get((View(kept.view), Unit(kept.unit)), {}))
            kept.save(update_fields=["document"])
        document = class_sums_document(counted.sums.get((View(row.view), Unit(row.unit)), {}))
    return class_sums_of(document)


def _sums_document(sums: ClassSums | None) -> dict[str, Any]:
    return {} if sums is None else {SUMS: class_sums_document(sums)}


def counted_ensure(grading: Grading) -> None:
    """Count a finished grading from before counts were kept; a second time changes nothing."""
    turns_write(grading.run)
    counted = cases_count(grading)
    with transaction.atomic():
        Grading.objects.select_for_update().get(pk=grading.pk)
        if not CountedCases.objects.filter(grading=grading).exists():
            counted_store(grading, counted)


def counted_cases(grading: Grading, view: View, unit: Unit, *, costs: bool = False) -> tuple[Kind, Counted]:
    """Return a matrix of a finished grading, and under which view and unit it is kept, with its costs if asked for.

    A grading from before counts were kept is counted now.
    """
    kept = _kept(grading, view, unit, costs)
    if kept is None:
        counted_ensure(grading)
        kept = _kept(grading, view, unit, costs)
    assert kept is not None
    counted = Counted.from_document(kept.document, bytes(kept.numbers), bytes(kept.costs) if costs else b"")
    return (View(kept.view), Unit(kept.unit)), counted


def _kept(grading: Grading, view: View, unit: Unit, costs: bool) -> CountedCases | None:
    """Return the row that stands for a view and unit: see CountedCases."""
    rows = CountedCases.objects.filter(
        grading=grading, view__in={view, View.FIRST}, unit__in={unit, Unit.TRIAL}
    ).order_by(
        Case(When(view=view, then=Value(0)), default=Value(1)), Case(When(unit=unit, then=Value(0)), default=Value(1))
    )
    return (rows if costs else rows.defer("costs")).first()


def _majority(trials: list[One], view: View) -> tuple[One, tuple[Cell, ...]] | None:
    """Return the case that stands for an example, and what more than half of its trials did.

    Where they don't agree, the first trial, in its row under `(no majority)`; None where no trial has a place.
    """
    placed = [one for one in trials if one.cells[view]]
    if not placed:
        return None
    if all(one.cells[view] == placed[0].cells[view] for one in placed):
        return placed[0], placed[0].cells[view]
    counts = Counter(one.cells[view] for one in placed)
    agreed = next((cells for cells, count in counts.items() if 2 * count > len(placed)), None)
    if agreed is None:
        return placed[0], tuple((expected, NO_MAJORITY) for expected, _ in placed[0].cells[view])
    return next(one for one in placed if one.cells[view] == agreed), agreed
