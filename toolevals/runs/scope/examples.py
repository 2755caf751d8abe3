"""Read the examples that a run takes of its dataset version: all of them, or those at some positions."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from django.db.models import QuerySet

from labeling.models import VersionEntry
from toolevals.runs.models import Run


def entries_between(run: Run, start: int, stop: int) -> QuerySet[VersionEntry, Any]:
    """Return the entries that the run takes at positions from `start` up to `stop`, in order."""
    entries = VersionEntry.objects.filter(version=run.dataset_version_id).order_by("position")
    if run.only is None:
        return entries.filter(position__gte=start, position__lt=stop)
    part = run.only[bisect_left(run.only, start) : bisect_left(run.only, stop)]
    return entries.filter(position__in=part)
