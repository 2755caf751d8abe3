"""Grades rows in the native format, an example and its prediction in one object, with our own verdicts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from orjson import OPT_APPEND_NEWLINE, dumps

from toolevals.cli.grade_lines import json_line, one_by_one
from toolevals.cli.grade_summary import Brief, summary_of
from toolevals.grading.engine.case_metrics import METRICS, case_metrics
from toolevals.grading.engine.expected_first_tool import first_expected_class
from toolevals.grading.engine.grader_catalog import GRADERS
from toolevals.grading.engine.grading import CompiledCase, compile_case, grade
from toolevals.grading.gates.results import GateCase
from toolevals.grading.reading.examples import ExampleRow, first_words, read_example
from toolevals.grading.reading.parsing import Loss
from toolevals.grading.reading.predictions import Prediction, read_prediction
from toolevals.grading.reading.reading_report import Readings
from toolevals.grading.values import Expectation, ToolSpec, Transcript
from toolevals.grading.values.decided_by import EXPECTED
from toolevals.grading.values.documents import schema
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.verdicts import CaseGrade, Verdict
from toolevals.presentation.csv import Cell

PREDICTION_KEYS = frozenset(schema("prediction")["properties"]) - {"id"}
# Examples that are kept for their next trials: in most files these stand together.
_MOST_EXAMPLES = 1_000
# Answers to an example that are kept for trials that answer the same, and the longest one, as JSON text.
_MOST_ANSWERS = 4
_LONGEST_ANSWER = 4_000
_OF_TRIAL = frozenset({"trial", "latency_ms"})
# What may say a latency itself.
_OWN_LATENCY = frozenset({"messages", "steps"})
_MOST_TRIAL = schema("prediction")["properties"]["trial"]["maximum"]


@dataclass(frozen=True, slots=True)
class NativeRow:
    """One row. `transcript` is None where there is no prediction; `tools` is None where none are named."""

    id: str
    trial: int
    expectation: Expectation
    tools: list[ToolSpec] | str | None
    transcript: Transcript | None
    prediction: dict[str, Any]


def native_row(row: Any) -> NativeRow:
    """Read a row. Raises InvalidDocument."""
    asked, made = _parted(row)
    example = read_example(asked)
    expectation = _gold(example)
    read = _prediction(row, made, None, is_json=False)
    transcript = None if read is None else read.transcript
    return NativeRow(example.external_id, made.get("trial", 0), expectation, example.tools, transcript, made)


def _parted(row: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a row says of its example and what it says of the prediction. Raises InvalidDocument."""
    if not isinstance(row, dict):
        raise InvalidDocument.at("", "is not an object")
    asked: dict[str, Any] = {}
    made: dict[str, Any] = {}
    for key, value in row.items():
        (made if key in PREDICTION_KEYS else asked)[key] = value
    return asked, made


def _gold(example: ExampleRow) -> Expectation:
    if example.expectation is None:
        raise InvalidDocument.at("", "has neither expected_tool nor expectation: it cannot be graded")
    return example.expectation


def _prediction(
    row: dict[str, Any], made: dict[str, Any], message_format: str | None, *, is_json: bool
) -> Prediction | None:
    if not made.keys() - {"trial"}:
        return None
    return read_prediction({"id": row["id"], **made}, message_format=message_format, is_json=is_json)


def _answer_text(made: dict[str, Any]) -> bytes:
    """Return what a row says of its prediction but trial and latency, as JSON text; empty where it may not be read."""
    trial, latency = made.get("trial", 0), made.get("latency_ms")
    if type(trial) is not int or not 0 <= trial <= _MOST_TRIAL:
        return b""
    if latency is not None and (type(latency) not in (int, float) or not latency >= 0):
        return b""
    said = {name: value for name, value in made.items() if name not in _OF_TRIAL}
    if "latency_ms" in made and (not said or not _OWN_LATENCY.isdisjoint(said)):
        # Where nothing else is said, it makes this a prediction; of messages it goes before the latency that these say.
        said["latency_ms"] = None
    try:
        return dumps(said)
    except TypeError:
        # Integers beyond 64 bits.
        return b""


class _Example(NamedTuple):
    """The data that grades all trials of an example. `named` is a registry version that it names in place of tools."""

    id: str
    strata: Mapping[str, str]
    compiled: CompiledCase
    goal: str | None
    named: str
    answers: dict[bytes, _Answer]


class _Answer(NamedTuple):
    """The outcome of an answer to an example; `read` is None where there is no prediction."""

    case: Case
    read: Prediction | None


def _example(asked: dict[str, Any]) -> _Example:
    example = read_example(asked)
    tools = example.tools if isinstance(example.tools, list) else ()
    compiled = compile_case(_gold(example), tools, decided_by=example.decided_by or EXPECTED)
    named = example.tools if isinstance(example.tools, str) else ""
    return _Example(example.external_id, example.strata, compiled, first_words(example.input), named, {})


class Shared:
    """Values shared by all rows of an example with the same answer: the end of a JSON line, the gate's case."""

    __slots__ = ("gate_case", "line")

    def __init__(self) -> None:
        self.line = b""
        self.gate_case: GateCase | None = None


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
    shared: Shared = field(default_factory=Shared, repr=False, compare=False)

    def of_trial(self, trial: int, latency_ms: float | None) -> Case:
        """Return the same of another trial with the same answer."""
        if trial == self.trial and latency_ms is self.latency_ms:
            return self
        about = self.strata, latency_ms, self.due, self.metrics, self.format, self.losses, self.shared
        return Case(self.id, trial, self.grade, *about)


class _Row:
    """A row on its way to its case. `answer` is known where a trial of the example before had the same.

    `same` is the row before it that has the same answer, if one is read together with it, and `error` says why its
    prediction cannot be read.
    """

    __slots__ = ("answer", "error", "example", "grade", "made", "metrics", "read", "row", "same", "text")

    grade: CaseGrade
    metrics: Mapping[str, Verdict]
    read: Prediction | None
    error: InvalidDocument

    def __init__(
        self, row: dict[str, Any], made: dict[str, Any], example: _Example, text: bytes, answer: _Answer | None
    ) -> None:
        self.row = row
        self.made = made
        self.example = example
        self.text = text
        self.answer = answer
        self.same: _Row | None = None

    @property
    def transcript(self) -> Transcript | None:
        """Return what was done; None where there is no prediction."""
        return None if self.read is None else self.read.transcript

    def answered(self) -> _Answer:
        """Return the outcome of its answer, and keep it for the example's next trials."""
        example, graded, read, transcript = self.example, self.grade, self.read, self.transcript
        due = "" if graded.statuses["selection"] in ("passed", "failed") else first_expected_class(example.compiled)
        latency = None if transcript is None else transcript.latency_ms
        read_from = () if read is None else (read.format, read.losses)
        trial = self.made.get("trial", 0)
        case = Case(example.id, trial, graded, example.strata, latency, due, self.metrics, *read_from)
        answer = _Answer(case, read)
        if self.text and len(self.text) <= _LONGEST_ANSWER and len(example.answers) < _MOST_ANSWERS:
            example.answers[self.text] = answer
        return answer


def _without_an_answer(rows: Iterable[_Row]) -> list[_Row]:
    """Return the first row of each answer that is not known yet; the others of the same example refer to it."""
    first: dict[tuple[int, bytes], _Row] = {}
    found: list[_Row] = []
    for row in rows:
        if row.answer is not None:
            continue
        same = first.setdefault((id(row.example), row.text), row) if row.text else row
        if same is row:
            found.append(row)
        else:
            row.same = same
    return found


class NativeGrading:
    """Our own verdicts. `is_json` says that rows come from `documents.load_json`, and not from other code."""

    columns: tuple[str, ...] = ("id", "trial", *GRADERS, "tag", "mode", "expected", "actual", "reason", *METRICS,
                                "format", "left_out")  # fmt: skip

    def __init__(
        self, message_format: str | None = None, metrics: Collection[str] = tuple(METRICS), *, is_json: bool = False
    ) -> None:
        self._message_format = message_format
        self._is_json = is_json
        self._metrics = metrics
        self._readings = Readings()
        # By their text, the earliest first.
        self._kept: dict[bytes, _Example] = {}

    @property
    def readings(self) -> Readings:
        """Return what the rows were read from since the last time it was taken."""
        return self._readings

    def taken_readings(self) -> Readings:
        """Return what the rows since the last time were read from."""
        taken, self._readings = self._readings, Readings()
        return taken

    def read(self, row: Any) -> Case:
        """Return the row's verdicts. Raises InvalidDocument."""
        [read] = self.read_all((row,))
        if isinstance(read, InvalidDocument):
            raise read
        return read

    def read_all(self, rows: Sequence[Any]) -> list[Case | InvalidDocument]:
        """Return each row's verdicts, or why it cannot be read.

        Each step is taken with all rows before the next one, which takes a fifth less time than row by row.
        """
        begun: list[_Row | InvalidDocument] = one_by_one(self._begin, rows)
        new = self._with_predictions(_without_an_answer(row for row in begun if isinstance(row, _Row)))
        for row in new:
            row.grade = grade(row.example.compiled, row.transcript)
        for row in new:
            row.metrics = case_metrics(
                row.example.compiled, row.transcript, row.grade, goal=row.example.goal, names=self._metrics
            )
        for row in new:
            row.answer = row.answered()
        return [self._case(row) if isinstance(row, _Row) else row for row in begun]

    def _begin(self, row: Any) -> _Row:
        asked, made = _parted(row)
        example = self._example(asked)
        text = _answer_text(made) if self._is_json else b""
        return _Row(row, made, example, text, example.answers.get(text))

    def _with_predictions(self, rows: Sequence[_Row]) -> list[_Row]:
        """Return the rows of which the prediction can be read, with it."""
        read_rows: list[_Row] = []
        for row, read in zip(rows, one_by_one(self._prediction, rows), strict=True):
            if isinstance(read, InvalidDocument):
                row.error = read
            else:
                row.read = read
                read_rows.append(row)
        return read_rows

    def _prediction(self, row: _Row) -> Prediction | None:
        read = _prediction(row.row, row.made, self._message_format, is_json=self._is_json)
        if row.example.named:
            raise InvalidDocument.at("/tools", "names a registry version: without a server the row must list the tools")
        return read

    def _case(self, row: _Row) -> Case | InvalidDocument:
        first = row.same or row
        if (known := first.answer) is None:
            return first.error
        if known.read is not None:
            self._readings.add(known.read)
        own = None if _OWN_LATENCY.isdisjoint(row.made) else known.case.latency_ms
        return known.case.of_trial(row.made.get("trial", 0), row.made.get("latency_ms", own))

    def _example(self, asked: dict[str, Any]) -> _Example:
        """Return a row's example: compiled once for the trials that come one after the other."""
        try:
            text = dumps(asked)
        except TypeError:
            # Integers beyond 64 bits.
            return _example(asked)
        if (known := self._kept.get(text)) is None:
            if len(self._kept) >= _MOST_EXAMPLES:
                del self._kept[next(iter(self._kept))]
            known = self._kept[text] = _example(asked)
        return known

    def remark(self, graded: Case) -> None:
        """Return None: the verdicts themselves say why a case is unscored."""

    def document(self, graded: Case) -> dict[str, Any]:
        """Return the full verdicts and metrics, with the example's strata, the latency and what was due, if known."""
        return _head(graded) | _body(graded)

    def line(self, graded: Case) -> bytes:
        """Return the document as a line of JSON; what rows with the same answer share is written once."""
        shared = graded.shared
        try:
            shared.line = shared.line or dumps(_body(graded), option=OPT_APPEND_NEWLINE)
            return b"%s,%s" % (dumps(_head(graded))[:-1], shared.line[1:])
        except TypeError:
            # Integers beyond 64 bits.
            return json_line(self.document(graded))

    def cells(self, graded: Case) -> list[Cell]:
        """Return each grader's status, what went wrong, and the value of each metric."""
        verdicts = [graded.grade.verdicts[name].status for name in GRADERS]
        result = graded.grade
        place = [result.tag, result.mode, result.expected, result.actual, result.outcome.reason]
        means = (graded.metrics[name].value for name in METRICS)
        return [graded.id, graded.trial, *verdicts, *place, *means, graded.format, "; ".join(map(str, graded.losses))]

    def brief(self, graded: Case) -> Brief:
        """Return what the table counts."""
        grade = graded.grade
        statuses = grade.statuses
        return Brief(
            graded.id,
            tuple(statuses[name] for name in GRADERS),
            grade.mode,
            (grade.expected, grade.actual),
            {name: (verdict.status, verdict.value) for name, verdict in graded.metrics.items()},
        )

    def summary(self, briefs: Iterable[Brief]) -> str:
        """Return rates by grader, the metrics' means, what went wrong, and each tool's precision and recall."""
        return summary_of(briefs)


def _head(graded: Case) -> dict[str, Any]:
    """Return what a document says of the row itself."""
    head: dict[str, Any] = {"id": graded.id, "trial": graded.trial}
    if graded.strata:
        head["strata"] = dict(graded.strata)
    if graded.latency_ms is not None:
        head["latency_ms"] = graded.latency_ms
    if graded.due:
        head["due"] = graded.due
    if graded.losses:
        head["left_out"] = [loss.to_document() for loss in graded.losses]
    return head


def _body(graded: Case) -> dict[str, Any]:
    """Return what a document says of the answer."""
    metrics = {name: verdict.to_document() for name, verdict in graded.metrics.items()}
    return {**graded.grade.to_document(), "metrics": metrics}
