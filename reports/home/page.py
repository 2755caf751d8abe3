"""Show a project's first page: the newest graded run and its dataset, or the steps to the first one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from labeling.models import Dataset, DatasetVersion
from labeling.queue.throughput import Throughput, throughput_of
from reports.analyses.layers import Layers, layers_of
from reports.analyses.modes import failure_modes
from reports.analyses.sentence import sentence
from reports.home.burn_up import BurnUp, burn_up
from reports.home.confusions import Confusions, confusions_of
from reports.home.first_steps import FirstSteps, first_steps
from reports.home.gold import GoldState, gold_state
from reports.home.layers import MOST_RUNS, LayerTable, layer_table
from reports.queries.grading import grading_sums, verdict_counts
from reports.queries.run_facts import recent_runs
from reports.trends.page import runs_trend
from toolevals.runs.counts.run_rows import Deciding, deciding_of
from toolevals.runs.models import Grading, Run
from toolevals.workspace.home import HomePanel
from toolevals.workspace.models import Project, Role, User, untrashed
from toolevals.workspace.requests import ProjectRequest


@dataclass(frozen=True, slots=True)
class NewestRun:
    """The newest graded run of the project's people, and what its grading says."""

    run: Run
    grading: Grading
    layers: Layers
    says: str
    decided: Deciding
    table: LayerTable
    confusions: Confusions


@dataclass(frozen=True, slots=True)
class Labelling:
    """The state of a dataset's labelling, with its picture."""

    dataset: Dataset
    found: Throughput
    picture: BurnUp
    may_label: bool


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything that the page shows besides what waits and what is new."""

    newest: NewestRun
    gold: GoldState
    labelling: Labelling


@dataclass(frozen=True, slots=True)
class Start:
    """The page of a project without a graded run. `labelling` is there once someone can label.

    `seen` is the newest graded run of another project that the person is a member of: it shows what the steps lead to.
    """

    steps: FirstSteps
    labelling: Labelling | None
    seen: NewestRun | None


def project_look(request: ProjectRequest) -> HomePanel:
    """Return what the page of a project shows above its news."""
    run = newest_run(request.project)
    if run is None or run.grading is None:
        dataset = Dataset.objects.filter(project=request.project).order_by("-created_at", "-pk").first()
        labelling = _labelling(request, dataset) if dataset else None
        started = labelling if labelling and labelling.found.wanted else None
        return HomePanel("reports/home_start.html", Start(first_steps(request), started, _seen(request.user)))
    version: DatasetVersion = run.grading.dataset_version
    overview = Overview(
        _newest(run, run.grading), gold_state(request, version.dataset, version), _labelling(request, version.dataset)
    )
    return HomePanel("reports/home.html", overview)


def _seen(person: User) -> NewestRun | None:
    mine = Project.objects.filter(deleted_at=None, memberships__user=person)
    kept = untrashed("dataset_version__dataset")
    graded = Run.objects.of_people().filter(kept, project__in=mine, grading__isnull=False)
    newest = graded.select_related("project").order_by("-pk").first()
    run = newest_run(newest.project) if newest else None
    return _newest(run, run.grading) if run and run.grading else None


def newest_run(project: Project) -> Run | None:
    """Return the newest graded run over a whole dataset version, or else over a part of one.

    None over a dataset that was deleted: the page leads to its labels.
    """
    found: Run | None = _graded(project, only__isnull=True).first() or _graded(project).first()
    if found is not None and found.grading is not None:
        found.grading.run = found
    return found


def _graded(project: Project, **wanted: Any) -> QuerySet[Run]:
    kept = untrashed("dataset_version__dataset")
    graded = Run.objects.of_people().filter(kept, project=project, grading__isnull=False, **wanted)
    read = graded.select_related(
        "agent", "experiment", "dataset_version__dataset", "grading__dataset_version__dataset__project"
    )
    return read.order_by("-number")[:1]


def _newest(run: Run, grading: Grading) -> NewestRun:
    counts = verdict_counts(grading)
    layers = layers_of(counts, grading_sums(grading))
    facts = recent_runs(run.experiment.runs.filter(baseline_agent=""), upto=run.number, most=MOST_RUNS)
    return NewestRun(
        run,
        grading,
        layers,
        sentence(layers, failure_modes(counts.get("mode", {}))),
        deciding_of(counts),
        layer_table(run, layers, facts, runs_trend(facts)),
        confusions_of(grading),
    )


def _labelling(request: ProjectRequest, dataset: Dataset) -> Labelling:
    throughput = throughput_of(dataset, request.user)
    return Labelling(dataset, throughput, burn_up(throughput), request.role >= Role.REVIEWER)
