"""Count a grading's cases by cell and by all that they can be narrowed by, once, in one pass over them."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple, Self
from uuid import UUID

from django.db import transaction
from django.db.models import Case, Exists, FilteredRelation, OuterRef, Q, QuerySet, Value, When

from labeling.models import VersionEntry
from toolevals.grading.metrics.confusion import NO_MAJORITY, set_class
from toolevals.grading.values import MalformedCall, Transcript
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.json_types import JsonObject
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.aggregates.cube import (
    NO_COSTS,
    PRICE_UNITS,
    Cell,
    ClassSums,
    Context,
    Costs,
    Counted,
    Unit,
    View,
)
from toolevals.runs.aggregates.packed_cases import Packed, Packing
from toolevals.runs.aggregates.sums import class_sums, class_sums_document, class_sums_of, first_call_sums
from toolevals.runs.aggregates.transcript_sums import TranscriptSums, transcript_sums
from toolevals.runs.models import AlignedPair, CaseGrade, CountedCases, Grading, PlacedCase, RevisionTurn, Run
from toolevals.runs.queries import tools_offered
from toolevals.workspace.bulk import rows_insert, tables_analyze


class SeenCase(NamedTuple):
    """A case as the counting pass reads it; `statuses` are in the order of VERDICT_NAMES."""

    trial: int
    expected: str
    actual: str
    statuses: tuple[str, ...]
    decided_by: str
    measured: str


class CaseTallies:
    """The cases packed, how many are decided by what, and the measured texts of each example's trials.

    `texts` counts the examples whose trials have the same texts, in the order of the trials. `sums` are those over the
    run's transcripts. `has_several_calls` is known once a case is read.
    """

    has_several_calls = False

    def __init__(self, grading: Grading) -> None:
        self.sums = transcript_sums(grading.run)
        self.decided_by: Counter[str] = Counter()
        self.texts: Counter[tuple[str, ...]] = Counter()
        self._packing = Packing(grading.run.positions, grading.run.trials)
        # One object for each text, as the same come again and again.
        self._known: dict[str, str] = {}

    def add(self, position: int, cases: Sequence[SeenCase]) -> None:
        """Take in the cases of the example at a position of the dataset version."""
        known = self._known
        self.texts[tuple([known.setdefault(case.measured, case.measured) for case in cases])] += 1
        for case in cases:
            self.decided_by[case.decided_by] += 1
            self._packing.add(position, case.trial, case.expected, case.actual, case.statuses)

    def packed(self) -> Packed:
        """Return the cases packed."""
        return self._packing.packed()


_FIRST: Final = itemgetter(0)
_Cells = dict[View, tuple[Cell, ...]]
# The place among first calls, and the first aligned pair.
# Rows that are read at once.
_CHUNK = 5000
_CELLS: Final = ("expected", "actual", "beside__expected", "beside__actual")
_NO_PAIR: Final = (None, None)
_NOWHERE: Final[_Cells] = dict.fromkeys(View, ())


@dataclass(slots=True)
class One:
    """A case as it is counted: the number of its context, and its cells in each view, one for each call in ALIGNED."""

    id: UUID
    context: int
    costs: Costs
    cells: _Cells

    @property
    def agrees(self) -> bool:
        """Return whether it stands in one and the same cell in every view."""
        return self.cells is _NOWHERE or self.cells[View.SET] is self.cells[View.FIRST]


def examples_of(
    grading: Grading, contexts: dict[Context, int], tallies: CaseTallies | None = None
) -> Iterator[list[One]]:
    """Yield the cases of each example, trial after trial, and number their contexts; `tallies` take them in, too."""
    told = _Told.of(grading, tallies.sums if tallies else transcript_sums(grading.run))
    later = _later_pairs(grading)
    if tallies is not None:
        tallies.has_several_calls = bool(later)
    more = () if tallies is None else ("decided_by", "measured")
    rows = _cases(grading, (*_CELLS, *told.costs, *told.columns, *more)).iterator(chunk_size=_CHUNK)
    start = 2 + len(_CELLS) + len(told.costs)
    trial, statuses = start + told.columns.index("transcript__trial"), start + told.columns.index(VERDICT_NAMES[0])
    for position, found in groupby(rows, key=itemgetter(1)):
        trials = list(found)
        if tallies is not None:
            end = statuses + len(VERDICT_NAMES)
            seen = [SeenCase(row[trial], row[2], row[3], row[statuses:end], row[-2], row[-1]) for row in trials]
            tallies.add(position, seen)
        facts = told.facts(position)
        examples = []
        for row in trials:
            context = told.context(row[start:], facts)
            costs = _costs(*row[6:start]) if told.costs else NO_COSTS
            cells = _cells_of(row[2:4], row[4:6], later.get(row[0], ()))
            examples.append(One(row[0], contexts.setdefault(context, len(contexts)), costs, cells))
        yield examples


@dataclass(frozen=True, slots=True)
class _Told:
    """The columns that are read of each case, and the values that are the same for all."""

    columns: tuple[str, ...]
    costs: tuple[str, ...]
    day: str | None
    turns: dict[int, int]
    golds: dict[int, str]

    @classmethod
    def of(cls, grading: Grading, sums: TranscriptSums) -> Self:
        """Return what a grading's cases differ in. Of days and costs nothing is read where they tell nothing."""
        day = _day(sums.first) if sums.first else ""
        same_day = not sums.last or day == _day(sums.last)
        of_revision = dict(_turns(grading.run.dataset_version_id))
        golds = dict(_entries(grading.dataset_version_id, "revision", "gold__source"))
        places = _entries(grading.run.dataset_version_id, "position", "revision")
        return cls(
            columns=("bucket", "difficulty", "tag", "mode", "transcript__ended", "transcript__trial", *VERDICT_NAMES)
            + (() if same_day else ("transcript__created_at",)),
            costs=("transcript__cost", "transcript__tokens_in", "transcript__tokens_out") if sums.any_spent else (),
            day=day if same_day else None,
            turns={place: of_revision[revision] for place, revision in places if revision in of_revision},
            golds={place: golds[revision] for place, revision in places if revision in golds},
        )

    def facts(self, position: int) -> tuple[int | None, str | None]:
        """Return turn and source of gold of an example."""
        return self.turns.get(position), self.golds.get(position)

    def context(self, row: tuple[Any, ...], facts: tuple[int | None, str | None]) -> Context:
        """Return the context of a case from its `columns`."""
        day = _day(row[len(self.columns) - 1]) if self.day is None else self.day
        return (*row[:5], day, row[5] + 1, *facts, *row[6 : 6 + len(VERDICT_NAMES)])


def _later_pairs(grading: Grading) -> dict[UUID, tuple[Cell, ...]]:
    """Return the aligned pairs after the first of the cases that have any, by the case's id."""
    rows = _later(grading).iterator(chunk_size=_CHUNK)
    # Cases that are alike share one object: there may be as many as there are cases.
    alike: dict[tuple[Cell, ...], tuple[Cell, ...]] = {}
    found = (
        (pk, tuple((expected, actual) for _, expected, actual in group)) for pk, group in groupby(rows, key=_FIRST)
    )
    return {pk: alike.setdefault(cells, cells) for pk, cells in found}


def _cells_of(first: Cell, beside: tuple[str | None, str | None], later: tuple[Cell, ...]) -> _Cells:
    """Return the cells of a case from its place among first calls, its first aligned pair and those after it."""
    if not later and beside == (first if first[0] else _NO_PAIR):
        return _everywhere(*first) if first[0] else _NOWHERE
    return _cells(first, later if beside == _NO_PAIR else (beside, *later))


@lru_cache(maxsize=50_000)
def _cells(first: Cell, pairs: tuple[Cell, ...]) -> _Cells:
    """Return where a case stands in each view that has several calls, none, or one that is not its first."""
    sets = ((set_class(one for one, _ in pairs), set_class(other for _, other in pairs)),) if pairs else ()
    return {View.FIRST: (first,) if first[0] else (), View.ALIGNED: tuple(sorted(pairs)), View.SET: sets}


@lru_cache(maxsize=50_000)
def _everywhere(expected: str, actual: str) -> _Cells:
    """Return the cells of a case that stands in one in every view: the same object, which tells it at a glance."""
    same = ((expected, actual),)
    return dict.fromkeys(View, same)


def _costs(cost: float | None, told: int | None, out: int | None) -> Costs:
    if cost is None and told is None:
        return NO_COSTS
    tokens = told + out if told is not None and out is not None else 0
    return (cost is not None) + 0, round((cost or 0.0) * PRICE_UNITS), (told is not None) + 0, tokens


def _entries(version: UUID, *columns: str) -> QuerySet[VersionEntry, Any]:
    return VersionEntry.objects.filter(version=version).order_by().values_list(*columns)


def _turns(version: UUID) -> QuerySet[RevisionTurn, Any]:
    turns = RevisionTurn.objects.filter(revision__in=_entries(version, "revision"))
    return turns.values_list("revision", "turn")


def _later(grading: Grading) -> QuerySet[AlignedPair, Any]:
    pairs = AlignedPair.objects.filter(grading=grading, number__gt=0).order_by("case_id", "number")
    return pairs.values_list("case_id", "expected", "actual")


def _cases(grading: Grading, columns: tuple[str, ...]) -> QuerySet[CaseGrade, Any]:
    """Return a grading's cases, example by example, trial after trial: id, position, and some columns."""
    beside = FilteredRelation("pairs", condition=Q(pairs__number=0))
    cases = CaseGrade.objects.filter(grading=grading).annotate(beside=beside)
    cases = cases.order_by("transcript__entry__position", "transcript__trial", "pk")
    return cases.values_list("pk", "transcript__entry__position", *columns)


def _day(moment: datetime) -> str:
    return moment.astimezone(UTC).date().isoformat()


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


def _sums_document(sums: ClassSums | None) -> JsonObject:
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


AT_ONCE = 2000
_first = itemgetter(0)


def turns_write(run: Run) -> None:
    """Write at which turn the examples of the run's version stand, where that is not written yet.

    It follows from what the revisions show, so that workers who race write the same.
    """
    part = _missing(run)
    while part:
        # In one order, so that workers who race never wait for each other.
        rows = [RevisionTurn(revision_id=pk, turn=turn_of(document)) for pk, document, _ in sorted(part, key=_first)]
        RevisionTurn.objects.bulk_create(rows, ignore_conflicts=True)
        # Not from the first again: what was just written would be passed over each time.
        part = _missing(run, after=part[-1][2])


def _missing(run: Run, *, after: int = -1) -> list[tuple[UUID, Any, int]]:
    """Return the next entries whose turn is not written, in order, from `after` a position."""
    known = RevisionTurn.objects.filter(revision=OuterRef("revision"))
    entries = VersionEntry.objects.filter(~Exists(known), version=run.dataset_version_id, position__gt=after)
    return list(entries.order_by("position").values_list("revision", "revision__input", "position")[:AT_ONCE])


def turn_of(document: Any) -> int:
    """Return how many messages of the user an input holds: 1 where the conversation begins."""
    messages = document.get("messages") if isinstance(document, Mapping) else None
    return sum(
        isinstance(message, Mapping) and message.get("role") == "user"
        for message in (messages if isinstance(messages, list) else [])
    )


# The view under which they are counted, beside those of the matrices.
FREE = "free"
READ_AT_ONCE = 100


def free_calls(grading: Grading) -> Mapping[str, int]:
    """Return how often each offered tool is called in the cases that expect some call, whichever it is."""
    counts: Counter[str] = Counter()
    # Outside the matrix and yet judged by their calls: only some_call is.
    cases = CaseGrade.objects.filter(grading=grading, expected="", selection__in=("passed", "failed"))
    rows = cases.select_related("transcript__entry__revision__tools").defer(
        "detail", "transcript__entry__revision__input"
    )
    for case in rows.order_by("pk").iterator(chunk_size=READ_AT_ONCE):
        tools = tools_offered(tools_in(case.transcript.entry.revision.tools), grading.run.agent)
        offered = {tool.name for tool in tools}
        calls = Transcript.from_document(case.transcript.document).calls
        counts.update(call.name for call in calls if not isinstance(call, MalformedCall) and call.name in offered)
    return counts
