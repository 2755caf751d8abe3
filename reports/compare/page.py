"""Tell what the page of two runs shows: the runs to choose from, the difference of the matrices as it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import Http404

from labeling.models import Example
from reports.compare.layers import StratumDelta, stratum_deltas
from reports.compare.matrix import CellDelta, MatrixDelta
from reports.compare.queries import OUTSIDE, PART, TwoRuns, candidates_for, read_part, two_runs
from reports.filters.case_filters import Filters, address_query
from reports.filters.choices import Chip, chips, filter_choices
from reports.run.header import run_of
from toolevals.grading.metrics.confusion import SPECIAL
from toolevals.json_types import JsonObject
from toolevals.presentation.numbers import signed_amount
from toolevals.presentation.palettes import change_step
from toolevals.runs.models import Run
from toolevals.workspace.requests import ProjectRequest

# With more examples than this, strata are looked at when they are asked for.
MOST_AT_ONCE = 20_000
# More classes than this are no table that anyone reads: the largest changes are listed.
MOST_IN_TABLE = 40
MOST_IN_LIST = 60
MOST_CHOICES = 200


@dataclass(frozen=True, slots=True)
class DrawnCell:
    """One cell of the table; without `query` nothing moved in it. `gap`: the first column after the tools."""

    name: str
    gap: bool
    step: str = "z"
    text: str = ""
    hint: str = ""
    query: str = ""


# Not slotted: the classes are looked for once.
@dataclass(frozen=True)
class DrawnChange:
    """The difference of two matrices as the page draws it: the classes that something moved in.

    `moved` are the places of the cells that moved.
    """

    delta: MatrixDelta
    moved: Sequence[int]

    @cached_property
    def classes(self) -> list[str]:
        touched = self.delta.touched(self.moved)
        return [name for name in self.delta.classes if name in touched]

    @property
    def untouched(self) -> int:
        """Return how many classes nothing moved in."""
        return len(self.delta.classes) - len(self.classes)

    @property
    def fits_table(self) -> bool:
        return len(self.classes) <= MOST_IN_TABLE

    @property
    def columns(self) -> list[tuple[str, bool]]:
        """The heads, and whether a gap stands before each."""
        first = next((name for name in self.classes if name in SPECIAL), "")
        return [(name, name == first) for name in self.classes]

    def rows(self) -> Iterator[tuple[str, list[DrawnCell]]]:
        """Yield each class that is expected, with its cells."""
        by_cell = {(cell.expected, cell.actual): cell for cell in map(self.delta.cell, self.moved)}
        expected = {name for name, _ in by_cell}
        for row in self.classes:
            if row in expected:
                yield row, [_drawn(name, by_cell.get((row, name)), gap=gap) for name, gap in self.columns]

    def listed(self) -> Iterator[tuple[CellDelta, str]]:
        """Yield the largest changes, each with the address of its examples."""
        return ((cell, _query(cell)) for cell in map(self.delta.cell, self.moved[:MOST_IN_LIST]))


def drawn_change(delta: MatrixDelta) -> DrawnChange:
    """Return what is drawn of a difference."""
    return DrawnChange(delta, delta.moved)


def asked_runs(request: ProjectRequest, baseline: int, candidate: int) -> TwoRuns | None:
    """Return the two runs that the address names; None where one is not graded yet. Raises Http404."""
    runs = two_runs(Run.objects.filter(project=request.project), baseline, candidate, read_part(request.GET))
    if runs is None:
        for number in (baseline, candidate):
            run_of(request, number)
    return runs


def comparable_runs(request: ProjectRequest, baseline: int, candidate: int) -> TwoRuns:
    """Return the two runs that the address names, or raise Http404 where they cannot be compared."""
    runs = asked_runs(request, baseline, candidate)
    if runs is None or runs.refusal:
        raise Http404
    return runs


def choices(run: Any, *chosen: Run) -> list[Run]:
    """Return the runs to choose from, the newest first, with those that are chosen."""
    by_number = {each.number: each for each in (*candidates_for(run, MOST_CHOICES), *chosen)}
    return [by_number[number] for number in sorted(by_number, reverse=True)]


def outside(runs: TwoRuns) -> list[tuple[str, str, int]]:
    """Return why examples are not compared: (name, in words, how many)."""
    return [(name, words, count) for name, words in OUTSIDE.items() if (count := len(runs.shared.outside[name]))]


def part_context(runs: TwoRuns, verdict: str, by: str) -> JsonObject:
    """Return what the page shows of strata: the filters, those that are set, and the change in each value of one.

    With many examples nothing is read of strata unless a stratum or a part is asked for.
    """
    kept = address_query(runs.part.conditions)
    context: JsonObject = {"kept": f"&{kept}" if kept else "", "kept_first": f"?{kept}" if kept else ""}
    context["is_asked"] = bool(by or kept or runs.examples <= MOST_AT_ONCE)
    if context["is_asked"]:
        choices = filter_choices(runs.gradings[1], runs.part)
        offered = [choice for choice in (*choices.strata, *choices.more) if choice.name in PART]
        named = [(each.name, each.title) for each in offered if each.name in Example.STRATA]
        # A stratum that the filter has narrowed to one value says nothing more.
        free = [name for name, _ in named if name not in runs.part.conditions]
        name = by if by in dict(named) else next(iter(free), "")
        context |= {
            "part_choices": offered,
            "chips": part_chips(runs, lambda part: address_query({"layer": verdict, "by": by} | part.conditions)),
            "by": name,
            "strata": named,
            "stratum_rows": strata_of(runs, name, verdict) if name and verdict else (),
        }
    return context


def part_chips(runs: TwoRuns, query: Callable[[Filters], str]) -> tuple[Chip, ...]:
    """Return the conditions on examples that are set; `query` gives the address with others."""
    return chips(runs.part, query)


def strata_of(runs: TwoRuns, name: str, verdict: str) -> tuple[StratumDelta, ...]:
    """Return what changed in a verdict's rate in each value of a stratum."""
    return stratum_deltas(runs.paired, runs.strata(name), verdict)


def stratum_named(name: str) -> str:
    """Return the stratum of that name, or else the first."""
    return name if name in Example.STRATA else Example.STRATA[0]


def _drawn(name: str, cell: CellDelta | None, *, gap: bool) -> DrawnCell:
    if cell is None:
        return DrawnCell(name, gap)
    text = signed_amount(cell.delta) if cell.delta else "±0"
    hint = f"{cell.entered:,} entered, {cell.left:,} left"
    return DrawnCell(name, gap, change_step(cell.share, better=cell.better), text, hint, _query(cell))


def _query(cell: CellDelta) -> str:
    return address_query({"expected": cell.expected, "actual": cell.actual})


def stratum_rows(name: str, rows: Iterable[StratumDelta]) -> list[JsonObject]:
    """Return the changes in a stratum as CSV and API list them."""
    return [{"stratum": name, "value": row.value, "change": row.delta} for row in rows]
