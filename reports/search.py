"""Find runs, experiments and agents by name: see `toolevals.workspace.search`."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Q
from django.urls import reverse

from toolevals.runs.models import Experiment, Run
from toolevals.workspace.requests import ProjectRequest, whole_number
from toolevals.workspace.search import MOST, Found


def runs_found(request: ProjectRequest, words: str) -> Iterator[Found]:
    """Yield runs by number ("9", "run 9") or agent, the newest first, and experiments by name."""
    project = request.project
    number = whole_number(words.casefold().removeprefix("run").strip())
    named = Q(agent__name__icontains=words)
    if number is not None:
        named |= Q(number=number)
    runs = Run.objects.of_people().filter(named, project=project)
    for run in runs.select_related("agent", "dataset_version__dataset").order_by("-number")[:MOST]:
        version = run.dataset_version
        detail = f"{run.agent.name} on {version.dataset.name} v{version.number}"
        yield Found("Runs", f"Run {run.number}", detail, reverse("reports:run", args=[project.slug, run.number]))
    for experiment in (
        Experiment.objects.in_project(project).filter(name__icontains=words).order_by("name", "pk")[:MOST]
    ):
        url = reverse("reports:trends", args=[project.slug, experiment.slug])
        yield Found("Experiments", experiment.name, experiment.slug, url)
