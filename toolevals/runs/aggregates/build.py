"""Count a grading's cases, metrics, judges and spending once, so that a page costs tools by tools and not a scan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Sum

from toolevals.grading.gates.case_table import Scores
from toolevals.grading.metrics.means import counted_mean
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.aggregates.cube import CONTEXT, Counted, Unit, View
from toolevals.runs.aggregates.disagreement import disagreement_write
from toolevals.runs.aggregates.packed_cases import measured_case, metric_names, packed_store
from toolevals.runs.aggregates.read_cases import (
    FREE,
    CaseTallies,
    CountedGrading,
    cases_count,
    counted_store,
    free_calls,
    turns_write,
)
from toolevals.runs.aggregates.sums import KEPT_COLUMNS, sums_to_keep, verdict_sums_to_keep
from toolevals.runs.aggregates.tool_spending import tool_spending_store, tools_spent
from toolevals.runs.aggregates.trials import STEP_COLUMNS, TRIAL_COLUMNS, step_rows, tallies_store, trial_rows
from toolevals.runs.grading.models import IS_LATENT
from toolevals.runs.judging.judge_snapshots import seats_of
from toolevals.runs.models import (
    AlignedPair,
    ArgumentCount,
    ArgumentFault,
    CaseFinding,
    CaseGrade,
    Episode,
    FindingCount,
    Grading,
    Judge,
    JudgeCount,
    JudgedCase,
    Judgement,
    KeptSums,
    MatrixCount,
    MetricCount,
    Run,
    StepCount,
    Transcript,
    TrialCount,
    VerdictCount,
)
from toolevals.runs.queries import grading_at_work
from toolevals.workspace.addresses import address
from toolevals.workspace.bulk import rows_insert, tables_analyze
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.models import EventKind
from toolevals.workspace.notifications.events import event_note

METRIC_COLUMNS: Final = (
    "grading_id",
    "metric",
    "passed",
    "failed",
    "unscored",
    "errored",
    "mean",
    "low",
    "high",
    "examples",
)
_CHUNK = 2000
# The texts of an example's trials -> how many examples have these.
_Texts = Mapping[tuple[str, ...], int]
STATUSES = ("passed", "failed", "unscored", "errored")
SCORED = STATUSES[:2]
COLUMNS = (*VERDICT_NAMES, "tag", "mode")
LATENT, SELECTION = "latent", "selection"
FAULT_GROUP = ("tool", "argument", "kind")


def metric_rows(grading: Grading, texts: _Texts) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each metric of a grading, in the order of METRIC_COLUMNS; none in one from before."""
    names = metric_names(grading.graders)
    for name in names:
        statuses: Counter[str] = Counter()
        outcomes: Counter[Scores] = Counter()
        for trials, count in texts.items():
            values = [measured_case(text, names).metrics[name] for text in trials if text]
            for status, _ in values:
                statuses[status] += count
            outcomes[tuple(value for _, value in values)] += count
        mean = counted_mean(outcomes)
        low, high = (mean.interval.low, mean.interval.high) if mean.interval else (None, None)
        counts = (statuses[each] for each in METRIC_COLUMNS[2:6])
        yield grading.pk, name, *counts, mean.value, low, high, mean.count


def judge_counts(grading: Grading) -> Iterator[JudgeCount]:
    """Yield a count for each judge of a grading whose cases are all there; nothing is asked where there is none."""
    if not (seats := seats_of(grading)):
        return
    rubrics = dict(Judge.objects.filter(pk__in=[seat.judge for seat in seats]).values_list("pk", "rubric"))
    found: dict[str, Counter[str]] = {}
    sums: dict[str, float] = {}
    cases = JudgedCase.objects.filter(grading=grading).order_by("rubric", "status")
    for name, status, count, total in cases.values_list("rubric", "status").annotate(Count("pk"), Sum("value")):
        found.setdefault(name, Counter())[status] = count
        sums[name] = sums.get(name, 0.0) + (total or 0.0)
    for seat in seats:
        counts = found.get(seat.rubric, Counter())
        settled = JudgedCase.objects.filter(grading=grading, rubric=seat.rubric, status="passed", questions=0).count()
        scored = counts["passed"] + counts["failed"]
        judge = UUID(seat.judge)
        yield JudgeCount(
            grading=grading,
            judge_id=judge,
            rubric=seat.rubric,
            **{status: counts[status] for status in STATUSES},
            settled=settled,
            mean=sums[seat.rubric] / scored if scored else None,
            **Judgement.objects.spent_on(grading, rubrics[judge], seat.model),
        )


def grading_roll_up(lease: Lease) -> None:
    """Count a grading whose cases are all there, mark it finished, and show it unless the run has a newer one."""
    grading = grading_at_work(lease.payload["grading"])
    tables_analyze(Transcript, CaseGrade, AlignedPair, ArgumentFault, CaseFinding, Episode, JudgedCase, keys_only=True)
    faults = [(grading.pk, *row) for row in _faults(grading)]
    findings = list(finding_counts(grading))
    judges = list(judge_counts(grading))
    spent = tools_spent(grading)
    turns_write(grading.run)
    tallies = CaseTallies(grading)
    counted = cases_count(grading, tallies)
    spending = tallies.sums.spending(measured=sum(each.says_anything for each in spent))
    trials = list(trial_rows(grading))
    steps = list(step_rows(grading)) if tallies.has_several_calls else []
    packed = tallies.packed()
    matrix = counted.matrices[View.FIRST, Unit.TRIAL]
    cells = list(_cells(grading, counted))
    verdicts = list(_verdicts(grading, matrix, tallies))
    metrics = list(metric_rows(grading, tallies.texts))
    kept = sums_to_keep(grading, several_calls=tallies.has_several_calls)
    if packed.trials > 1:
        kept.append(verdict_sums_to_keep(grading, packed))
    with lease.finish():
        rows_insert(MatrixCount, ("grading_id", "view", "expected", "actual", "count"), cells)
        rows_insert(VerdictCount, ("grading_id", "column", "value", "count"), verdicts)
        rows_insert(ArgumentCount, ("grading_id", *FAULT_GROUP, "count"), faults)
        rows_insert(FindingCount, ("grading_id", "family", "kind", "tool", "cases", "count"), findings)
        rows_insert(TrialCount, TRIAL_COLUMNS, trials)
        tallies_store(grading, trials)
        rows_insert(StepCount, STEP_COLUMNS, steps)
        JudgeCount.objects.bulk_create(judges)
        rows_insert(MetricCount, METRIC_COLUMNS, metrics)
        packed_store(grading, packed)
        tool_spending_store(grading, spent)
        counted_store(grading, counted)
        rows_insert(KeptSums, KEPT_COLUMNS, ((each.grading_id, each.kind, each.document) for each in kept))
        Grading.objects.filter(pk=grading.pk).update(finished_at=database_now(), spending=spending)
        older = Q(grading__isnull=True) | Q(grading__number__lt=grading.number)
        shown = Run.objects.filter(older, pk=grading.run_id).values("pk")
        Run.objects.filter(pk__in=shown).update(grading=grading)
        _finish_note(grading, lease.batch.job.kind, verdicts)
    # Not in the grading's transaction: what it writes follows from what is there, and is made again by the next.
    if not grading.run.baseline_agent:
        disagreement_write(grading.dataset_version.dataset, grading)


def _finish_note(grading: Grading, kind: str, verdicts: Sequence[tuple[Any, ...]]) -> None:
    """Tell that a run is finished; not of one that is graded again, and not of a baseline agent."""
    run = grading.run
    if kind != "run" or run.baseline_agent:
        return
    version = grading.dataset_version
    cases = {value: count for _, column, value, count in verdicts if column == "outcome"}
    passed, whole = cases.get("passed", 0), sum(cases.values())
    event_note(
        project=run.project,
        kind=EventKind.RUN_FINISHED,
        summary=f"Run {run.number} of {run.agent.name} on {version.dataset.name} v{version.number} is finished: "
        f"{passed:,} of {whole:,} cases passed",
        path=address("reports:run", run.project.slug, run.number),
        facts={
            "run": run.number,
            "agent": run.agent.name,
            "experiment": run.experiment.slug,
            "dataset": version.dataset.slug,
            "dataset_version": version.number,
            "cases": cases,
        },
    )


def _cells(grading: Grading, counted: CountedGrading) -> Iterator[tuple[Any, ...]]:
    """Yield the matrix of first calls, without the cases outside it, that of aligned pairs, and calls next to both."""
    first = counted.matrices[View.FIRST, Unit.TRIAL]
    # Where every case holds one call, both are the same.
    aligned = counted.matrices.get((View.ALIGNED, Unit.TRIAL), first)
    for view, matrix in ((View.FIRST, first), (View.ALIGNED, aligned)):
        for cell, count in sorted(matrix.in_cells(range(len(matrix.contexts))).items()):
            yield grading.pk, view.value, *cell, count
    # Outside the matrix and yet judged by their calls: only then any call will do.
    if first.totals(first.where({"selection": SCORED.__contains__}))[0]:
        for tool, count in sorted(free_calls(grading).items()):
            yield grading.pk, FREE, "", tool, count


def _verdicts(grading: Grading, matrix: Counted, tallies: CaseTallies) -> Iterator[tuple[Any, ...]]:
    """Yield how often each value occurs in each column, an empty tag or mode being none; and the latent bugs.

    In the matrix of first calls every case is counted once, in the cell outside where it has no place.
    """
    counts: Counter[tuple[str, str]] = Counter({("decided_by", name): n for name, n in tallies.decided_by.items()})
    for context, (start, stop) in zip(matrix.contexts, pairwise(matrix.bounds), strict=True):
        count = sum(matrix.counts[start:stop])
        case = dict(zip(CONTEXT, context, strict=True))
        for name in COLUMNS:
            counts[name, case[name]] += count
        if case.items() >= IS_LATENT.items():
            counts[LATENT, SELECTION] += count
    for (name, value), count in sorted(counts.items()):
        if value:
            yield grading.pk, name, value, count


def finding_counts(grading: Grading) -> Iterator[tuple[Any, ...]]:
    """Yield the cases and the findings of each kind for each tool, for all tools, and for its family."""
    for names in (("family", "kind", "tool"), ("family", "kind"), ("family",)):
        some = list(_findings(grading, names))
        if not some:
            # Nothing is found of a family either where nothing is of any tool.
            break
        for *found, cases, count in some:
            yield (grading.pk, *found, *([""] * (3 - len(found))), cases, count)


def _faults(grading: Grading) -> QuerySet[ArgumentFault, Any]:
    rows = ArgumentFault.objects.filter(grading=grading).order_by(*FAULT_GROUP).values_list(*FAULT_GROUP)
    return rows.annotate(count=Count("pk"))


def _findings(grading: Grading, names: tuple[str, ...]) -> QuerySet[CaseFinding, Any]:
    rows = CaseFinding.objects.filter(grading=grading).order_by(*names).values_list(*names)
    return rows.annotate(cases=Count("case", distinct=True), count=Sum("count"))
