"""Counts the traces of each version of an agent: the database counts them, or what is kept of whole hours is added."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from typing import Any

from django.db.models import Count, Min
from django.utils import timezone

from toolevals.traces.models import Trace
from toolevals.traces.production.kept_hours import came_within, kept_hours
from toolevals.workspace.models import Project

_DIGITS = re.compile(r"(\d+)")
# An agent's name and its version, as traces say them.
Version = tuple[str, str]


def version_counts(project: Project) -> dict[Version, int]:
    """Return how many traces of a project are summed up of each version, in the order of the days they first came."""
    counts: Counter[Version] = Counter()
    first: dict[Version, date] = {}
    hours = kept_hours(project, (None, None), "costs")
    found = [(day, agent, version, traces) for day, rows in hours.kept for agent, version, _, traces, *_ in rows]
    traces = Trace.objects.in_project(project).summed_up().order_by().values_list("agent", "agent_version")
    for some in hours.gaps_in_parts:
        rows: Any = traces.filter(came_within(some)).annotate(first=Min("created_at"), count=Count("pk"))
        found += [(timezone.localdate(came), agent, version, count) for agent, version, came, count in rows]
    for day, agent, version, count in found:
        counts[agent, version] += count
        first[agent, version] = min(day, first.get((agent, version), day))
    return {each: counts[each] for each in sorted(counts, key=lambda each: (first[each], each[0], _natural(each[1])))}


def _natural(version: str) -> list[tuple[int, str]]:
    """Return a key by which 1.9 comes before 1.10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(version)]
