"""Counts what online rules and judges said of traces: from the verdicts themselves, or as kept for a whole hour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from django.db import connection
from django.db.models import Count, F, Q
from django.utils import timezone

from toolevals.traces.models import SpanVerdict
from toolevals.traces.production.kept_hours import came_within, day_number, kept_hours
from toolevals.traces.reading.filters import TraceFilter
from toolevals.workspace.models import Project

STATUSES: Final = ("passed", "failed", "unscored", "errored")
_GROUP: Final = ("rule", "judge", "agent", "of_version", "day", *STATUSES)


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """Counts the `traces` of one version of an agent that came on one day and have the same verdicts of one rule.

    `statuses` are how many verdicts each of them has, in the order of `STATUSES`. `judge` is the key of the judge whose
    verdicts they are, None for a rule.
    """

    rule: str
    judge: int | None
    agent: str
    version: str
    day: date
    statuses: tuple[int, ...]
    traces: int


def verdict_counts(
    project: Project, trace_filter: TraceFilter, days: Sequence[datetime], *, judged: bool
) -> Iterator[VerdictCounts]:
    """Yield what was said of a project's traces of the times, agent and version of a filter; `days` are its days.

    What judges said is among it where traces were `judged`. It may be in parts: several with the same names.
    """
    hours = kept_hours(project, trace_filter.times, "verdicts")
    for day, documents in hours.kept:
        for rule, agent, version, statuses, traces in documents:
            if trace_filter.agent in ("", agent) and trace_filter.version in ("", version):
                yield VerdictCounts(rule, None, agent, version, day, tuple(statuses), traces)
    equal = {"trace__agent": trace_filter.agent, "trace__agent_version": trace_filter.version}
    rows = SpanVerdict.objects.filter(project=project, **{column: value for column, value in equal.items() if value})
    for some in hours.gaps_in_parts:
        yield from counted(rows.filter(came_within(some, "trace"), judge=None), days)
    if judged:
        # Judges answer at any time later, and are asked about few traces: nothing of theirs is kept.
        yield from counted(rows.filter(came_within([trace_filter.times], "trace")).exclude(judge=None), days)


def counted(verdicts: Any, days: Sequence[datetime]) -> Iterator[VerdictCounts]:
    """Yield the counts of verdicts, a queryset of `SpanVerdict`, which the database counts. `days` are their days."""
    named = [timezone.localdate(each) for each in days]
    by_status = {status: Count("pk", filter=Q(status=status)) for status in STATUSES}
    by_trace = (
        verdicts.annotate(day=day_number(days, "trace"), agent=F("trace__agent"), of_version=F("trace__agent_version"))
        .values("rule", "judge", "agent", "of_version", "day", "trace")
        .annotate(**by_status)
        .order_by()
    )
    sql, parameters = by_trace.query.sql_with_params()
    columns = ", ".join(f'"{name}"' for name in _GROUP)
    with connection.cursor() as cursor:
        # The inner query's values are its parameters; the outer one has names of ours alone.
        cursor.execute(
            f"SELECT {columns}, COUNT(*) FROM ({sql}) AS of_traces GROUP BY {columns}",  # noqa: S608
            parameters,
        )
        for rule, judge, agent, version, day, *statuses, traces in cursor.fetchall():
            yield VerdictCounts(rule, judge, agent, version, named[int(day)], tuple(map(int, statuses)), int(traces))


def documents_of(counts: Iterable[VerdictCounts]) -> list[Any]:
    """Return counts of rules in one hour as they are kept."""
    return [[each.rule, each.agent, each.version, list(each.statuses), each.traces] for each in counts]
