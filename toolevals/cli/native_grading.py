"""Grades rows in the native format, an example and its prediction in one object, with our own verdicts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from orjson import OPT_APPEND_NEWLINE, dumps

from toolevals.cli.grade_lines import json_line, one_by_one
from toolevals.cli.grade_summary import Brief, summary_of
from toolevals.cli.native_cases import Case, Example, GradedRow, example_of, without_an_answer
from toolevals.cli.native_rows import OWN_LATENCY, answer_text, parted, prediction_of
from toolevals.grading.dialects.other_verdicts import Own, verdicts_beside
from toolevals.grading.engine.case_metrics import METRICS, case_metrics
from toolevals.grading.engine.grader_catalog import GRADERS
from toolevals.grading.engine.grading import grade
from toolevals.grading.gates.results import FUNCTION_CALLS, PASS_MARK
from toolevals.grading.reading.predictions import Prediction
from toolevals.grading.reading.reading_report import Readings
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.verdicts import Verdict
from toolevals.presentation.csv import Cell

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
        begun: list[GradedRow | InvalidDocument] = one_by_one(self._begin, rows)
        new = self._with_predictions(without_an_answer(row for row in begun if isinstance(row, GradedRow)))
        for row in new:
            row.grade = grade(row.example.compiled, row.transcript)
        for row in new:
            row.metrics = case_metrics(
                row.example.compiled, row.transcript, row.grade, goal=row.example.goal, names=self._metrics
            )
            if self._function_calls:
                row.metrics = {**row.metrics, **_function_calls(row, self._function_calls)}
        for row in new:
            row.answer = row.answered()
        return [self._case(row) if isinstance(row, GradedRow) else row for row in begun]

    def _begin(self, row: Any) -> GradedRow:
        asked, made = parted(row)
        example = self._example(asked)
        text = answer_text(made) if self._is_json else b""
        return GradedRow(row, made, example, text, example.answers.get(text))

    def _with_predictions(self, rows: Sequence[GradedRow]) -> list[GradedRow]:
        """Return the rows of which the prediction can be read, with it."""
        read_rows: list[GradedRow] = []
        for row, read in zip(rows, one_by_one(self._prediction, rows), strict=True):
            if isinstance(read, InvalidDocument):
                row.error = read
            else:
                row.read = read
                read_rows.append(row)
        return read_rows

    def _prediction(self, row: GradedRow) -> Prediction | None:
        read = prediction_of(row.row, row.made, self._message_format, is_json=self._is_json, tools=row.example.tools)
        if row.example.named:
            raise InvalidDocument.at("/tools", "names a registry version: without a server the row must list the tools")
        return read

    def _case(self, row: GradedRow) -> Case | InvalidDocument:
        first = row.same or row
        if (known := first.answer) is None:
            return first.error
        if known.read is not None:
            self._readings.add(known.read)
        own = None if OWN_LATENCY.isdisjoint(row.made) else known.case.latency_ms
        return known.case.of_trial(row.made.get("trial", 0), row.made.get("latency_ms", own))

    def _example(self, asked: dict[str, Any]) -> Example:
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


def _function_calls(row: GradedRow, keys: Collection[str]) -> dict[str, Verdict]:
    """Return what ai-evaluation says of a row, by the keys of its verdicts."""
    others = verdicts_beside(Own("unscored"), row.example.compiled.expectation, row.transcript, row.example.tools, keys)
    return {
        key: Verdict(
            each.status if each.score is None else "passed" if each.score >= PASS_MARK else "failed",
            each.score,
            each.said,
        )
        for key, each in others.items()
    }


def _head(graded: Case) -> dict[str, Any]:
    """Return what a document says of the row itself."""
    head: dict[str, Any] = {"id": graded.id, "trial": graded.trial}
    if graded.strata:
        head["strata"] = dict(graded.strata)
    if graded.latency_ms is not None:
        head["latency_ms"] = graded.latency_ms
    if graded.tokens is not None:
        head["tokens"] = graded.tokens
    if graded.cost is not None:
        head["cost"] = graded.cost
    if graded.due:
        head["due"] = graded.due
    if graded.losses:
        head["left_out"] = [loss.to_document() for loss in graded.losses]
    return head


def _body(graded: Case) -> dict[str, Any]:
    """Return what a document says of the answer."""
    metrics = {name: verdict.to_document() for name, verdict in graded.metrics.items()}
    return {**graded.grade.to_document(), "metrics": metrics}
