"""Counts what traces took, and how many repeated a call in a loop: by version, agent, model or day.

The database adds traces up, or what is kept of whole hours is added up: see `toolevals.traces.production.kept_hours`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from math import fsum
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Sum
from django.utils import timezone

from toolevals.traces.intake.models import TraceQuerySet
from toolevals.traces.models import SpanVerdict, Trace
from toolevals.traces.production.kept_hours import came_within, day_number, kept_hours
from toolevals.traces.production.rule_trends import days_of
from toolevals.traces.reading.filters import TraceFilter
from toolevals.workspace.models import Project

# What a table can be split by, and the field of the counts that says it.
SPLITS: Final[Mapping[str, str]] = {"version": "version", "agent": "agent", "model": "model", "day": "day"}
LOOPS: Final = "loops"
MOST_ROWS: Final = 500


@dataclass(slots=True)
class CostCounts:
    """Counts what the traces of one version of an agent took that came on one day and called one model first.

    `costed` counts the traces whose cost is known: `cost` is the sum of these. `looped` counts the traces in which the
    rule on loops failed.
    """

    agent: str
    version: str
    model: str
    day: date
    traces: int
    input_tokens: int
    output_tokens: int
    costed: int
    cost: float
    looped: int = 0


@dataclass(slots=True)
class CostFigures:
    """Holds what the traces of one part took together.

    `costed` counts the traces whose cost is known; `looped` those in which the rule on loops failed.
    """

    part: str
    traces: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    costed: int = 0
    looped: int = 0
    costs: list[float] = field(default_factory=list)

    @property
    def cost(self) -> float | None:
        """The cost of the traces whose cost is known, in the currency in which costs came; None where there is none."""
        return fsum(self.costs) if self.costed else None

    @property
    def cost_of_each(self) -> float | None:
        """The mean cost of the traces whose cost is known."""
        return self.cost / self.costed if self.cost is not None else None

    def add(self, counts: CostCounts) -> None:
        """Take in what some of the traces took."""
        self.traces += counts.traces
        self.input_tokens += counts.input_tokens
        self.output_tokens += counts.output_tokens
        self.costed += counts.costed
        self.looped += counts.looped
        self.costs.append(counts.cost)


def cost_figures(project: Project, trace_filter: TraceFilter, split: str = "") -> list[CostFigures]:
    """Return what the traces took that a filter of `trend_filter` is about, in the order of their parts."""
    days = [] if trace_filter.problems else days_of(trace_filter)
    if not days:
        return []
    figures: dict[str, CostFigures] = {}
    for counts in _cost_counts(project, trace_filter, days):
        part = str(getattr(counts, SPLITS[split])) if split in SPLITS else ""
        figures.setdefault(part, CostFigures(part)).add(counts)
    return [figures[part] for part in sorted(figures)]


def _cost_counts(project: Project, trace_filter: TraceFilter, days: Sequence[datetime]) -> Iterator[CostCounts]:
    hours = kept_hours(project, trace_filter.times, "costs")
    for day, documents in hours.kept:
        for agent, version, model, *numbers in documents:
            if trace_filter.agent in ("", agent) and trace_filter.version in ("", version):
                yield CostCounts(agent, version, model, day, *numbers)
    equal = {"agent": trace_filter.agent, "agent_version": trace_filter.version}
    rows = Trace.objects.in_project(project).summed_up()
    rows = rows.filter(**{column: value for column, value in equal.items() if value})
    for some in hours.gaps_in_parts:
        yield from counted(rows.filter(came_within(some)), project.pk, days)


def counted(traces: TraceQuerySet, project: UUID, days: Sequence[datetime]) -> list[CostCounts]:
    """Return what traces of a project took: the database counts them in two queries. `days` are their days."""
    named = [timezone.localdate(each) for each in days]
    parted = traces.annotate(day=day_number(days)).order_by()
    group = ("agent", "agent_version", "model", "day")
    rows = parted.values_list(*group).annotate(
        traces=Count("pk"),
        given=Sum("input_tokens"),
        made=Sum("output_tokens"),
        costed=Count("cost"),
        spent=Sum("cost"),
    )
    found = {
        (agent, version, model, day): CostCounts(
            agent, version, model, named[day], count, given or 0, made or 0, costed, spent or 0.0
        )
        for agent, version, model, day, count, given, made, costed, spent in rows
    }
    looped = SpanVerdict.objects.filter(project=project, rule=LOOPS, status="failed")
    in_loops = parted.filter(pk__in=looped.values("trace")).values_list(*group).annotate(traces=Count("pk"))
    for agent, version, model, day, count in in_loops:
        # Traces may have come between the two queries.
        if (agent, version, model, day) in found:
            found[agent, version, model, day].looped = count
    return list(found.values())


def documents_of(counts: Iterable[CostCounts]) -> list[Any]:
    """Return what the traces of one hour took as it is kept."""
    return [
        [
            each.agent, each.version, each.model, each.traces, each.input_tokens, each.output_tokens, each.costed,
            each.cost, each.looped,
        ]
        for each in counts
    ]  # fmt: skip
