"""Read the cases of a grading for counting: example by example, each with its context and its cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, Self
from uuid import UUID

from django.db.models import Exists, F, Max, Min, OuterRef, Q, QuerySet

from labeling.models import VersionEntry
from toolevals.grading.metrics.classes import set_class
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.counts.counted_cases import NO_COSTS, PRICE_UNITS, Cell, Context, Costs, View
from toolevals.runs.models import AlignedPair, CaseGrade, Grading, RevisionTurn, Transcript
from toolevals.runs.services.case_tallies import CaseTallies, SeenCase

_CHUNK: Final = 5000
_Cells = dict[View, tuple[Cell, ...]]
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
    told = _Told.of(grading)
    cases = CaseGrade.objects.filter(grading=grading)
    cases = cases.order_by("transcript__entry__position", "transcript__trial", "pk")
    more = () if tallies is None else ("decided_by", "measured")
    columns = "pk", "transcript__entry__position", "expected", "actual", *told.costs, *told.columns, *more
    rows: Any = cases.values_list(*columns)
    odd = _odd_cells(grading)
    start = 4 + len(told.costs)
    trial, statuses = start + told.columns.index("transcript__trial"), start + told.columns.index(VERDICT_NAMES[0])
    for position, found in groupby(rows.iterator(chunk_size=_CHUNK), key=itemgetter(1)):
        trials = list(found)
        if tallies is not None:
            end = statuses + len(VERDICT_NAMES)
            seen = [SeenCase(row[trial], row[2], row[3], row[statuses:end], row[-2], row[-1]) for row in trials]
            tallies.add(position, seen)
        facts = told.facts(position)
        examples = []
        for row in trials:
            context = told.context(row[start:], facts)
            cells = odd.get(row[0]) or (_everywhere(row[2], row[3]) if row[2] else _NOWHERE)
            costs = _costs(*row[4:start]) if told.costs else NO_COSTS
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
    def of(cls, grading: Grading) -> Self:
        """Return what a grading's cases differ in. Of days and costs nothing is read where they tell nothing."""
        transcripts = Transcript.objects.filter(run=grading.run_id)
        days = transcripts.aggregate(first=Min("created_at"), last=Max("created_at"))
        day = _day(days["first"]) if days["first"] else ""
        same_day = not day or day == _day(days["last"])
        any_said = transcripts.filter(Q(cost__isnull=False) | Q(tokens_in__isnull=False)).exists()
        entries = VersionEntry.objects.filter(version=grading.run.dataset_version_id).order_by()
        turns = RevisionTurn.objects.filter(revision__in=entries.values("revision"))
        graded = VersionEntry.objects.filter(version=grading.dataset_version_id).order_by()
        of_revision = dict(turns.values_list("revision", "turn").iterator(chunk_size=_CHUNK))
        golds = dict(graded.values_list("revision", "gold__source").iterator(chunk_size=_CHUNK))
        places = list(entries.values_list("position", "revision").iterator(chunk_size=_CHUNK))
        return cls(
            columns=("bucket", "difficulty", "tag", "mode", "transcript__ended", "transcript__trial", *VERDICT_NAMES)
            + (() if same_day else ("transcript__created_at",)),
            costs=("transcript__cost", "transcript__tokens_in", "transcript__tokens_out") if any_said else (),
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


def _odd_cells(grading: Grading) -> dict[UUID, _Cells]:
    """Return the cells of the cases that do not stand in one and the same cell in every view."""
    cases, pairs = CaseGrade.objects.filter(grading=grading), AlignedPair.objects.filter(grading=grading)
    others = pairs.exclude(number=0, expected=F("case__expected"), actual=F("case__actual")).order_by().values("case")
    without = cases.exclude(expected="").filter(~Exists(pairs.filter(case=OuterRef("pk"))))
    cells: dict[UUID, _Cells] = {pk: _cells(first, ()) for pk, *first in _places(without, "pk")}
    firsts = {pk: first for pk, *first in _places(cases.filter(pk__in=others), "pk")}
    held = _places(pairs.filter(case__in=others).order_by("case_id", "number"), "case_id")
    # Cases that are alike share one object: there may be as many as there are cases.
    alike: dict[Any, _Cells] = {}
    for pk, group in groupby(held, key=itemgetter(0)):
        key = tuple(firsts[pk]), tuple((expected, actual) for _, expected, actual in group)
        cells[pk] = alike.setdefault(key, _cells(*key))
    return cells


def _places(rows: QuerySet[Any], key: str) -> Iterator[tuple[UUID, str, str]]:
    found: Iterator[Any] = rows.values_list(key, "expected", "actual").iterator(chunk_size=_CHUNK)
    return found


def _cells(first: Sequence[str], pairs: tuple[Cell, ...]) -> _Cells:
    """Return where a case of several calls stands in each view."""
    expected, actual = first
    sets = ((set_class(one for one, _ in pairs), set_class(other for _, other in pairs)),) if pairs else ()
    return {View.FIRST: ((expected, actual),) if expected else (), View.ALIGNED: tuple(sorted(pairs)), View.SET: sets}


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


def _day(moment: datetime) -> str:
    return moment.astimezone(UTC).date().isoformat()
