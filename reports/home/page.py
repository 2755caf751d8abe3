"""Show a project's first page: the newest graded run and its dataset, experiments, labels, or the first steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import OuterRef, QuerySet, Subquery
from django.urls import reverse

from labeling.label.throughput import Throughput, throughput_of
from labeling.models import Dataset, DatasetVersion
from reports.cases.queries import grading_sums, verdict_counts
from reports.compare.analysis import RunComparison
from reports.compare.layers import LayerDelta
from reports.compare.queries import MOST_COMPARED, TwoRuns, candidates_for, default_baseline, two_runs
from reports.gates.page import NewestGate, newest_gate, verdict_of
from reports.home.confusions import Confusions, confusions_of
from reports.home.first_steps import FirstSteps, first_steps
from reports.home.gold import GoldState, gold_state
from reports.issues.queries import IssueRow, issues_first
from reports.models import HeldGate
from reports.run.analysis import Layers, VerdictRow, failure_modes, layers_of, sentence
from reports.trends.analysis import RunFacts, Series, Trend
from reports.trends.page import runs_trend
from reports.trends.queries import recent_runs
from toolevals.grading.gates.results import Check
from toolevals.grading.values.verdict_table import VERDICTS
from toolevals.presentation.sparks import BrokenSpark, broken_spark
from toolevals.runs.aggregates.run_rows import Deciding, RunRow, deciding_of, run_states
from toolevals.runs.models import Experiment, Grading, Run
from toolevals.workspace.home import MOST_NEWS, HomePanel, News
from toolevals.workspace.models import Project, Role, User, untrashed
from toolevals.workspace.requests import ProjectRequest

# What the page follows: what decides, and the four layers.
FOLLOWED: Final = ("outcome", *(row.name for row in VERDICTS if row.letter))
MOST_RUNS: Final = 9
MOST_CANDIDATES: Final = 50
# So many runs have room for a word under each.
MOST_NAMED: Final = 6
MOST_ISSUES: Final = 3


@dataclass(frozen=True, slots=True)
class LayerLine:
    """One layer of the newest run. `check` is the gate's condition on it, `delta` the change since `before`."""

    row: VerdictRow
    spark: BrokenSpark | None
    runs: Sequence[int]
    check: Check | None
    delta: LayerDelta | None


@dataclass(frozen=True, slots=True)
class RunTick:
    """One run on the axis under the trends: what is new in it, and whether the newest run's outcome is not joined."""

    number: int
    changed: str
    is_newest: bool


@dataclass(frozen=True, slots=True)
class LayerTable:
    """The lines, the runs under them, the gate that the run was checked by, and the run that it is compared with."""

    lines: tuple[LayerLine, ...]
    ticks: tuple[RunTick, ...]
    gate: NewestGate | None
    before: Run | None
    comparison: RunComparison | None

    @property
    def outcome(self) -> LayerDelta | None:
        """The change of what decides."""
        return self.comparison.layer("outcome") if self.comparison else None


def layer_table(run: Run, layers: Layers, facts: Sequence[RunFacts], trend: Trend) -> LayerTable:
    """Return the table of a graded run with its trend over `facts`, its runs oldest first."""
    gate = newest_gate(run, run.grading_id)
    checks = {verdict_of(check.metric): check for check in reversed(gate.checks if gate else ()) if check.metric}
    pair = _compared(run)
    comparison = pair.comparison if pair else None
    deltas = {delta.name: delta for delta in comparison.layers} if comparison else {}
    return LayerTable(
        tuple(_lines(layers, facts, trend, checks, deltas)),
        tuple(RunTick(fact.number, _newest_change(fact, len(facts)), fact is facts[-1]) for fact in facts),
        gate,
        pair.before if pair else None,
        comparison,
    )


def _newest_change(fact: RunFacts, runs: int) -> str:
    """Return one word of what is new in a run; nothing where words would stand on each other."""
    return fact.changes[-1] if fact.changes and runs <= MOST_NAMED else ""


def _lines(
    layers: Layers,
    facts: Sequence[RunFacts],
    trend: Trend,
    checks: Mapping[str, Check],
    deltas: Mapping[str, LayerDelta],
) -> list[LayerLine]:
    series = {each.name: each for each in trend.series}
    shown = {row.name: row for row in layers.rows}
    numbers = [each.number for each in facts]
    least = min((_lowest(series[name]) for name in FOLLOWED if name in series), default=0.0)
    return [
        LayerLine(
            shown[name],
            _spark(series[name], facts, least) if name in series and len(facts) > 1 else None,
            numbers,
            checks.get(name),
            deltas.get(name),
        )
        for name in FOLLOWED
        if shown[name].has_answers
    ]


def _spark(series: Series, facts: Sequence[RunFacts], least: float) -> BrokenSpark:
    places = {each.number: place for place, each in enumerate(facts)}
    segments = [
        [
            (places[row.run.number], rate.value or 0.0, rate.low or 0.0, rate.high or 0.0)
            for row in segment
            for rate in [row.rates[series.name]]
        ]
        for segment in series.segments
    ]
    changes = [place for place, each in enumerate(facts) if place and each.changes]
    return broken_spark(segments, goal=series.goal, width=len(facts), changes=changes, least=least)


def _lowest(series: Series) -> float:
    return min(series.goal, *(row.rates[series.name].low or 0.0 for row in series.rows))


def _compared(run: Run) -> TwoRuns | None:
    """Return the run with the one before it, None where there is none to compare with or too much to do it here."""
    if run.size > MOST_COMPARED:
        return None
    before = default_baseline(run, candidates_for(run, MOST_CANDIDATES))
    if before is None or before.size > MOST_COMPARED:
        return None
    pair = two_runs(Run.objects.filter(project=run.project_id), before.number, run.number)
    return None if pair is None or pair.refusal else pair


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
    issues: Sequence[IssueRow]


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
        _newest(run, run.grading),
        gold_state(request, version.dataset, version),
        _labelling(request, version.dataset),
        issues_first(request.project, MOST_ISSUES),
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
