"""Counts calls of tools: the database counts the calls themselves, or the counts are kept for a whole hour.

Durations are counted in classes that are each 2 % wide: a percentile is the middle of one, so it is right to within
1 %, and millions of calls cost a few thousand rows. An hour whose counts are kept costs one row.

Calls of one trace are alike, so how surely a rate is known is told by sums over traces. All calls of a trace come at
one time: it lies in one hour, and sums of different hours add up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import reduce
from operator import or_
from typing import Any, Final, Self

from django.db import connection
from django.db.models import Count, F, IntegerField, Q
from django.db.models.functions import Cast, Floor, Ln, TruncDate

from toolevals.grading.metrics.clustered import ExampleSums, Rate, rate
from toolevals.traces.models import ToolUse
from toolevals.traces.production.kept_hours import Times, kept_hours
from toolevals.workspace.models import Project

# Answers that are no errors.
NO_ERRORS: Final = ("empty", "partial")
# Tool, agent, version and day of calls.
Key = tuple[str, str, str, date]
_SUMS: Final = """
SELECT tool, agent, agent_version, "day",
  COUNT(*), SUM(called), SUM(failed), SUM(failed * failed), SUM(called * failed), SUM(called * called),
  SUM(CASE WHEN checked > 0 THEN 1 ELSE 0 END), SUM(checked), SUM(unfit), SUM(unfit * unfit), SUM(checked * unfit),
  SUM(checked * checked), SUM(called * whole), SUM(1.0 * called / whole)
FROM (SELECT *, SUM(called) OVER (PARTITION BY "trace") AS whole FROM ({}) AS of_tools) AS of_traces
GROUP BY 1, 2, 3, 4"""


@dataclass(slots=True)
class ByTrace:
    """Sums over the traces in which a tool was called: of its errors, and of arguments that do not fit.

    With c the tool's calls in a trace and w those of all tools, `called_whole` is Σcw and `of_traces` Σc/w: added up
    over all tools, they are Σw² and the number of traces.
    """

    errors: ExampleSums = field(default_factory=ExampleSums)
    misfits: ExampleSums = field(default_factory=ExampleSums)
    called_whole: int = 0
    of_traces: float = 0.0

    @classmethod
    def of(cls, row: Sequence[float]) -> Self:
        """Return the sums that `to_row` wrote."""
        *counts, of_traces = row
        whole = [int(each) for each in counts]
        return cls(ExampleSums(*whole[:6]), ExampleSums(*whole[6:12]), whole[12], float(of_traces))

    def to_row(self) -> list[float]:
        """Return the sums in order."""
        return [*self.errors.to_row(), *self.misfits.to_row(), self.called_whole, self.of_traces]

    def __add__(self, other: ByTrace) -> ByTrace:
        """Return the sums of both, which have no trace in common, or no tool."""
        return ByTrace(
            self.errors + other.errors,
            self.misfits + other.misfits,
            self.called_whole + other.called_whole,
            self.of_traces + other.of_traces,
        )

    def share_of(self, all_tools: ByTrace) -> ExampleSums:
        """Return the sums of the tool's share of all calls, over all traces with a call of any tool."""
        own, every = self.errors, all_tools.errors
        return ExampleSums(
            round(all_tools.of_traces),
            every.trials,
            own.trials,
            own.trials_squared,
            self.called_whole,
            all_tools.called_whole,
        )


def known_rate(part: int, total: int, sums: ExampleSums) -> Rate:
    """Return the rate of `part` among `total` calls, with calls of one trace as alike as the sums say.

    Where the sums know no trace of it, nothing is known: 0..1.
    """
    if total and not sums.trials:
        return Rate(part, total, part / total, 0.0, 1.0)
    return rate(part, total, sums)


def sums_by_trace(uses: Any) -> Iterator[tuple[Key, ByTrace]]:
    """Yield the sums of calls, a queryset of `ToolUse` with their `day`: the database counts them in one query."""
    rows = (
        uses.values("trace", "tool", "agent", "agent_version", "day")
        .order_by()
        .annotate(
            called=Count("pk"),
            failed=Count("pk", filter=~Q(error_class__in=("", *NO_ERRORS))),
            checked=Count("pk", filter=Q(arguments_fit__isnull=False)),
            unfit=Count("pk", filter=Q(arguments_fit=False)),
        )
    )
    sql, parameters = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        # The inner query's values are its parameters; the outer one has names of ours alone.
        cursor.execute(_SUMS.format(sql), parameters)
        for tool, agent, version, day, *sums in cursor.fetchall():
            came = date.fromisoformat(day) if isinstance(day, str) else day
            yield (tool, agent, version, came), ByTrace.of(sums)


# The width of a class of durations.
_RATIO: Final = math.log(1.02)
# Of the middle of a class, what none of its durations is below.
LEAST_OF_CLASS: Final = 0.99
# Durations begin here: shorter ones count as this long.
_LEAST_MS: Final = 0.001


@dataclass(slots=True)
class ToolCounts:
    """Calls of one tool by one version of an agent, that came on one day.

    `errors` counts by class, what is empty or partial included; `checked` the calls whose tool was offered with a
    schema, `misfits` those of them whose arguments do not fit; `durations` by class: see `duration_ms`; `by_trace` says
    how alike calls of one trace are.
    """

    tool: str
    agent: str
    version: str
    day: date
    calls: int = 0
    checked: int = 0
    misfits: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    durations: dict[int, int] = field(default_factory=dict)
    by_trace: ByTrace = field(default_factory=ByTrace)

    @property
    def failed(self) -> int:
        """Calls that came back with an error."""
        return sum(count for name, count in self.errors.items() if name not in NO_ERRORS)


def duration_ms(step: int) -> float:
    """Return the middle of a class of durations, in milliseconds."""
    return math.exp((step + 0.5) * _RATIO)


def tool_counts(project: Project, times: Times, *, tool: str, agent: str, version: str) -> Iterator[ToolCounts]:
    """Yield what was counted of a project's calls that came from a time on and before another.

    An empty `tool`, `agent` or `version` is any. What is yielded may be in parts: several with the same names.
    """
    hours = kept_hours(project, times, "calls")
    wanted = {"tool": tool, "agent": agent, "version": version}
    said = {name: value for name, value in wanted.items() if value}
    for day, documents in hours.kept:
        for counts in _of_documents(documents, day):
            if all(getattr(counts, name) == value for name, value in said.items()):
                yield counts
    columns = {"tool": "tool", "agent": "agent", "version": "agent_version"}
    uses = ToolUse.objects.filter(project=project, **{columns[name]: value for name, value in said.items()})
    for some in hours.gaps_in_parts:
        yield from counted(uses.filter(reduce(or_, (_came(*gap) for gap in some))))


def counted(uses: Any) -> list[ToolCounts]:
    """Return the counts of calls, a queryset of `ToolUse`: the database counts them in two queries."""
    uses = uses.annotate(day=TruncDate("came_at"))
    stepped = uses.annotate(
        step=Cast(Floor(Ln(F("duration_ms") + _LEAST_MS) / _RATIO), IntegerField()),
    )
    names = ("tool", "agent", "agent_version", "day", "error_class", "arguments_fit", "step")
    found: dict[tuple[Any, ...], ToolCounts] = {}
    for *key, error, fit, step, count in stepped.values_list(*names).annotate(count=Count("pk")).order_by():
        counts = found.setdefault(tuple(key), ToolCounts(*key))
        counts.calls += count
        if error:
            counts.errors[error] = counts.errors.get(error, 0) + count
        if fit is not None:
            counts.checked += count
            counts.misfits += 0 if fit else count
        if step is not None:
            counts.durations[step] = counts.durations.get(step, 0) + count
    for key, sums in sums_by_trace(uses):
        # Calls may have come between the two queries.
        if key in found:
            found[key].by_trace = sums
    return list(found.values())


def documents_of(counts: Iterable[ToolCounts]) -> list[Any]:
    """Return counts of one hour as they are kept: durations as class, count, class, count."""
    return [
        [
            each.tool, each.agent, each.version, each.calls, each.checked, each.misfits, each.errors,
            [number for pair in sorted(each.durations.items()) for number in pair], each.by_trace.to_row(),
        ]
        for each in counts
    ]  # fmt: skip


def _of_documents(documents: Sequence[Any], day: date) -> Iterator[ToolCounts]:
    for tool, agent, version, calls, checked, misfits, errors, durations, sums in documents:
        steps = dict(zip(durations[::2], durations[1::2], strict=True))
        yield ToolCounts(tool, agent, version, day, calls, checked, misfits, errors, steps, ByTrace.of(sums))


def _came(since: datetime | None, until: datetime | None) -> Q:
    return (Q() if since is None else Q(came_at__gte=since)) & (Q() if until is None else Q(came_at__lt=until))
