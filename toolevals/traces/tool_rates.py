"""Say how surely rates of tools are known: calls of one trace are alike, so sums are taken over traces.

All calls of a trace come at one time, so a trace lies in one hour, and sums of different hours add up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final, Self

from django.db import connection
from django.db.models import Count, Q

from toolevals.grading.metrics.clustered import ExampleSums, Rate, rate

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
