"""Tell what runs tell on a project's first page: see `toolevals.workspace.home`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.urls import reverse

from toolevals.runs.models import Grading
from toolevals.workspace.home import MOST_NEWS, News
from toolevals.workspace.models import Project, untrashed, within


def news(project: Project, since: datetime) -> Iterator[News]:
    """Yield gradings that finished, of runs that people started, the newest first."""
    gradings = Grading.objects.filter(
        within(project, "run"), untrashed("dataset_version__dataset"), run__baseline_agent="", finished_at__gt=since
    ).order_by("-pk")
    for grading in gradings.select_related("run__agent", "dataset_version__dataset", "actor")[: MOST_NEWS + 1]:
        run, version = grading.run, grading.dataset_version
        again = "" if grading.number == 1 else " again"
        words = f"Run {run.number} of {run.agent.name} was graded{again} on {version.dataset.name} v{version.number}"
        url = reverse("reports:run", args=[project.slug, run.number])
        yield News(grading.finished_at or grading.created_at, words, url, grading.actor.name if grading.actor else "")
