"""Tell whose runs a trend follows: those of an experiment, or those of an agent in any experiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Max
from django.http import Http404
from django.urls import reverse
from django.utils.text import slugify

from reports.filters.case_filters import address_query, text
from reports.queries.run_facts import recent_runs
from toolevals.runs.models import Experiment, Run
from toolevals.runs.runs.models import RunQuerySet
from toolevals.workspace.requests import ProjectRequest

MOST_RUNS = 200
MOST_CHOICES = 200


@dataclass(frozen=True, slots=True)
class Scope:
    """Some runs, as a trend's page, file and answer name them; `csv` is the file's address, `chosen` its parameters."""

    title: str
    runs: RunQuerySet
    file: str
    csv: str
    experiment: Experiment | None = None
    chosen: tuple[tuple[str, str], ...] = ()
    # What else may be chosen: parameter -> (value, in words), those with the newest runs first.
    choices: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()

    @property
    def recent(self) -> list[Any]:
        """The newest runs, oldest first. One query."""
        return list(recent_runs(self.runs, most=MOST_RUNS))

    @property
    def deleted(self) -> list[Run]:
        """The experiment's runs that were deleted, the newest first: they are named and not drawn. One query."""
        if self.experiment is None:
            return []
        rows = Run.with_trash.filter(experiment=self.experiment).exclude(deleted_at=None)
        return list(rows.order_by("-number")[:MOST_RUNS])


def experiment_of(request: ProjectRequest, slug: str) -> Experiment:
    """Return the project's experiment, or raise Http404."""
    row = Experiment.objects.filter(project=request.project, slug=slug).first()
    if row is None:
        raise Http404
    return row


def experiment_scope(request: ProjectRequest, slug: str) -> Scope:
    """Return the runs of an experiment, or raise Http404."""
    experiment = experiment_of(request, slug)
    csv = reverse("reports:trends-csv", args=[request.project.slug, slug])
    return Scope(experiment.name, Run.objects.filter(experiment=experiment), f"{slug}-trends", csv, experiment)


def agent_scope(request: ProjectRequest) -> Scope:
    """Return the runs of every state of the agent that `agent` names, over the project's experiments.

    Without it that of the newest graded run; `experiment` keeps one experiment's, and `dataset` (by default that of
    the newest of them) one dataset's; one that the agent has no run of counts as not given. Raises Http404 where
    no one of that name has a graded run.
    """
    graded = Run.objects.of_people().filter(project=request.project, grading__isnull=False)
    names = _choices(graded, "agent__name")
    agent = text(request.GET, "agent") or (names[0][0] if names else "")
    runs = graded.filter(agent__name=agent)
    experiments = _choices(runs, "experiment__slug", "experiment__name")
    if agent and not experiments:
        raise Http404
    experiment = _one_of(experiments, text(request.GET, "experiment"), "")
    runs = runs.filter(experiment__slug=experiment) if experiment else runs
    datasets = _choices(runs, "dataset_version__dataset__slug", "dataset_version__dataset__name")
    dataset = _one_of(datasets, text(request.GET, "dataset"), datasets[0][0] if datasets else "")
    chosen = {"agent": agent, "experiment": experiment, "dataset": dataset}
    csv = reverse("reports:agent-trends-csv", args=[request.project.slug])
    return Scope(
        agent or "Agents",
        runs.filter(dataset_version__dataset__slug=dataset),
        f"agent-{slugify(agent)[:60] or 'trends'}-{dataset}-trends",
        f"{csv}?{address_query(chosen)}",
        chosen=tuple(chosen.items()),
        choices=(("agent", names), ("experiment", (("", "all"), *experiments)), ("dataset", datasets)),
    )


def _choices(runs: RunQuerySet, value: str, words: str = "") -> tuple[tuple[str, str], ...]:
    """Return the values that runs have, and what they are called, those with the newest runs first."""
    choices = runs.order_by().values_list(value, words or value).annotate(newest=Max("number")).order_by("-newest")
    return tuple((each, called) for each, called, _ in choices[:MOST_CHOICES])


def _one_of(choices: tuple[tuple[str, str], ...], wanted: str, default: str) -> str:
    return wanted if wanted in dict(choices) else default
