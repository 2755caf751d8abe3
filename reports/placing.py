"""Which cases the filters let through, and in which cell of the matrix each one stands."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

from django.core.cache import cache
from django.db.models import Count, Q, QuerySet

from labeling.models import VersionEntry
from reports.filters import EXAMPLE_STRATA, Filters, Unit, View
from reports.offered import effects_by_name
from toolevals.grading.canonical import canonical
from toolevals.grading.metrics.classes import NO_MAJORITY, collapsed_class, collapsed_counts, set_class
from toolevals.runs.models import AlignedPair, CaseGrade, Grading, MatrixCount, RevisionTurn

# (expected, actual) -> count
MatrixCounts = dict[tuple[str, str], int]
Cell = tuple[str, str]
A_DAY = 24 * 3600
_EXAMPLE = "transcript__entry__revision__example"


def filtered_cases(grading: Grading, filters: Filters) -> QuerySet[CaseGrade]:
    """Return the cases of a grading that meet every condition, in no order yet."""
    cases = CaseGrade.objects.filter(
        _given(bucket=filters.bucket, difficulty=filters.difficulty, tag=filters.tag, arguments=filters.arguments),
        _given(**{f"{_EXAMPLE}__{name}": getattr(filters, name) for name in EXAMPLE_STRATA}),
        _when(filters),
        grading=grading,
    )
    if filters.trial:
        cases = cases.filter(transcript__trial=filters.trial - 1)
    if filters.tagged:
        cases = cases.filter(transcript__tags__tag=filters.tagged)
    if filters.tools:
        effects = effects_by_name(grading)
        cases = cases.filter(expected__in=[name for name, effect in effects.items() if effect == filters.tools])
    if filters.turn is not None:
        turns = RevisionTurn.objects.filter(turn=filters.turn)
        cases = cases.filter(transcript__entry__revision__in=turns.values("revision"))
    if filters.gold:
        entries = VersionEntry.objects.filter(version=grading.dataset_version_id, gold__source=filters.gold)
        cases = cases.filter(transcript__entry__revision__in=entries.values("revision"))
    return cases.filter(pk__in=_called_with(cases, filters)) if filters.argument else cases


def matrix_counts(grading: Grading, filters: Filters) -> MatrixCounts:
    """Return how many cases, aligned pairs or examples stand in each cell; namespaces are taken together as asked."""
    return collapsed_counts(_counts(grading, filters), filters.collapse)


def cell_cases(grading: Grading, filters: Filters, expected: str, actual: str) -> QuerySet[CaseGrade]:
    """Return the cases of a cell, or of a whole row or column where the other class is empty.

    Of an example that counts once, it is the first trial that did what most of them did, or the first of all.
    """
    cases = filtered_cases(grading, filters)
    if not (expected or actual):
        return cases
    if filters.unit is Unit.MAJORITY or filters.view is View.SET:
        shown = {"expected": expected, "actual": actual}
        cells = _placed(grading, filters)
        return cases.filter(pk__in=[pk for pk, placed in cells if _stands(placed, shown, filters)])
    wanted = _members(grading, filters, expected=expected, actual=actual)
    if filters.view is View.ALIGNED and expected and actual:
        return cases.filter(pk__in=AlignedPair.objects.filter(**wanted, grading=grading).values("case"))
    return cases.filter(**wanted)


def _counts(grading: Grading, filters: Filters) -> MatrixCounts:
    if filters.unit is Unit.MAJORITY or filters.view is View.SET:
        return _placed_counts(grading, filters)
    if filters.unfiltered:
        held = MatrixCount.objects.filter(grading=grading, view=filters.view)
        return {(expected, actual): each for expected, actual, each in held.values_list("expected", "actual", "count")}
    if filters.only_graded_strata:
        return _counted_strata(grading, filters)
    cases = filtered_cases(grading, filters)
    if filters.view is View.ALIGNED:
        rows: QuerySet[Any] = AlignedPair.objects.filter(grading=grading, case__in=cases.order_by().values("pk"))
    else:
        rows = cases.exclude(expected="")
    grouped = rows.order_by().values_list("expected", "actual").annotate(count=Count("*"))
    return {(expected, actual): count for expected, actual, count in grouped}


def _counted_strata(grading: Grading, filters: Filters) -> MatrixCounts:
    """Group in the order of the index over strata and cells, so that it alone answers; strata are summed here."""
    rows: QuerySet[Any] = CaseGrade.objects.exclude(expected="")
    if filters.view is View.ALIGNED:
        rows = AlignedPair.objects.all()
    rows = rows.filter(_given(bucket=filters.bucket, difficulty=filters.difficulty), grading=grading)
    cells: Counter[Cell] = Counter()
    grouped = rows.order_by().values_list("bucket", "difficulty", "expected", "actual").annotate(count=Count("*"))
    for _, _, expected, actual, count in grouped:
        cells[expected, actual] += count
    return dict(cells)


def _placed_counts(grading: Grading, filters: Filters) -> MatrixCounts:
    """Count cells that no database groups by; what is not filtered is kept, because a grading does not change."""
    key = f"reports:placed:{grading.pk}:{filters.view}:{filters.unit}"
    found: MatrixCounts | None = cache.get(key) if filters.unfiltered else None
    if found is None:
        kept = None if filters.unfiltered else set(filtered_cases(grading, filters).values_list("pk", flat=True))
        placed = _placed(grading, filters)
        found = dict(Counter(cell for pk, cells in placed if kept is None or pk in kept for cell in cells))
        if filters.unfiltered:
            cache.set(key, found, timeout=A_DAY)
    return found


def _placed(grading: Grading, filters: Filters) -> Iterator[tuple[UUID, tuple[Cell, ...]]]:
    """Yield cases with their cells: every case, or the one that stands for its example."""
    placed = _by_case(grading, filters.view)
    return _majorities(placed) if filters.unit is Unit.MAJORITY else ((pk, cells) for _, pk, cells in placed)


def _by_case(grading: Grading, view: View) -> Iterator[tuple[UUID, UUID, tuple[Cell, ...]]]:
    """Yield example, case and cells of every case that has a place, trial after trial of each example."""
    if view is View.FIRST:
        cases = CaseGrade.objects.filter(grading=grading).exclude(expected="")
        cases = cases.order_by("transcript__entry_id", "transcript__trial")
        rows = cases.values_list("transcript__entry_id", "pk", "expected", "actual")
        for entry, pk, expected, actual in rows.iterator():
            yield entry, pk, ((expected, actual),)
        return
    pairs = AlignedPair.objects.filter(grading=grading)
    pairs = pairs.order_by("case__transcript__entry_id", "case__transcript__trial", "case_id", "number")
    found = pairs.values_list("case__transcript__entry_id", "case_id", "expected", "actual").iterator()
    for (entry, pk), held in groupby(found, key=lambda row: row[:2]):
        cells = [(expected, actual) for _, _, expected, actual in held]
        if view is View.ALIGNED:
            yield entry, pk, tuple(sorted(cells))
        else:
            yield entry, pk, ((set_class(one for one, _ in cells), set_class(other for _, other in cells)),)


def _majorities(
    placed: Iterator[tuple[UUID, UUID, tuple[Cell, ...]]],
) -> Iterator[tuple[UUID, tuple[Cell, ...]]]:
    """Yield one case an example: what more than half of its trials did, else its row under `(no majority)`."""
    for _, trials in groupby(placed, key=lambda row: row[0]):
        held = [(pk, cells) for _, pk, cells in trials]
        counts = Counter(cells for _, cells in held)
        agreed = next((cells for cells, count in counts.items() if 2 * count > len(held)), None)
        if agreed is not None:
            yield next(pk for pk, cells in held if cells == agreed), agreed
        else:
            first, cells = held[0]
            yield first, tuple((expected, NO_MAJORITY) for expected, _ in cells)


def _stands(cells: tuple[Cell, ...], shown: dict[str, str], filters: Filters) -> bool:
    return any(
        shown["expected"] in ("", collapsed_class(expected, filters.collapse))
        and shown["actual"] in ("", collapsed_class(actual, filters.collapse))
        for expected, actual in cells
    )


def _members(grading: Grading, filters: Filters, **classes: str) -> dict[str, Any]:
    """Return the condition on the columns `expected` and `actual`: the tools that a class stands for."""
    found: dict[str, Any] = {name: value for name, value in classes.items() if value}
    if not filters.collapse:
        return found
    held = MatrixCount.objects.filter(grading=grading, view=filters.view)
    for name, value in list(found.items()):
        tools = held.order_by().values_list(name, flat=True).distinct()
        found[f"{name}__in"] = [tool for tool in tools if collapsed_class(tool, filters.collapse) == value]
        del found[name]
    return found


def _called_with(cases: QuerySet[CaseGrade], filters: Filters) -> list[UUID]:
    """Return the cases in which some call had the argument, with the value if one is asked for. Reads every case."""
    rows = cases.order_by().values_list("pk", "detail")
    return [pk for pk, detail in rows.iterator(chunk_size=500) if _has_value(detail, filters.argument, filters.value)]


def _has_value(detail: dict[str, Any], path: str, value: str) -> bool:
    given = (each for each in detail.get("differences", ()) if each["path"] == path and each["kind"] != "missing")
    return any(not value or value in (each["actual"], canonical(each["actual"])) for each in given)


def _when(filters: Filters) -> Q:
    found = Q()
    if filters.since:
        found &= Q(transcript__created_at__gte=datetime.combine(filters.since, time(), UTC))
    if filters.until:
        found &= Q(transcript__created_at__lt=datetime.combine(filters.until, time(), UTC) + timedelta(days=1))
    return found


def _given(**values: str) -> Q:
    return Q(**{name: value for name, value in values.items() if value})


def cells_of_cases(grading: Grading, filters: Filters) -> dict[Cell, list[UUID]]:
    """Return the cases behind each cell, namespaces taken together: a case once for each time that it counts there."""
    kept = set(filtered_cases(grading, filters).values_list("pk", flat=True))
    found: defaultdict[Cell, list[UUID]] = defaultdict(list)
    for pk, cells in _placed(grading, filters):
        for expected, actual in cells if pk in kept else ():
            found[collapsed_class(expected, filters.collapse), collapsed_class(actual, filters.collapse)].append(pk)
    return dict(found)
