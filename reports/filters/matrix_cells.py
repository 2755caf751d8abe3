"""Tell which cases the filters let through, however many, and in which cell of the matrix each one stands."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.db import connections
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.expressions import RawSQL

from labeling.models import VersionEntry
from reports.filters.case_filters import EXAMPLE_STRATA, NOT, Filters, Split
from reports.filters.dividing import Classing, GoldValues, classing_of, expected_part_of, gold_values, part_of
from reports.filters.sums import effects_by_name, summed
from reports.issues.models import IssueCase
from toolevals.grading.values.canonical import canonical
from toolevals.json_types import JsonObject
from toolevals.runs.aggregates.cube import ClassSums, Counted, Unit, View
from toolevals.runs.aggregates.read_cases import Kind, counted_cases, counted_sums
from toolevals.runs.models import AlignedPair, CaseGrade, Grading, PlacedCase, RevisionTurn
from toolevals.workspace.requests import read_id

# (expected, actual) -> count
MatrixCounts = dict[tuple[str, str], int]
Cell = tuple[str, str]
_POSITION = "transcript__entry__position"
_CHUNK = 5000
_EXAMPLE = "transcript__entry__revision__example"


def among(cases: QuerySet[CaseGrade], ids: Collection[UUID]) -> QuerySet[CaseGrade]:
    """Return those of `cases` with these ids, which are sent as one parameter.

    It is one text, of 33 characters an id on PostgreSQL: a list costs the driver several objects for each.
    """
    if connections[cases.db].vendor == "postgresql":
        listed = ",".join(each.hex for each in ids)
        return cases.filter(pk__in=RawSQL("SELECT unnest(%s::uuid[])", [f"{{{listed}}}"]))
    return cases.filter(pk__in=RawSQL("SELECT value FROM json_each(%s)", [json.dumps([each.hex for each in ids])]))


@dataclass(frozen=True, slots=True)
class Placed:
    """Rows that each stand for a case in a cell: the row's columns that say which, and the way to its case."""

    rows: QuerySet[Any]
    columns: tuple[str, ...]
    to_case: str
    counted: Counted
    # What is expected of the argument that divides, if one does.
    expects: GoldValues | None = None

    def grouped(self, split: Split) -> QuerySet[Any, tuple[Any, ...]]:
        """Return the rows grouped by what `part` needs, and by cell."""
        divider: Any = Value("")
        if split is Split.ARGUMENTS:
            divider = F(f"{self.to_case}arguments")
        elif split is Split.VALUE:
            divider = F(f"{self.to_case}{_POSITION}")
        rows = self.rows.order_by().annotate(divider=divider)
        found: QuerySet[Any, tuple[Any, ...]] = rows.values_list("divider", *self.columns)
        return found

    def part(self, divider: Any, cell: Cell) -> str:
        """Return the part that a group counts in: a verdict on the arguments, an expected value, else ""."""
        return str(divider) if self.expects is None else self.expects.part(divider, cell[0])

    def narrowed(self, expected: list[str] | None, actual: list[str] | None) -> QuerySet[Any]:
        """Return the rows of these classes; None is any."""
        if self.columns == ("cell",):
            return self.rows.filter(cell__in=self.counted.places_of(expected, actual))
        wanted = {"expected__in": expected, "actual__in": actual}
        return self.rows.filter(**{name: held for name, held in wanted.items() if held is not None})

    def cases_in(self, rows: QuerySet[Any], part: str) -> Iterator[UUID]:
        """Yield the cases of rows that stand in a part."""
        found = rows.order_by().values_list(f"{self.to_case}pk", f"{self.to_case}{_POSITION}", *self.columns)
        for pk, position, *values in found.iterator(chunk_size=_CHUNK):
            if self.part(position, self.cell(tuple(values))) == part:
                yield pk

    def cell(self, values: tuple[Any, ...]) -> Cell:
        """Return the cell that values of the columns name."""
        return self.counted.cell(values[0]) if len(values) == 1 else (values[0], values[1])


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
    if filters.issue:
        issue = read_id(filters.issue) or UUID(int=0)
        found = IssueCase.objects.filter(Q(issue=issue) | Q(issue__merged_into=issue), grading=grading)
        cases = cases.filter(pk__in=found.order_by().values("case"))
    if filters.tools:
        effects = effects_by_name(grading)
        cases = cases.filter(expected__in=[name for name, effect in effects.items() if effect == filters.tools])
    if filters.turn is not None:
        turns = RevisionTurn.objects.filter(turn=filters.turn)
        cases = cases.filter(transcript__entry__revision__in=turns.values("revision"))
    if filters.gold:
        entries = VersionEntry.objects.filter(version=grading.dataset_version_id)
        source = filters.gold.removeprefix(NOT)
        of_source = Q(gold__source=source)
        entries = entries.filter(~of_source if filters.gold.startswith(NOT) else of_source)
        cases = cases.filter(transcript__entry__revision__in=entries.values("revision"))
    return among(cases, _called_with(cases, filters)) if filters.argument else cases


def matrix_counts(grading: Grading, filters: Filters) -> MatrixCounts:
    """Return how many cases, aligned pairs or examples stand in each cell, classes taken together and divided."""
    return classing_of(grading, filters).cells(tool_counts(grading, filters))


def matrix_sums(grading: Grading, filters: Filters) -> ClassSums:
    """Return the sums over examples of each tool of the whole matrix; nothing where every count is an example.

    Filters leave them as they are: intervals then take from them how much alike the trials and calls of an example are.
    """
    if filters.trial and filters.view is not View.ALIGNED:
        return {}
    return counted_sums(grading, filters.view, filters.unit)


def tool_counts(grading: Grading, filters: Filters) -> dict[str, MatrixCounts]:
    """Return the counts of the tools themselves, by what divides (see `Classing.cells`), else under ""."""
    sums = summed(grading, filters)
    if sums is None:
        return _read_counts(grading, filters)
    return {status: part.cells() for status, part in sums.parts(filters.split).items()}


def placed_cases(grading: Grading, filters: Filters) -> Iterator[Placed]:
    """Yield the rows of the filtered cases that have a place, for what only the database can count."""
    (view, unit), counted = counted_cases(grading, filters.view, filters.unit)
    cases = filtered_cases(grading, filters)
    expects = gold_values(grading, filters.split_argument) if filters.split is Split.VALUE else None
    if unit is Unit.TRIAL and view is View.FIRST:
        yield Placed(cases.exclude(expected=""), ("expected", "actual"), "", counted, expects)
        return
    chosen = cases.order_by().values("pk")
    if unit is Unit.TRIAL:
        pairs = AlignedPair.objects.filter(grading=grading, case__in=chosen)
        pairs = pairs if view is View.ALIGNED else _alone(pairs)
        yield Placed(pairs, ("expected", "actual"), "case__", counted, expects)
    if (view, unit) != (View.ALIGNED, Unit.TRIAL):
        yield Placed(_placed(grading, (view, unit)).filter(case__in=chosen), ("cell",), "case__", counted, expects)


def cell_cases(grading: Grading, filters: Filters, expected: str, actual: str) -> QuerySet[CaseGrade]:
    """Return the cases of a cell, or of a whole row or column where the other class is empty.

    Of an example that counts once, it is the first trial that did what most of them did, or the first of all.
    """
    cases = filtered_cases(grading, filters)
    if not (expected or actual):
        return cases
    if filters == Filters(bucket=filters.bucket, difficulty=filters.difficulty):
        return cases.filter(_given(expected=expected, actual=actual))
    kind, counted = counted_cases(grading, filters.view, filters.unit)
    actual, verdict = part_of(actual, filters.split)
    expected, value = expected_part_of(expected, filters.split)
    cases = cases.filter(_given(arguments=verdict))
    classing = classing_of(grading, filters)
    names = {"expected": _members(counted, classing, expected), "actual": _members(counted, classing, actual)}
    if value:
        placed = placed_cases(grading, filters)
        return among(cases, {pk for each in placed for pk in each.cases_in(each.narrowed(**names), value)})
    wanted = {f"{name}__in": held for name, held in names.items() if held is not None}
    if kind == (View.ALIGNED, Unit.TRIAL):
        return cases.filter(pk__in=AlignedPair.objects.filter(**wanted, grading=grading).values("case"))
    if kind == (View.FIRST, Unit.TRIAL):
        return cases.filter(**wanted)
    found = _placed(grading, kind).filter(cell__in=counted.places_of(names["expected"], names["actual"])).values("case")
    if kind == (View.SET, Unit.TRIAL):
        alone = _alone(AlignedPair.objects.filter(**wanted, grading=grading))
        return cases.filter(pk__in=alone.values("case").union(found, all=True))
    return cases.filter(pk__in=found)


def _read_counts(grading: Grading, filters: Filters) -> dict[str, MatrixCounts]:
    """Count what isn't counted beforehand: one query for each kind of row."""
    found: defaultdict[str, Counter[Cell]] = defaultdict(Counter)
    for placed in placed_cases(grading, filters):
        rows = placed.grouped(filters.split).annotate(count=Count("*"))
        for divider, *values, count in rows.iterator(chunk_size=_CHUNK):
            cell = placed.cell(tuple(values))
            found[placed.part(divider, cell)][cell] += count
    return {part: dict(cells) for part, cells in found.items()} or {"": {}}


def _placed(grading: Grading, kind: Kind) -> QuerySet[PlacedCase]:
    return PlacedCase.objects.filter(grading=grading, view=kind[0], unit=kind[1])


def _alone(pairs: QuerySet[AlignedPair]) -> QuerySet[AlignedPair]:
    """Return the pairs that are the only one of their case: it stands as a set where the pair does."""
    return pairs.filter(~Exists(AlignedPair.objects.filter(case=OuterRef("case"), number=1)), number=0)


def _members(counted: Counted, classing: Classing, name: str) -> list[str] | None:
    """Return the classes that a class stands for; None where it is any."""
    if not name:
        return None
    return [each for each in counted.classes if each and classing.class_of(each) == name]


def _called_with(cases: QuerySet[CaseGrade], filters: Filters) -> list[UUID]:
    """Return the cases in which some call had the argument, with the value if one is asked for. Reads every case."""
    rows = cases.order_by().values_list("pk", "detail")
    return [pk for pk, detail in rows.iterator(chunk_size=500) if _has_value(detail, filters.argument, filters.value)]


def _has_value(detail: JsonObject, path: str, value: str) -> bool:
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
