"""Rows in the native format, an example and its prediction in one object, with our own verdicts."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolevals.cli.grade_lines import Lines
from toolevals.cli.grade_tables import RATES, STATUSES, counted, rates, stacked, table
from toolevals.grading.case_metrics import METRICS, case_metrics
from toolevals.grading.catalog import GRADERS
from toolevals.grading.deciding import EXPECTED
from toolevals.grading.documents import schema
from toolevals.grading.due import due_class
from toolevals.grading.engine import compile_case, grade
from toolevals.grading.examples import first_words, read_example
from toolevals.grading.metrics.clustered import ExampleSums
from toolevals.grading.metrics.confusion import ConfusionMatrix
from toolevals.grading.parsing import Loss
from toolevals.grading.predictions import Prediction, read_prediction
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.readings import Readings
from toolevals.grading.values import Expectation, ToolSpec, Transcript
from toolevals.grading.verdicts import CaseGrade, Verdict
from toolevals.presentation.csv import Cell

PREDICTION_KEYS = tuple(key for key in schema("prediction")["properties"] if key != "id")


@dataclass(frozen=True, slots=True)
class NativeRow:
    """One row. `transcript` is None where there is no prediction; `tools` is None where none are named."""

    id: str
    trial: int
    expectation: Expectation
    strata: dict[str, str]
    tools: list[ToolSpec] | str | None
    transcript: Transcript | None
    prediction: dict[str, Any]
    goal: str | None = None
    decided_by: str = EXPECTED
    read: Prediction | None = None


def native_row(row: Any, *, message_format: str | None = None) -> NativeRow:
    """Read a row; `message_format` names the format of messages where it does not. Raises InvalidDocument."""
    if not isinstance(row, dict):
        raise InvalidDocument.at("", "is not an object")
    example = read_example({key: value for key, value in row.items() if key not in PREDICTION_KEYS})
    if example.expectation is None:
        raise InvalidDocument.at("", "has neither expected_tool nor expectation: nothing to grade by")
    made = {key: row[key] for key in PREDICTION_KEYS if key in row}
    read = None
    if made.keys() - {"trial"}:
        read = read_prediction({"id": row["id"], **made}, message_format=message_format)
    return NativeRow(
        example.external_id,
        made.get("trial", 0),
        example.expectation,
        example.strata,
        example.tools,
        None if read is None else read.transcript,
        made,
        first_words(example.input),
        example.decided_by or EXPECTED,
        read,
    )


@dataclass(frozen=True, slots=True)
class Case:
    """A graded row. `latency_ms` is None where the prediction does not say it.

    `due` is the class that an unscored or errored row is counted under, empty for others, which have it in their grade.
    `format` is the one that its messages were read from, `losses` what was left out of them.
    """

    id: str
    trial: int
    grade: CaseGrade
    strata: Mapping[str, str] = field(default_factory=dict)
    latency_ms: float | None = None
    due: str = ""
    metrics: Mapping[str, Verdict] = field(default_factory=dict)
    format: str = ""
    losses: tuple[Loss, ...] = ()


class NativeGrading:
    """Our own verdicts."""

    columns: tuple[str, ...] = ("id", "trial", *GRADERS, "tag", "mode", "expected", "actual", "reason", *METRICS,
                                "format", "left_out")  # fmt: skip

    def __init__(self, message_format: str | None = None) -> None:
        self._message_format = message_format
        # What all rows so far were read from.
        self.readings = Readings()

    def read(self, row: Any) -> Case:
        """Return the row's verdicts. Raises InvalidDocument."""
        read = native_row(row, message_format=self._message_format)
        if isinstance(read.tools, str):
            raise InvalidDocument.at("/tools", "names a registry version: without a server the row must list the tools")
        compiled = compile_case(read.expectation, read.tools or (), decided_by=read.decided_by)
        graded = grade(compiled, read.transcript)
        due = "" if graded.statuses["selection"] in ("passed", "failed") else due_class(compiled)
        latency = None if read.transcript is None else read.transcript.latency_ms
        metrics = case_metrics(compiled, read.transcript, graded, goal=read.goal)
        if read.read is None:
            return Case(read.id, read.trial, graded, read.strata, latency, due, metrics)
        self.readings.add(read.read)
        found, losses = read.read.format, read.read.losses
        return Case(read.id, read.trial, graded, read.strata, latency, due, metrics, found, losses)

    def remark(self, graded: Case) -> None:
        """Return None: the verdicts themselves say why a case is unscored."""

    def document(self, graded: Case) -> dict[str, Any]:
        """Return the full verdicts and metrics, with the example's strata, the latency and what was due, if known."""
        beside: dict[str, Any] = {"strata": dict(graded.strata)} if graded.strata else {}
        if graded.latency_ms is not None:
            beside["latency_ms"] = graded.latency_ms
        if graded.due:
            beside["due"] = graded.due
        if graded.losses:
            beside["left_out"] = [loss.to_document() for loss in graded.losses]
        metrics = {name: verdict.to_document() for name, verdict in graded.metrics.items()}
        return {"id": graded.id, "trial": graded.trial, **beside, **graded.grade.to_document(), "metrics": metrics}

    def cells(self, graded: Case) -> list[Cell]:
        """Return each grader's status, what went wrong, and the value of each metric."""
        verdicts = [graded.grade.verdicts[name].status for name in GRADERS]
        result = graded.grade
        place = [result.tag, result.mode, result.expected, result.actual, result.outcome.reason]
        means = (graded.metrics[name].value for name in METRICS)
        return [graded.id, graded.trial, *verdicts, *place, *means, graded.format, "; ".join(map(str, graded.losses))]

    def summary(self, rows: Lines) -> str:
        """Return rates by grader, the metrics' means, what went wrong, and each tool's precision and recall."""
        statuses: dict[str, Counter[str]] = {name: Counter() for name in GRADERS}
        # What is distinct among cases, and by example which of it its trials are.
        distinct: dict[tuple[str, ...], int] = {}
        examples: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        modes: Counter[str] = Counter()
        cells: Counter[tuple[str, str]] = Counter()
        metrics: dict[str, list[Verdict]] = {name: [] for name in METRICS}
        for case in rows:
            for name, verdict in case.metrics.items():
                metrics[name].append(verdict)
            said = tuple(case.grade.verdicts[name].status for name in GRADERS)
            for name, status in zip(GRADERS, said, strict=True):
                statuses[name][status] += 1
            examples[case.id].append(distinct.setdefault(said, len(distinct)))
            modes[case.grade.mode] += 1
            cells[case.grade.expected, case.grade.actual] += 1
        del modes[""], cells["", ""]
        sums = _sums(list(distinct), Counter(tuple(sorted(trials)) for trials in examples.values()))
        return stacked(
            (
                table(RATES, (rates(name, counts, sums[name]) for name, counts in statuses.items())),
                table(("metric", *STATUSES, "mean"), (_metric(name, each) for name, each in metrics.items() if each)),
                counted(("what went wrong", "cases"), modes),
                table(("tool", "expected", "called", "precision", "recall", "F1"), _tools(cells)),
            )
        )


def _sums(distinct: Sequence[tuple[str, ...]], examples: Mapping[tuple[int, ...], int]) -> dict[str, ExampleSums]:
    """Return the sums over examples of each grader, from how many examples have which of the distinct trials."""
    tallies: dict[str, Counter[tuple[int, int]]] = {name: Counter() for name in GRADERS}
    for trials, count in examples.items():
        for name, said in zip(GRADERS, zip(*map(distinct.__getitem__, trials), strict=True), strict=True):
            passed = said.count("passed")
            tallies[name][passed + said.count("failed"), passed] += count
    return {name: ExampleSums.of(each) for name, each in tallies.items()}


def _metric(name: str, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    values = [verdict.value for verdict in verdicts if verdict.value is not None]
    counts = Counter[str](verdict.status for verdict in verdicts)
    mean = f"{sum(values) / len(values):.3f}" if values else ""
    return name, *(str(counts[status]) for status in STATUSES), mean


def _tools(cells: Counter[tuple[str, str]]) -> Iterator[tuple[str, ...]]:
    for each in ConfusionMatrix(cells).per_class:
        shares = ("" if share is None else f"{share:.3f}" for share in (each.precision, each.recall, each.f1))
        yield each.name, str(each.support), str(each.predicted), *shares
