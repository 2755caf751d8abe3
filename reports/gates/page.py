"""Tell what the pages of held gates and of previews show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Count, QuerySet

from reports.models import GatePreview, HeldGate
from toolevals.grading.engine.case_metrics import METRICS
from toolevals.grading.gates.results import JUDGED, PUBLISHED_METRICS, Check, GateResult
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.presentation.csv import Cell
from toolevals.presentation.gate_reports import GATE_WORDS, ORDER, figure, interval, remarks
from toolevals.runs.aggregates.packed_cases import measured_case, metric_names
from toolevals.runs.models import CaseGrade, Grading, JudgedCase, Run

EXAMPLES_A_PAGE: Final = 50
# A gate's status, the worst first, and how it is said of several of them.
STATUS_WORDS: Final = {
    "failed": "failed",
    "unanswered": "unanswered",
    "warned": "passed with a warning",
    "passed": "passed",
    "": "running",
}
GATES_CSV: Final = (
    "gate_id",
    "created_at",
    "run",
    "grading",
    "experiment",
    "agent",
    "dataset",
    "status",
    "baseline",
    "release_candidate",
    "branch",
    "commit",
    *(f"checks_{status}" for status in ORDER),
)
CHECKS_CSV: Final = (
    "gate_id",
    "check",
    "name",
    "metric",
    "status",
    "observed",
    "low",
    "high",
    "bound",
    "count",
    "reason",
    "note",
    "example_count",
)


@dataclass(frozen=True, slots=True)
class GateRow:
    """A held gate in a list: how many checks have each status that occurs, the worst first."""

    held: HeldGate
    counts: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A check, its number from 1, and its figures as they are written."""

    number: int
    check: Check
    figure: str
    interval: str
    remarks: str


@dataclass(frozen=True, slots=True)
class ExampleRow:
    """An example of a check: its trials in the run, and in the run before, as (case, verdict)."""

    external_id: str
    now: tuple[tuple[UUID, str], ...]
    before: tuple[tuple[UUID, str], ...]


@dataclass(frozen=True, slots=True)
class NewestGate:
    """The newest decided gate of a run, with its checks; `is_of_other`: it judged another grading than is shown."""

    held: HeldGate
    checks: tuple[Check, ...]
    is_of_other: bool

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that kept it from passing."""
        return tuple(check for check in self.checks if check.status in ("failed", "unanswered"))

    @property
    def mark(self) -> str:
        """The verdict that its status is drawn as."""
        return {"passed": "passed", "warned": "passed", "failed": "failed"}.get(self.held.status, "unscored")


def newest_gate(run: Run, shown: UUID | None) -> NewestGate | None:
    """Return the newest decided gate that a run was checked by, None without one; `shown` is the grading's id."""
    held = HeldGate.objects.filter(run=run).decided().order_by("-id").first()
    if held is None:
        return None
    return NewestGate(held, tuple(held.outcome.checks) if held.outcome else (), held.grading_id != shown)


def gate_rows(held: Iterable[HeldGate]) -> list[GateRow]:
    """Return the rows of a list of held gates."""
    return [GateRow(each, tuple(check_counts(each).items())) for each in held]


def check_counts(held: HeldGate) -> dict[str, int]:
    """Return how many checks have each status that occurs, the worst first."""
    counts = Counter(check["status"] for check in held.result["checks"]) if held.result else Counter()
    return {status: counts[status] for status in ORDER if counts[status]}


def status_counts(held: QuerySet[HeldGate]) -> dict[str, int]:
    """Return how many gates have each status, "" for those that are running. One query."""
    rows = held.select_related(None).defer(None).order_by("status").values_list("status")
    return dict(rows.annotate(count=Count("pk")))


def statuses_sentence(counts: Mapping[str, int]) -> str:
    """Return how often a run was checked by a gate and how that came out, in a sentence."""
    total = sum(counts.values())
    if total == 1:
        status = next(status for status, count in counts.items() if count)
        return f"Checked by one gate: {STATUS_WORDS[status]}."
    parts = [f"{counts[status]:,} {words}" for status, words in STATUS_WORDS.items() if counts.get(status)]
    return f"Checked by {total:,} gates: {', '.join(parts)}."


def gate_words(result: GateResult) -> str:
    """Return how a gate came out, in a sentence."""
    return GATE_WORDS[result.status]


def check_rows(result: GateResult) -> list[CheckRow]:
    """Return the checks, the worst first, each with its number in the order of the gate."""
    rows = [
        CheckRow(number, check, _with_minus(figure(check)), _with_minus(interval(check)), remarks(check))
        for number, check in enumerate(result.checks, start=1)
    ]
    return sorted(rows, key=lambda row: ORDER.index(row.check.status))


def _with_minus(figures: str) -> str:
    return figures.replace("-", "−")


def verdict_of(metric: str) -> str:
    """Return the verdict or metric that is meant, by its published name or ours, or a judge's; else outcome."""
    name = PUBLISHED_METRICS.get(metric, metric)
    return name if name in VERDICT_NAMES or name in METRICS or name.startswith(JUDGED) else "outcome"


def example_rows(
    held: HeldGate, names: Sequence[str], verdict: str = "outcome", *, consistency: bool = False
) -> list[ExampleRow]:
    """Return the examples of these external ids with their cases, in this order. Four queries at most."""
    graded = held.consistency if consistency else held.grading
    now, before = _cases(graded, names, verdict), _cases(held.baseline, names, verdict)
    return [ExampleRow(name, tuple(now.get(name, ())), tuple(before.get(name, ()))) for name in names]


def gates_csv(held: Iterable[HeldGate]) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each held gate."""
    for each in held:
        counts = check_counts(each)
        run = each.run
        yield (
            each.pk,
            each.created_at,
            run.number,
            each.grading.number,
            run.experiment.slug,
            run.agent.name,
            str(each.grading.dataset_version),
            each.status,
            each.baseline.run.number if each.baseline else None,
            each.is_release_candidate,
            each.branch,
            each.commit,
            *(counts.get(status, 0) for status in ORDER),
        )


def checks_csv(held: HeldGate, result: GateResult) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each check, in the order of the gate."""
    for number, check in enumerate(result.checks, start=1):
        low, high = (check.interval.low, check.interval.high) if check.interval else (None, None)
        facts = (check.name, check.metric, check.status, check.observed, low, high, check.bound, check.count)
        yield held.pk, number, *facts, check.reason, check.note, check.example_count


def _cases(grading: Grading | None, names: Sequence[str], verdict: str) -> dict[str, list[tuple[UUID, str]]]:
    if grading is None or not names:
        return {}
    cases = CaseGrade.objects.filter(
        grading=grading, transcript__entry__revision__example__external_id__in=list(names)
    ).order_by("transcript__trial")
    found: dict[str, list[tuple[UUID, str]]] = {}
    shown = verdict if verdict in VERDICT_NAMES else "measured" if verdict in METRICS else "outcome"
    rows = list(cases.values_list("transcript__entry__revision__example__external_id", "pk", shown))
    if verdict.startswith(JUDGED):
        # What people rate without knowing it is shown to no one: such a case has no verdict here.
        judged = JudgedCase.objects.filter(grading=grading, rubric=verdict.removeprefix(JUDGED)).shown()
        said = dict(judged.filter(case__in=[case for _, case, _ in rows]).values_list("case", "status"))
        rows = [(name, case, said.get(case, "unscored")) for name, case, _ in rows]
    if verdict in METRICS:
        known = metric_names(grading.graders)
        rows = [
            (name, case, measured_case(text, known).metrics.get(verdict, ("unscored", None))[0])
            for name, case, text in rows
        ]
    for name, case, status in rows:
        found.setdefault(name, []).append((case, status))
    return found


# Rules by tool or by stratum can be many; the file holds all.
MOST_RULES: Final = 200
PREVIEW_CSV: Final = ("run", *CHECKS_CSV)


@dataclass(frozen=True, slots=True)
class PreviewCell:
    """A check of one run; `row` is None where the gate had no such check for it."""

    held: HeldGate
    row: CheckRow | None


@dataclass(frozen=True, slots=True)
class PreviewRule:
    """A rule with its check of each run."""

    name: str
    bound: str
    cells: tuple[PreviewCell, ...]


@dataclass(frozen=True, slots=True)
class PreviewTable:
    """The runs of a preview, the newest first, and the rules, those first that kept most runs from passing."""

    runs: tuple[HeldGate, ...]
    rules: tuple[PreviewRule, ...]
    rule_count: int

    @property
    def sentence(self) -> str:
        """Return how the runs would have come out."""
        counts = Counter(held.status for held in self.runs)
        parts = [f"{counts[status]} {words}" for status, words in STATUS_WORDS.items() if counts[status]]
        runs = f"Of the last {len(self.runs)} runs" if len(self.runs) > 1 else "Of the one run"
        return f"{runs}: {', '.join(parts)}."


def preview_table(preview: GatePreview) -> PreviewTable:
    """Return what is decided of a preview so far. One query."""
    held = tuple(preview_runs(preview))
    found = {
        each.pk: {row.check.name: row for row in check_rows(each.outcome)} if each.outcome else {} for each in held
    }
    names = dict.fromkeys(name for rows in found.values() for name in rows)
    rules = []
    for name in names:
        cells = tuple(PreviewCell(each, found[each.pk].get(name)) for each in held)
        bound = next(cell.row.check.bound for cell in cells if cell.row)
        rules.append(PreviewRule(name, bound, cells))
    rules.sort(key=_worst_first)
    return PreviewTable(held, tuple(rules[:MOST_RULES]), len(rules))


def preview_runs(preview: GatePreview) -> Iterator[HeldGate]:
    """Yield the results of a preview, the newest run first."""
    yield from HeldGate.objects.shown_in(preview.project).filter(preview=preview).order_by("-run__number")


def preview_csv(preview: GatePreview) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each check of each run that is decided."""
    for held in preview_runs(preview):
        if held.outcome:
            yield from ((held.run.number, *row) for row in checks_csv(held, held.outcome))


def _worst_first(rule: PreviewRule) -> tuple[int, ...]:
    counts = Counter(cell.row.check.status for cell in rule.cells if cell.row)
    return tuple(-counts[status] for status in ORDER)
