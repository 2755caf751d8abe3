"""Finds the hours of a time whose counts are kept, and the times between them, of which traces are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any, Final

from django.db.models import Case, IntegerField, Q, Value, When
from django.utils import timezone

from toolevals.traces.intake.models import first_id
from toolevals.traces.models import TraceHour
from toolevals.workspace.models import Project

HOUR: Final = timedelta(hours=1)
# Times between kept hours in one query: SQLite takes no condition of a thousand parts.
_GAPS_AT_ONCE: Final = 200

Times = tuple[datetime | None, datetime | None]


@dataclass(frozen=True, slots=True)
class KeptHours:
    """Holds what is kept of whole hours, each with its local day, and the times for which nothing is kept."""

    kept: list[tuple[date, Any]]
    gaps: list[Times]

    @property
    def gaps_in_parts(self) -> Iterator[list[Times]]:
        """The times for which nothing is kept, as many at once as a query may ask for."""
        for at in range(0, len(self.gaps), _GAPS_AT_ONCE):
            yield self.gaps[at : at + _GAPS_AT_ONCE]


def kept_hours(project: Project, times: Times, column: str) -> KeptHours:
    """Return what a column of `TraceHour` keeps of the hours that lie within two times, and within one day each."""
    since, until = (None if each is None else _floor(each) for each in times)
    hours = TraceHour.objects.filter(project=project, calls__isnull=False)
    hours = hours if since is None else hours.filter(hour__gte=since)
    hours = hours if until is None else hours.filter(hour__lte=until - HOUR)
    kept: list[tuple[date, Any]] = []
    gaps: list[Times] = []
    at = since
    for hour, counts in hours.order_by("hour").values_list("hour", column):
        day, end = timezone.localdate(hour), hour + HOUR
        # Midnight is within an hour of UTC in some places.
        if day != timezone.localdate(end - timedelta.resolution):
            continue
        kept.append((day, counts))
        if at is None or at < hour:
            gaps.append((at, hour))
        at = end
    if at is None or until is None or at < until:
        gaps.append((at, until))
    return KeptHours(kept, gaps)


def _floor(moment: datetime) -> datetime:
    """Return a time to the millisecond, as ids of traces say it: figures and the lists that they open agree."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def came_within(gaps: Iterable[Times], key: str = "pk") -> Q:
    """Return the condition that a trace, whose id is in the column `key`, came within one of these times."""
    return reduce(or_, (_came(*gap, key) for gap in gaps))


def _came(since: datetime | None, until: datetime | None, key: str) -> Q:
    after = Q() if since is None else Q(**{f"{key}__gte": first_id(since)})
    return after & (Q() if until is None else Q(**{f"{key}__lt": first_id(until)}))


def day_number(days: Sequence[datetime], key: str = "pk") -> Case:
    """Return the number of the day on which a trace came; `days` are their beginnings, and none came before the first.

    The trace's id is in the column `key`.
    """
    cases = [When(**{f"{key}__lt": first_id(end)}, then=Value(at)) for at, end in enumerate(days[1:])]
    return Case(*cases, default=Value(len(days) - 1), output_field=IntegerField())
