"""Holds graded rows, and examples that are compiled for all of their trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple

from toolevals.cli.native_rows import gold_of
from toolevals.grading.engine.grading import CompiledCase, compile_case, first_expected_class
from toolevals.grading.json_schema.conformance import with_formats
from toolevals.grading.reading.examples import first_words, read_example
from toolevals.grading.reading.parsing import Loss
from toolevals.grading.reading.predictions import Prediction
from toolevals.grading.values import ToolSpec, Transcript
from toolevals.grading.values.verdicts import EXPECTED, CaseGrade, Verdict


class Example(NamedTuple):
    """The data that grades all trials of an example. `named` is a registry version that it names in place of tools."""

    id: str
    strata: Mapping[str, str]
    compiled: CompiledCase
    goal: str | None
    named: str
    tools: Sequence[ToolSpec] | None


def example_of(asked: dict[str, Any], *, assert_formats: bool = False) -> Example:
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
