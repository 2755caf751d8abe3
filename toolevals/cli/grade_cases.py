"""Grades rows in the native format, an example and its prediction in one object, with our own verdicts."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple

from orjson import dumps

from toolevals.cli.grade_rows import gold_of, json_line, parted, prediction_of
from toolevals.cli.output import stacked, table
from toolevals.grading.dialects.other_verdicts import ToolevalsVerdict, verdicts_beside
from toolevals.grading.engine.case_metrics import METRICS, case_metrics
from toolevals.grading.engine.grader_catalog import GRADERS
from toolevals.grading.engine.grading import CompiledCase, compile_case, first_expected_class, grade
from toolevals.grading.gates.results import FUNCTION_CALLS, PASS_MARK
from toolevals.grading.json_schema.conformance import with_formats
from toolevals.grading.metrics.clustered import ExampleSums, rate
from toolevals.grading.metrics.confusion import ConfusionMatrix
from toolevals.grading.reading.examples import first_words, read_example
from toolevals.grading.reading.parsing import Loss
from toolevals.grading.reading.predictions import Prediction
from toolevals.grading.reading.reading_report import Readings
from toolevals.grading.values import ToolSpec, Transcript
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.verdicts import EXPECTED, CaseGrade, Verdict
from toolevals.json_types import JsonObject, JsonValue
from toolevals.presentation.csv import Cell

STATUSES = ("passed", "failed", "unscored", "errored")
RATES = ("", *STATUSES, "rate", "95 %")


def rates(name: str, counts: Counter[str], sums: ExampleSums | None = None) -> tuple[str, ...]:
    """Return a line of the table of rates: counts by status, the rate passed, its interval.

    `sums` are those over examples, where these may have several trials.
    """
    found = rate(counts["passed"], counts["passed"] + counts["failed"], sums)
    shown = ("", "") if found.value is None else (f"{found.value:.3f}", f"{found.low:.3f} to {found.high:.3f}")
    return name, *(str(counts[status]) for status in STATUSES), *shown


def counted(head: tuple[str, str], counts: Counter[str]) -> str:
    """Return a table of counts, the largest first."""
    return table(head, ((name, str(count)) for name, count in counts.most_common()))


class RowSummary(NamedTuple):
    """The counted part of a graded row: statuses in the order of GRADERS, and each metric's status and value."""

    id: str
    statuses: tuple[str, ...]
    mode: str
    cell: tuple[str, str]
    metrics: Mapping[str, tuple[str, float | None]]


def summary_of(briefs: Iterable[RowSummary]) -> str:
    """Return rates by grader, the metrics' means, what went wrong, and each tool's precision and recall."""
    statuses: dict[str, Counter[str]] = {name: Counter() for name in GRADERS}
    # What is distinct among cases, and by example which of it its trials are.
    distinct: dict[tuple[str, ...], int] = {}
    examples: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
    modes: Counter[str] = Counter()
    cells: Counter[tuple[str, str]] = Counter()
    metrics: dict[str, list[tuple[str, float | None]]] = {name: [] for name in METRICS}
    for case in briefs:
        for name, verdict in case.metrics.items():
            metrics[name].append(verdict)
        for name, status in zip(GRADERS, case.statuses, strict=True):
            statuses[name][status] += 1
        examples[case.id].append(distinct.setdefault(case.statuses, len(distinct)))
        modes[case.mode] += 1
        cells[case.cell] += 1
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


def _metric(name: str, said: Sequence[tuple[str, float | None]]) -> tuple[str, ...]:
    values = [value for _, value in said if value is not None]
    counts = Counter[str](status for status, _ in said)
    mean = f"{sum(values) / len(values):.3f}" if values else ""
    return name, *(str(counts[status]) for status in STATUSES), mean


def _tools(cells: Counter[tuple[str, str]]) -> Iterator[tuple[str, ...]]:
    for each in ConfusionMatrix(cells).per_class:
        shares = ("" if share is None else f"{share:.3f}" for share in (each.precision, each.recall, each.f1))
        yield each.name, str(each.support), str(each.predicted), *shares


class Example(NamedTuple):
    """The data that grades all trials of an example. `named` is a registry version that it names in place of tools."""

    id: str
    strata: Mapping[str, str]
    compiled: CompiledCase
    goal: str | None
    named: str
    tools: Sequence[ToolSpec] | None


def example_of(asked: JsonObject, *, assert_formats: bool = False) -> Example:
    """Read and compile what a row says of its example. Raises InvalidDocument."""
    example = read_example(asked)
    tools = example.tools if isinstance(example.tools, list) else ()
    if assert_formats:
        tools = [with_formats(tool, asserted=True) for tool in tools]
    compiled = compile_case(gold_of(example), tools, decided_by=example.decided_by or EXPECTED)
    named = example.tools if isinstance(example.tools, str) else ""
    return Example(example.external_id, example.strata, compiled, first_words(example.input), named, tools or None)


@dataclass(frozen=True, slots=True)
class Case:
    """A graded row. `latency_ms`, `tokens` (in and out) and `cost` are None where the prediction does not say them.

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
    tokens: float | None = None
    cost: float | None = None


def case_of(
    example: Example,
    trial: int,
    graded: CaseGrade,
    metrics: Mapping[str, Verdict],
    read: Prediction | None,
) -> Case:
    """Return a row as a graded case; `read` is None where there is no prediction."""
    transcript = None if read is None else read.transcript
    due = "" if graded.statuses["selection"] in ("passed", "failed") else first_expected_class(example.compiled)
    latency = None if transcript is None else transcript.latency_ms
    read_from = ("", ()) if read is None else (read.format, read.losses)
    return Case(example.id, trial, graded, example.strata, latency, due, metrics, *read_from, *_spent(transcript))


def _spent(transcript: Transcript | None) -> tuple[float | None, float | None]:
    """Return the tokens of a transcript, in and out, and what its steps say that they cost; None where one does not."""
    if transcript is None:
        return None, None
    steps = [message.measures for message in transcript.messages if message.role == "assistant"]
    return (
        _sum_known([transcript.usage.get(name) for name in ("input_tokens", "output_tokens")]),
        _sum_known([None if step is None else step.cost for step in steps]),
    )


def _sum_known(amounts: Sequence[float | None]) -> float | None:
    """Return the sum; None without any, and where one is not known or is no amount."""
    known = [each for each in amounts if each is not None and each >= 0 and isfinite(each)]
    return sum(known) if known and len(known) == len(amounts) else None


# Examples that are kept for their next trials: in most files these stand together.
_MOST_EXAMPLES = 1_000


class NativeGrading:
    """Our own verdicts. `is_json` says that rows come from `documents.load_json`, and not from other code.

    `assert_formats` says that a text which is not in the format of its schema breaks the schema.
    """

    columns: tuple[str, ...] = ("id", "trial", *GRADERS, "tag", "mode", "expected", "actual", "reason", *METRICS,
                                "format", "left_out")  # fmt: skip

    def __init__(
        self,
        message_format: str | None = None,
        metrics: Collection[str] = tuple(METRICS),
        *,
        is_json: bool = False,
        assert_formats: bool = False,
    ) -> None:
        self._assert_formats = assert_formats
        self._message_format = message_format
        self._is_json = is_json
        self._metrics = metrics
        self._function_calls = [key for name, key in FUNCTION_CALLS.items() if name in metrics]
        self._readings = Readings()
        # By their text, the earliest first.
        self._kept: dict[bytes, Example] = {}

    @property
    def readings(self) -> Readings:
        """Return what the rows were read from since the last time it was taken."""
        return self._readings

    def taken_readings(self) -> Readings:
        """Return what the rows since the last time were read from."""
        taken, self._readings = self._readings, Readings()
        return taken

    def read(self, row: JsonValue) -> Case:
        """Return the row's verdicts. Raises InvalidDocument."""
        asked, made = parted(row)
        example = self._example(asked)
        read = prediction_of(row, made, self._message_format, is_json=self._is_json, tools=example.tools)
        if example.named:
            raise InvalidDocument.at("/tools", "names a registry version: without a server the row must list the tools")
        if read is not None:
            self._readings.add(read)
        transcript = None if read is None else read.transcript
        graded = grade(example.compiled, transcript)
        metrics = case_metrics(example.compiled, transcript, graded, goal=example.goal, names=self._metrics)
        if self._function_calls:
            metrics |= _function_calls(example, transcript, self._function_calls)
        return case_of(example, made.get("trial", 0), graded, metrics, read)

    def _example(self, asked: JsonObject) -> Example:
        """Return a row's example: compiled once for the trials that come one after the other."""
        try:
            text = dumps(asked)
        except TypeError:
            # Integers beyond 64 bits.
            return example_of(asked, assert_formats=self._assert_formats)
        if (known := self._kept.get(text)) is None:
            if len(self._kept) >= _MOST_EXAMPLES:
                del self._kept[next(iter(self._kept))]
            known = self._kept[text] = example_of(asked, assert_formats=self._assert_formats)
        return known

    def remark(self, graded: Case) -> None:
        """Return None: the verdicts themselves say why a case is unscored."""

    def document(self, graded: Case) -> JsonObject:
        """Return the full verdicts and metrics, with the example's strata, the latency and what was due, if known."""
        head: JsonObject = {"id": graded.id, "trial": graded.trial}
        if graded.strata:
            head["strata"] = dict(graded.strata)
        beside = {"latency_ms": graded.latency_ms, "tokens": graded.tokens, "cost": graded.cost}
        head |= {name: value for name, value in beside.items() if value is not None}
        if graded.due:
            head["due"] = graded.due
        if graded.losses:
            head["left_out"] = [loss.to_document() for loss in graded.losses]
        metrics = {name: verdict.to_document() for name, verdict in graded.metrics.items()}
        return {**head, **graded.grade.to_document(), "metrics": metrics}

    def line(self, graded: Case) -> bytes:
        """Return the document as a line of JSON."""
        return json_line(self.document(graded))

    def cells(self, graded: Case) -> list[Cell]:
        """Return each grader's status, what went wrong, and the value of each metric."""
        verdicts = [graded.grade.verdicts[name].status for name in GRADERS]
        result = graded.grade
        place = [result.tag, result.mode, result.expected, result.actual, result.outcome.reason]
        means = (graded.metrics[name].value for name in METRICS)
        return [graded.id, graded.trial, *verdicts, *place, *means, graded.format, "; ".join(map(str, graded.losses))]

    def brief(self, graded: Case) -> RowSummary:
        """Return what the table counts."""
        grade = graded.grade
        statuses = grade.statuses
        return RowSummary(
            graded.id,
            tuple(statuses[name] for name in GRADERS),
            grade.mode,
            (grade.expected, grade.actual),
            {name: (verdict.status, verdict.value) for name, verdict in graded.metrics.items()},
        )

    def summary(self, briefs: Iterable[RowSummary]) -> str:
        """Return rates by grader, the metrics' means, what went wrong, and each tool's precision and recall."""
        return summary_of(briefs)


def _function_calls(example: Example, transcript: Transcript | None, keys: Collection[str]) -> dict[str, Verdict]:
    """Return what ai-evaluation says of a row, by the keys of its verdicts."""
    others = verdicts_beside(
        ToolevalsVerdict("unscored"), example.compiled.expectation, transcript, example.tools, keys
    )
    return {
        key: Verdict(
            each.status if each.score is None else "passed" if each.score >= PASS_MARK else "failed",
            each.score,
            each.said,
        )
        for key, each in others.items()
    }
