"""Read runs as trends name them, whose runs a trend follows, and what changed from each to the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Max, QuerySet
from django.http import Http404
from django.urls import reverse
from django.utils.text import slugify

from reports.filters.case_filters import address_query, text
from reports.trends.analysis import RunFacts
from toolevals.grading.values.canonical import digest
from toolevals.runs.aggregates.spending import Spending
from toolevals.runs.models import Experiment, Run
from toolevals.runs.runs.models import RunQuerySet
from toolevals.workspace.requests import ProjectRequest

# What of an agent or its dataset is told apart: label -> how to read it from a run.
COMPARED: Final[dict[str, Callable[[Run], str]]] = {
    "agent": lambda run: run.agent.name,
    "model": lambda run: run.agent.model,
    "prompt": lambda run: run.agent.prompt_version,
    "commit": lambda run: run.agent.commit[:10],
    "tools": lambda run: f"v{run.agent.tools.number}" if run.agent.tools else "",
    "dataset": lambda run: f"{run.dataset_version.dataset.name} v{run.dataset_version.number}",
    "examples": lambda run: "all" if run.only is None else f"{run.size} of {run.dataset_version.size}",
    "gold": lambda run: f"v{run.grading.dataset_version.number}" if run.grading and _graded_elsewhere(run) else "",
}
# All that is read of a run: the rest of these rows is many times as long.
READ: Final = (
    *("number", "created_at", "only", "trials"),
    *("experiment__slug", "agent__name", "agent__model", "agent__prompt_version", "agent__commit"),
    *("agent__tools__number", "agent__tools__registry"),
    *("dataset_version__number", "dataset_version__size", "dataset_version__dataset__name"),
    *("grading__graders", "grading__spending", "grading__dataset_version__number"),
)


def recent_runs(runs: QuerySet[Run], *, most: int, upto: int | None = None) -> list[RunFacts]:
    """Return the newest graded ones of some runs, oldest first, as they stand in their shown gradings. One query."""
    wanted = runs.filter(grading__isnull=False)
    if upto is not None:
        wanted = wanted.filter(number__lte=upto)
    read = wanted.select_related(
        "experiment", "agent__tools", "dataset_version__dataset", "grading__dataset_version"
    ).only(*READ)
    facts: list[RunFacts] = []
    before: Run | None = None
    for run in reversed(read.order_by("-number")[:most]):
        facts.append(_facts(run, before))
        before = run
    return facts


def _facts(run: Run, before: Run | None) -> RunFacts:
    now = {name: read(run) for name, read in COMPARED.items()}
    then = {name: read(before) for name, read in COMPARED.items()} if before else now
    new = {name: now[name] or "none" for name in COMPARED if now[name] != then[name]}
    graders = _graders(run)
    if before and (other := [f"{name} {graders[name]}" for name in _regraded(before, run)]):
        new["graders"] = ", ".join(other)
    return RunFacts(
        number=run.number,
        agent=run.agent.name,
        dataset_version=run.dataset_version_id,
        dataset=now["dataset"],
        created_at=run.created_at,
        changed=", ".join(f"{name} {value}" for name, value in new.items()),
        part=part_of(run),
        graded_on=run.grading.dataset_version_id if run.grading and _graded_elsewhere(run) else None,
        changes=tuple(new),
        grading=run.grading_id,
        graders=graders,
        experiment=run.experiment.slug,
        registry=run.agent.tools.registry_id if run.agent.tools else None,
        trials=run.trials,
        took=Spending.of(run.grading.spending if run.grading else None),
    )


def _regraded(before: Run, run: Run) -> list[str]:
    """Return the graders that both runs know, in another version now."""
    then, now = _graders(before), _graders(run)
    return sorted(name for name in then.keys() & now.keys() if then[name] != now[name])


def _graders(run: Run) -> dict[str, str]:
    return {each["name"]: str(each["version"]) for each in run.grading.graders} if run.grading else {}


def _graded_elsewhere(run: Run) -> bool:
    """Return whether a run's shown grading is on a later version than its own."""
    return bool(run.grading and run.grading.dataset_version_id != run.dataset_version_id)


def part_of(run: Run) -> str:
    """Return a name of the part of its dataset version that a run takes; empty where it takes all of it."""
    return "" if run.only is None else digest(run.only)


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
