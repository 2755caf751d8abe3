"""Show a project's first page: the newest graded run and its dataset, experiments, labels, or the first steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import OuterRef, QuerySet, Subquery
from django.urls import reverse

from labeling.models import Dataset, DatasetVersion
from labeling.queue.throughput import Throughput, throughput_of
from reports.cases.queries import grading_sums, verdict_counts
from reports.home.confusions import Confusions, confusions_of
from reports.home.first_steps import FirstSteps, first_steps
from reports.home.gold import GoldState, gold_state
from reports.home.layers import MOST_RUNS, LayerTable, layer_table
from reports.models import HeldGate
from reports.run.analysis import Layers, failure_modes, layers_of, sentence
from reports.trends.page import runs_trend
from reports.trends.queries import recent_runs
from toolevals.runs.aggregates.run_rows import Deciding, RunRow, deciding_of, run_states
from toolevals.runs.models import Experiment, Grading, Run
from toolevals.workspace.home import MOST_NEWS, Look, News
from toolevals.workspace.models import Project, Role, User, untrashed
from toolevals.workspace.requests import ProjectRequest

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


WIDTH: Final = 340.0
FOOT: Final = 118.0
HEAD: Final = 6.0
# The days that came take this share of the width; the rest is what comes.
NOW: Final = 0.84
TALLEST_BAR: Final = 36.0


@dataclass(frozen=True, slots=True)
class Bar:
    """One day, as attributes of two rectangles of the same width: everyone's labels, one's own."""

    x: str
    width: str
    y: str
    height: str
    own_y: str
    own_height: str


@dataclass(frozen=True, slots=True)
class BurnUp:
    """The bars, the line of the sum, the point of today, and the line to the day when all are in (empty: unknown)."""

    bars: tuple[Bar, ...]
    line: str
    now_x: str
    now_y: str
    projection: str


def burn_up(throughput: Throughput) -> BurnUp:
    """Return the picture of a dataset's labels, in units of an SVG of 340 x 124."""
    step = WIDTH * NOW / len(throughput.days)
    most = max(1, *(max(day.labels, day.own) for day in throughput.days))
    whole = max(1, throughput.wanted)

    def height(labels: int) -> float:
        return TALLEST_BAR * labels / most

    def y(done: int) -> float:
        return FOOT - (FOOT - HEAD) * min(1.0, done / whole)

    bars = tuple(
        Bar(
            f"{place * step + 1.5:.1f}",
            f"{step - 3:.1f}",
            f"{FOOT - height(day.labels):.1f}",
            f"{height(day.labels):.1f}",
            f"{FOOT - height(day.own):.1f}",
            f"{height(day.own):.1f}",
        )
        for place, day in enumerate(throughput.days)
        if day.labels or day.own
    )
    done = throughput.done - sum(day.labels for day in throughput.days)
    points = [f"0.0,{y(done):.1f}"]
    for place, day in enumerate(throughput.days, start=1):
        done += day.labels
        points.append(f"{place * step:.1f},{y(done):.1f}")
    now_x, now_y = points[-1].split(",")
    projection = f"M{now_x} {now_y}L{WIDTH:g} {HEAD:g}" if throughput.forecast else ""
    return BurnUp(bars, " ".join(points), now_x, now_y, projection)


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


def project_look(request: ProjectRequest) -> Look:
    """Return what the page of a project shows above its news."""
    run = newest_run(request.project)
    if run is None or run.grading is None:
        dataset = Dataset.objects.filter(project=request.project).order_by("-created_at", "-pk").first()
        labelling = _labelling(request, dataset) if dataset else None
        started = labelling if labelling and labelling.found.wanted else None
        return Look("reports/home_start.html", Start(first_steps(request), started, _seen(request.user)))
    version: DatasetVersion = run.grading.dataset_version
    overview = Overview(
        _newest(run, run.grading), gold_state(request, version.dataset, version), _labelling(request, version.dataset)
    )
    return Look("reports/home.html", overview)


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
