"""Keep the counts of each hour's traces, exact however late a trace is summed up, again or deleted.

Who changes traces of an hour holds its row until the change is done, and takes its counts away. Who counts holds it
too. So counts that are kept are those of the traces that are there. Hours without counts are counted by the reader of
them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Final
from uuid import UUID

from django.db import connection, transaction

from toolevals.traces.intake.models import first_id
from toolevals.traces.models import SpanVerdict, ToolUse, Trace, TraceHour
from toolevals.traces.production import rule_trends, tool_counts, trace_costs
from toolevals.traces.production.kept_hours import HOUR
from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.models import Project

# After an hour is over, its traces are still summed up for a while.
REST: Final = timedelta(minutes=5)
# So long a round counts at most; the next goes on.
SECONDS: Final = 10.0


def trace_hours_reopen(project: UUID, moments: Iterable[datetime]) -> None:
    """Hold the hours of some moments until the end of the transaction, and have them counted again."""
    table, id_of = TraceHour._meta.db_table, Project._meta.pk.get_db_prep_value
    hours = sorted({_hour_of(each) for each in moments})
    with connection.cursor() as cursor:
        for hour in hours:
            # A row that has no counts stays as it is, and is held as well.
            cursor.execute(
                f"INSERT INTO {table} (project_id, hour) VALUES (%s, %s) ON CONFLICT (project_id, hour) "  # noqa: S608
                f"DO UPDATE SET calls = NULL, costs = NULL, verdicts = NULL WHERE {table}.calls IS NOT NULL",
                [id_of(project, connection), connection.ops.adapt_datetimefield_value(hour)],
            )


def trace_hours_count(now: datetime) -> None:
    """Count the hours that are over and have no counts, the oldest first."""
    until = monotonic() + SECONDS
    waiting = TraceHour.objects.filter(calls=None, hour__lte=now - HOUR - REST).order_by("hour", "pk")
    for pk in list(waiting.values_list("pk", flat=True)[:1000]):
        _count(pk)
        others_write_first()
        if monotonic() >= until:
            return


def _count(pk: int) -> None:
    with transaction.atomic():
        row = TraceHour.objects.select_for_update().filter(pk=pk, calls=None).first()
        if row is None:
            return
        # Asked after the row is held: no one changes these traces meanwhile.
        since, until = row.hour, row.hour + HOUR
        traces = Trace.objects.filter(project=row.project_id).summed_up().between(since, until)
        row.costs = trace_costs.documents_of(trace_costs.counted(traces, row.project_id, [since]))
        if not row.costs:
            row.delete()
            return
        uses = ToolUse.objects.filter(project=row.project_id, came_at__gte=since, came_at__lt=until)
        verdicts = SpanVerdict.objects.filter(project=row.project_id, judge=None)
        verdicts = verdicts.filter(trace__gte=first_id(since), trace__lt=first_id(until))
        row.calls = tool_counts.documents_of(tool_counts.counted(uses))
        row.verdicts = rule_trends.documents_of(rule_trends.counted(verdicts, [since]))
        row.save(update_fields=["calls", "costs", "verdicts"])


def _hour_of(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
