"""Read the tools that are offered, and matrices, costs and numbers of cases as they were counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from django.core.cache import cache

from labeling.models import VersionEntry
from reports.filters.case_filters import NOT, CaseFilter, Effect, Filters, Split
from toolevals.grading.values import ToolSpec
from toolevals.registry.models import ToolListEntry
from toolevals.runs.aggregates.cube import CONTEXT, Cell, Costs, Counted, Unit, View
from toolevals.runs.aggregates.read_cases import counted_cases
from toolevals.runs.grading.models import IS_LATENT, warned
from toolevals.runs.models import Grading
from toolevals.runs.queries import tools_offered

A_DAY = 24 * 3600


def specs_by_name(grading: Grading) -> dict[str, tuple[ToolSpec, ...]]:
    """Return every offered spec by its tool's name: several where examples offer the same name in other words."""
    lists = VersionEntry.objects.filter(version=grading.run.dataset_version_id).values("revision__tools")
    rows = ToolListEntry.objects.filter(tools__in=lists).order_by("spec_id").values_list("spec__document", flat=True)
    specs = tools_offered([ToolSpec.from_document(row) for row in rows.distinct()], grading.run.agent)
    found: dict[str, dict[str, ToolSpec]] = {}
    for spec in specs:
        found.setdefault(spec.name, {})[spec.digest] = spec
    return {name: tuple(each.values()) for name, each in found.items()}


def effects_by_name(grading: Grading) -> dict[str, Effect]:
    """Return what each tool does to the world; kept, because a finished grading does not change."""
    key = f"reports:effects:{grading.pk}"
    found: dict[str, Effect] | None = cache.get(key)
    if found is None:
        found = {name: _effect(specs) for name, specs in specs_by_name(grading).items()}
        cache.set(key, found, timeout=A_DAY)
    return found


def costs_by_name(grading: Grading) -> dict[str, float]:
    """Return what one call of each tool costs relative to the others, where its owner says so, and says one thing."""
    key = f"reports:costs:{grading.pk}"
    found: dict[str, float] | None = cache.get(key)
    if found is None:
        said = {name: {spec.cost for spec in specs} for name, specs in specs_by_name(grading).items()}
        found = {
            name: cost for name, costs in said.items() if len(costs) == 1 and (cost := next(iter(costs))) is not None
        }
        cache.set(key, found, timeout=A_DAY)
    return found


def _effect(specs: Iterable[ToolSpec]) -> Effect:
    """A tool writes where any of its specs does, and reads where all of them say so."""
    said = {spec.annotations.read_only for spec in specs}
    if False in said:
        return Effect.WRITE
    return Effect.READ if said == {True} else Effect.UNSAID


# What cases are counted by: the filter's name and the column of a context.
_COLUMNS: Final = {name: name for name in ("bucket", "difficulty", "gold", "tag", "arguments", "turn", "trial")}


@dataclass(frozen=True, slots=True)
class Sums:
    """The counted cases that filters let through: of some contexts, and of some expected tools where not all."""

    counted: Counted
    contexts: list[int]
    tools: frozenset[str] | None

    def parts(self, split: Split) -> dict[str, Sums]:
        """Return them by verdict on the arguments where that divides, else all under ""."""
        if split is not Split.ARGUMENTS:
            return {"": self}
        place = CONTEXT.index("arguments")
        sums: dict[str, Sums] = {}
        for number in self.contexts:
            status = self.counted.contexts[number][place]
            sums.setdefault(status, replace(self, contexts=[])).contexts.append(number)
        return sums

    def cells(self) -> dict[Cell, int]:
        """Return how many stand in each cell of the matrix."""
        return self._of_tools(self.counted.in_cells(self.contexts))

    def costs(self) -> dict[Cell, Costs]:
        """Return what they cost, by cell of the matrix."""
        return self._of_tools(self.counted.costs_in_cells(self.contexts))

    def _of_tools(self, found: dict[Cell, Any]) -> dict[Cell, Any]:
        return found if self.tools is None else {cell: each for cell, each in found.items() if cell[0] in self.tools}


def is_counted(filters: Filters) -> bool:
    """Return whether the filters ask for nothing but what was counted for good when a grading finished."""
    return filters.conditions.keys() <= {*_COLUMNS, "since", "until"}


def summed(grading: Grading, filters: Filters, *, costs: bool = False) -> Sums | None:
    """Return the counted cases that the filters let through; None where they ask for what changes or is in documents.

    Those are strata as examples say them today, tags of the team, arguments called with, values that divide; and the
    effects of the expected tool, where a cell says the tools of several calls.
    """
    if filters.split is Split.VALUE or not is_counted(filters.without("tools")):
        return None
    (view, _), counted = counted_cases(grading, filters.view, filters.unit, costs=costs)
    if filters.tools and view is not View.FIRST:
        return None
    effects = effects_by_name(grading) if filters.tools else {}
    tools = frozenset(name for name, effect in effects.items() if effect == filters.tools) if filters.tools else None
    return Sums(counted, counted.where(_tests(filters)), tools)


def counted_number(grading: Grading, case_filter: CaseFilter) -> int | None:
    """Return how many cases a list holds; None where that isn't counted beforehand."""
    filters = case_filter.filters
    if filters.view is not View.FIRST or filters.unit is not Unit.TRIAL:
        return None
    unsummed = (
        case_filter.fault,
        case_filter.found,
        case_filter.rubric,
        case_filter.metric,
        case_filter.by,
        case_filter.injection,
        case_filter.recorded,
    )
    if any(unsummed):
        return None
    if case_filter.warned and (case_filter.column or case_filter.latent):
        return None
    sums = summed(grading, filters)
    if (
        sums is None
        or filters.collapse
        or filters.split
        or (filters.tools and not (case_filter.expected or case_filter.actual))
    ):
        return None
    own = {name: _equals(value) for name, value in _own(case_filter).items()}
    chosen = set(sums.contexts)
    contexts = [number for number in sums.counted.where(own) if number in chosen]
    if not (case_filter.expected or case_filter.actual):
        return sum(sums.counted.totals(contexts))
    return sum(
        count
        for (expected, actual), count in Sums(sums.counted, contexts, sums.tools).cells().items()
        if case_filter.expected in ("", expected) and case_filter.actual in ("", actual)
    )


def _tests(filters: Filters) -> Mapping[str, Callable[[Any], bool]]:
    tests = {
        column: _equals(getattr(filters, name))
        for name, column in _COLUMNS.items()
        if getattr(filters, name) not in ("", None)
    }
    first, last = filters.since, filters.until
    if first or last:
        low, high = first.isoformat() if first else "", last.isoformat() if last else "9999-12-31"
        tests["day"] = lambda day: low <= day <= high
    return tests


def _own(case_filter: CaseFilter) -> dict[str, str]:
    """Return what a list asks for besides its filters, by column."""
    filters = {"mode": case_filter.mode, "ended": case_filter.ended, case_filter.column: case_filter.status}
    filters |= {case_filter.and_column: case_filter.and_status}
    filters = {name: value for name, value in filters.items() if name and value}
    filters |= IS_LATENT if case_filter.latent else {}
    return filters | warned(case_filter.warned) if case_filter.warned else filters


def _equals(value: Any) -> Callable[[Any], bool]:
    if isinstance(value, str) and value.startswith(NOT):
        return lambda found: bool(found != value.removeprefix(NOT))
    return lambda found: bool(found == value)
