"""Keep the counts of each hour's calls of tools, exact however late a trace is summed up, again or deleted.

Who changes calls of an hour holds its row until the change is done, and takes its counts away. Who counts holds it too.
So counts that are kept are those of the calls that are there. Hours without counts are counted by whoever reads them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Final
from uuid import UUID

from django.db import connection, transaction

from toolevals.traces.models import ToolHour, ToolUse
from toolevals.traces.tool_counts import HOUR, counted, documents_of
from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.models import Project

# After an hour is over, its traces are still summed up for a while.
REST: Final = timedelta(minutes=5)
# So long a round counts at most; the next goes on.
SECONDS: Final = 10.0


def tool_hours_reopen(project: UUID, moments: Iterable[datetime]) -> None:
    """Hold the hours of some moments until the end of the transaction, and have them counted anew."""
    table, id_of = ToolHour._meta.db_table, Project._meta.pk.get_db_prep_value
    hours = sorted({_hour_of(each) for each in moments})
    with connection.cursor() as cursor:
        for hour in hours:
            # A row that has no counts stays as it is, and is held as well.
            cursor.execute(
                f"INSERT INTO {table} (project_id, hour, counts) VALUES (%s, %s, NULL) "  # noqa: S608 - a name of ours
                f"ON CONFLICT (project_id, hour) DO UPDATE SET counts = NULL WHERE {table}.counts IS NOT NULL",
                [id_of(project, connection), connection.ops.adapt_datetimefield_value(hour)],
            )


def tool_hours_count(now: datetime) -> None:
    """Count the hours that are over and have no counts, the oldest first."""
    until = monotonic() + SECONDS
    waiting = ToolHour.objects.filter(counts=None, hour__lte=now - HOUR - REST).order_by("hour", "pk")
    for pk in list(waiting.values_list("pk", flat=True)[:1000]):
        _count(pk)
        others_write_first()
        if monotonic() >= until:
            return


def _count(pk: int) -> None:
    with transaction.atomic():
        row = ToolHour.objects.select_for_update().filter(pk=pk, counts=None).first()
        if row is None:
            return
        # Asked after the row is held: nobody changes these calls meanwhile.
        uses = ToolUse.objects.filter(project=row.project_id, came_at__gte=row.hour, came_at__lt=row.hour + HOUR)
        row.counts = documents_of(counted(uses))
        if row.counts:
            row.save(update_fields=["counts"])
        else:
            row.delete()


def _hour_of(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
