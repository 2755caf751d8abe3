"""Tell what reports tell on a project's first page, the state of every experiment first.

See `toolevals.workspace.home`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.urls import reverse

from reports.models import HeldGate
from toolevals.runs.counts.run_rows import RunRow, run_states
from toolevals.runs.models import Experiment, Run
from toolevals.workspace.home import MOST_NEWS, News
from toolevals.workspace.models import Project

MOST = 10


@dataclass(frozen=True, slots=True)
class Experiments:
    """The newest run of each experiment, those that had a run last first; `more` where there are others."""

    rows: tuple[tuple[Experiment, RunRow], ...]
    more: bool

    @property
    def at_work(self) -> bool:
        """True while any of the runs is being answered or graded."""
        return any(row.is_running for _, row in self.rows)


def experiments(project: Project) -> Experiments:
    """Return the project's experiments with how their newest run does. Three queries, however many there are."""
    states = run_states(_newest_of_each(project))
    return Experiments(tuple((row.run.experiment, row) for row in states[:MOST]), len(states) > MOST)


def news(project: Project, since: datetime) -> Iterator[News]:
    """Yield gates that runs were checked by, the newest first."""
    for at, gate, run, agent, status, by in _held(project, since):
        url = reverse("reports:gate", args=[project.slug, gate])
        yield News(at, f"Run {run} of {agent} was checked by a gate: {status}", url, by or "")


def _newest_of_each(project: Project) -> QuerySet[Run]:
    newest = Run.objects.of_people().filter(experiment=OuterRef("pk")).order_by("-number")
    lines = Experiment.objects.in_project(project).annotate(newest_run=Subquery(newest.values("number")[:1]))
    numbers = lines.filter(newest_run__isnull=False).order_by("-newest_run").values("newest_run")[: MOST + 1]
    runs: QuerySet[Run] = Run.objects.in_project(project).filter(number__in=numbers).with_newest()
    return runs


def _held(project: Project, since: datetime) -> QuerySet[Any, Any]:
    return (
        HeldGate.objects.in_project(project)
        .filter(created_at__gt=since)
        .exclude(status="")
        .values_list("created_at", "pk", "run__number", "run__agent__name", "status", "actor__name")[: MOST_NEWS + 1]
    )
