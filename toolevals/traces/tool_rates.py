"""Says how surely rates of tools are known: sums over traces, whose calls are alike, counted in one query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from django.db import connection
from django.db.models import Count, F, Q, Subquery
from django.db.models.functions import Coalesce, TruncDate

from toolevals.grading.metrics.clustered import ExampleSums, Rate, rate
from toolevals.traces.filters import ERRORS, TraceFilter
from toolevals.traces.models import ToolUse
from toolevals.traces.querysets.traces import first_id
from toolevals.workspace.models import Project

# How alike calls of one trace are is read from so many calls at most, the newest.
MOST_CALLS: Final = 200_000
_PARTS: Final[Mapping[str, Any]] = {
    "version": F("agent_version"),
    "agent": F("agent"),
    "day": TruncDate("came_at"),
}
_BEFORE_ALL: Final = datetime(1970, 1, 1, tzinfo=UTC)
# (all calls, checked ones) of a trace and those of them that count -> how many traces are so.
_Tally = Counter[tuple[int, int]]


@dataclass(slots=True)
class TraceSums:
    """Sums over the traces in which a tool was called: of its errors, and of arguments that do not fit.

    `share` is over all traces of the part: of all calls in them, the tool's.
    """

    errors: ExampleSums = field(default_factory=ExampleSums)
    misfits: ExampleSums = field(default_factory=ExampleSums)
    share: ExampleSums = field(default_factory=ExampleSums)


def trace_sums(
    project: Project, wanted: TraceFilter, split: str, calls: int | None = None
) -> dict[tuple[str, str], TraceSums]:
    """Return the sums by tool and part of the calls that a filter is about; `calls` is their number where it is known.

    Where the filter names a tool, its share is one of nothing else. Of more than `MOST_CALLS` the newest are read.
    """
    errors, misfits, used = _by_tool(), _by_tool(), _by_tool()
    traces: dict[str, Counter[int]] = {}
    for tool, part, whole, called, failed, checked, unfit, count in _counted(project, wanted, split, calls):
        key = (tool, str(part or "") if split else "")
        errors.setdefault(key, Counter())[called, failed] += count
        misfits.setdefault(key, Counter())[checked, unfit] += count
        used.setdefault(key, Counter())[whole, called] += count
        # Each trace comes once for each of its tools, with all of its calls in sum.
        traces.setdefault(key[1], Counter())[whole] += called * count
    return {
        key: TraceSums(ExampleSums.of(errors[key]), ExampleSums.of(misfits[key]), _share(tally, traces[key[1]]))
        for key, tally in used.items()
    }


def known_rate(part: int, total: int, sums: ExampleSums) -> Rate:
    """Return the rate of `part` among `total` calls, with calls of one trace as alike as the sums say.

    Where the sums know no trace of it, nothing is known: 0..1.
    """
    if total and not sums.trials:
        return Rate(part, total, part / total, 0.0, 1.0)
    return rate(part, total, sums)


def _by_tool() -> dict[tuple[str, str], _Tally]:
    return {}


def _share(tally: _Tally, traces: Counter[int]) -> ExampleSums:
    """Return the sums over all traces, `traces` being calls by the number of calls in their trace."""
    own = ExampleSums.of(tally)
    return ExampleSums(
        sum(calls // whole for whole, calls in traces.items()),
        traces.total(),
        own.passed,
        own.passed_squared,
        own.crossed,
        sum(calls * whole for whole, calls in traces.items()),
    )


def _counted(project: Project, wanted: TraceFilter, split: str, calls: int | None) -> list[tuple[Any, ...]]:
    since, until = wanted.times
    uses = ToolUse.objects.filter(project=project)
    uses = uses if since is None else uses.filter(came_at__gte=since, trace__gte=first_id(since))
    uses = uses if until is None else uses.filter(came_at__lt=until)
    equal = {"tool": wanted.tool, "agent": wanted.agent, "agent_version": wanted.version}
    uses = uses.filter(**{column: value for column, value in equal.items() if value})
    if calls is None or calls > MOST_CALLS:
        oldest = uses.order_by("-came_at").values("came_at")[MOST_CALLS : MOST_CALLS + 1]
        uses = uses.filter(came_at__gt=Coalesce(Subquery(oldest), _BEFORE_ALL))
    columns = ["trace", "tool"]
    if split in _PARTS:
        uses = uses.annotate(part=_PARTS[split])
        columns.append("part")
    uses = uses.values(*columns).order_by()
    rows = uses.annotate(
        called=Count("pk"),
        failed=Count("pk", filter=Q(error_class__in=ERRORS)),
        checked=Count("pk", filter=Q(arguments_fit__isnull=False)),
        unfit=Count("pk", filter=Q(arguments_fit=False)),
    )
    sql, parameters = rows.query.sql_with_params()
    part = "part" if split in _PARTS else "''"
    wholes = f'SELECT *, SUM(called) OVER (PARTITION BY "trace") AS whole FROM ({sql}) AS of_tools'  # noqa: S608
    names = f"tool, {part}, whole, called, failed, checked, unfit"
    places = "1, 2, 3, 4, 5, 6, 7" if split in _PARTS else "1, 3, 4, 5, 6, 7"
    with connection.cursor() as cursor:
        # The inner query's values are its parameters; the outer one has names of ours alone.
        cursor.execute(
            f"SELECT {names}, COUNT(*) FROM ({wholes}) AS of_traces GROUP BY {places}",  # noqa: S608
            parameters,
        )
        found: list[tuple[Any, ...]] = [(*row[:2], *map(int, row[2:])) for row in cursor.fetchall()]
        return found
