"""Grades rows in the native format, an example and its prediction in one object, with our own verdicts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from orjson import dumps

from toolevals.cli.grade_lines import json_line
from toolevals.cli.grade_summary import Brief, summary_of
from toolevals.cli.native_cases import Case, Example, case_of, example_of
from toolevals.cli.native_rows import parted, prediction_of
from toolevals.grading.dialects.other_verdicts import Own, verdicts_beside
from toolevals.grading.engine.case_metrics import METRICS, case_metrics
from toolevals.grading.engine.grader_catalog import GRADERS
from toolevals.grading.engine.grading import grade
from toolevals.grading.gates.results import FUNCTION_CALLS, PASS_MARK
from toolevals.grading.reading.reading_report import Readings
from toolevals.grading.values import Transcript
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
        head: dict[str, Any] = {"id": graded.id, "trial": graded.trial}
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


def _function_calls(example: Example, transcript: Transcript | None, keys: Collection[str]) -> dict[str, Verdict]:
    """Return what ai-evaluation says of a row, by the keys of its verdicts."""
    others = verdicts_beside(Own("unscored"), example.compiled.expectation, transcript, example.tools, keys)
    return {
        key: Verdict(
            each.status if each.score is None else "passed" if each.score >= PASS_MARK else "failed",
            each.score,
            each.said,
        )
        for key, each in others.items()
    }
