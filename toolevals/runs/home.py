"""Tell what runs tell on a project's first page: see `toolevals.workspace.home`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from toolevals.runs.models import Grading
from toolevals.workspace.home import MOST_NEWS, News
from toolevals.workspace.models import Project, untrashed, within


def news(project: Project, since: datetime) -> Iterator[News]:
    """Yield gradings that finished, of runs that people started, the newest first."""
    for at, times, run, agent, dataset, version, by in _graded(project, since):
        again = "" if times == 1 else " again"
        words = f"Run {run} of {agent} graded{again} on {dataset} v{version}"
        yield News(at, words, reverse("reports:run", args=[project.slug, run]), by or "")


def _graded(project: Project, since: datetime) -> QuerySet[Any, Any]:
    return (
        Grading.objects.filter(
            within(project, "run"), untrashed("dataset_version__dataset"), run__baseline_agent="", finished_at__gt=since
        )
        .order_by("-pk")
        .values_list(
            "finished_at",
            "number",
            "run__number",
            "run__agent__name",
            "dataset_version__dataset__name",
            "dataset_version__number",
            "actor__name",
        )[: MOST_NEWS + 1]
    )
