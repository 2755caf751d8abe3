"""Counts calls of tools: the database counts the calls themselves, or the counts are kept for a whole hour.

Durations are counted in classes that are each 2 % wide: a percentile is the middle of one, so it is right to within
1 %, and millions of calls cost a few thousand rows. An hour whose counts are kept costs one row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import reduce
from operator import or_
from typing import Any, Final

from django.db.models import Count, F, IntegerField, Q
from django.db.models.functions import Cast, Floor, Ln, TruncDate

from toolevals.traces.kept_hours import Times, kept_hours
from toolevals.traces.models import ToolUse
from toolevals.traces.tool_rates import NO_ERRORS, ByTrace, sums_by_trace
from toolevals.workspace.models import Project

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
