"""Holds rows on their way to their verdicts, with what the trials of an example share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple

from toolevals.cli.native_rows import gold_of
from toolevals.grading.engine.expected_first_tool import first_expected_class
from toolevals.grading.engine.grading import CompiledCase, compile_case
from toolevals.grading.gates.results import GateCase
from toolevals.grading.json_schema.formats import with_formats
from toolevals.grading.reading.examples import first_words, read_example
from toolevals.grading.reading.parsing import Loss
from toolevals.grading.reading.predictions import Prediction
from toolevals.grading.values import ToolSpec, Transcript
from toolevals.grading.values.decided_by import EXPECTED
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.verdicts import CaseGrade, Verdict

# Answers to an example that are kept for trials that answer the same, and the longest one, as JSON text.
MOST_ANSWERS = 4
_LONGEST_ANSWER = 4_000


class Example(NamedTuple):
    """The data that grades all trials of an example. `named` is a registry version that it names in place of tools."""

    id: str
    strata: Mapping[str, str]
    compiled: CompiledCase
    goal: str | None
    named: str
    tools: Sequence[ToolSpec] | None
    answers: dict[bytes, Answer]


class Answer(NamedTuple):
    """The outcome of an answer to an example; `read` is None where there is no prediction."""

    case: Case
    read: Prediction | None


def example_of(asked: dict[str, Any], *, assert_formats: bool = False) -> Example:
    """Read and compile what a row says of its example. Raises InvalidDocument."""
    example = read_example(asked)
    tools = example.tools if isinstance(example.tools, list) else ()
    if assert_formats:
        tools = [with_formats(tool, asserted=True) for tool in tools]
    compiled = compile_case(gold_of(example), tools, decided_by=example.decided_by or EXPECTED)
    named = example.tools if isinstance(example.tools, str) else ""
    return Example(example.external_id, example.strata, compiled, first_words(example.input), named, tools or None, {})


class Shared:
    """Values shared by all rows of an example with the same answer: the end of a JSON line, the gate's case."""

    __slots__ = ("gate_case", "line")

    def __init__(self) -> None:
        self.line = b""
        self.gate_case: GateCase | None = None


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
    shared: Shared = field(default_factory=Shared, repr=False, compare=False)

    def of_trial(self, trial: int, latency_ms: float | None) -> Case:
        """Return the same of another trial with the same answer."""
        if trial == self.trial and latency_ms is self.latency_ms:
            return self
        about = self.strata, latency_ms, self.due, self.metrics, self.format, self.losses
        return Case(self.id, trial, self.grade, *about, self.tokens, self.cost, self.shared)


class GradedRow:
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
        self, row: dict[str, Any], made: dict[str, Any], example: Example, text: bytes, answer: Answer | None
    ) -> None:
        self.row = row
        self.made = made
        self.example = example
        self.text = text
        self.answer = answer
        self.same: GradedRow | None = None

    @property
    def transcript(self) -> Transcript | None:
        """Return what was done; None where there is no prediction."""
        return None if self.read is None else self.read.transcript

    def answered(self) -> Answer:
        """Return the outcome of its answer, and keep it for the example's next trials."""
        example, graded, read, transcript = self.example, self.grade, self.read, self.transcript
        due = "" if graded.statuses["selection"] in ("passed", "failed") else first_expected_class(example.compiled)
        latency = None if transcript is None else transcript.latency_ms
        read_from = () if read is None else (read.format, read.losses)
        trial = self.made.get("trial", 0)
        about = example.strata, latency, due, self.metrics, *(read_from or ("", ()))
        case = Case(example.id, trial, graded, *about, *_spent(transcript))
        answer = Answer(case, read)
        if self.text and len(self.text) <= _LONGEST_ANSWER and len(example.answers) < MOST_ANSWERS:
            example.answers[self.text] = answer
        return answer


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


def without_an_answer(rows: Iterable[GradedRow]) -> list[GradedRow]:
    """Return the first row of each answer that is not known yet; the others of the same example refer to it."""
    first: dict[tuple[int, bytes], GradedRow] = {}
    found: list[GradedRow] = []
    for row in rows:
        if row.answer is not None:
            continue
        same = first.setdefault((id(row.example), row.text), row) if row.text else row
        if same is row:
            found.append(row)
        else:
            row.same = same
    return found
