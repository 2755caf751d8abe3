"""Read the cases of a grading for counting: example by example, each with its context and its cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, Self
from uuid import UUID

from django.db.models import FilteredRelation, Q, QuerySet

from labeling.models import VersionEntry
from toolevals.grading.metrics.confusion import set_class
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.counts.counted_cases import NO_COSTS, PRICE_UNITS, Cell, Context, Costs, View
from toolevals.runs.models import AlignedPair, CaseGrade, Grading, RevisionTurn
from toolevals.runs.services.case_tallies import CaseTallies, SeenCase
from toolevals.runs.services.transcript_sums import TranscriptSums, transcript_sums

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
