"""Pack the values of a case in one short text: its metrics' statuses and values, and verdicts' values from 0 to 1.

`ppu 1 0.75 - recovery=0.5`: a letter for each metric of the grading in the order of its graders, so that a list is
narrowed by one letter; then a value for each, `-` where there is none; then what a failed verdict is worth if not 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import CaseGrade, Status, Verdict
from toolevals.runs.counts.packed_cases import LETTERS

_NO_VALUE: Final = "-"
_STATUSES: Final[Mapping[str, Status]] = {
    LETTERS["passed"]: "passed",
    LETTERS["failed"]: "failed",
    LETTERS["unscored"]: "unscored",
    LETTERS["errored"]: "errored",
}


@dataclass(frozen=True, slots=True)
class MeasuredCase:
    """The values of one case. `verdicts` are those of failed verdicts that are not 0."""

    metrics: Mapping[str, tuple[Status, float | None]] = field(default_factory=dict)
    verdicts: Mapping[str, float] = field(default_factory=dict)


def metric_names(graders: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the metrics that a grading was made with, in the order of its graders; none in one from before."""
    return tuple(grader["name"] for grader in graders if grader["name"] not in VERDICT_NAMES)


def measured_text(metrics: Mapping[str, Verdict], grade: CaseGrade) -> str:
    """Return the text that is kept of a case. No words of its grade are worked out for it."""
    statuses = grade.statuses
    letters = "".join(LETTERS[verdict.status] for verdict in metrics.values())
    values = (_NO_VALUE if each.value is None else f"{each.value!r}".removesuffix(".0") for each in metrics.values())
    shares = (f"{name}={value!r}" for name, value in grade.values.items() if value and statuses[name] == "failed")
    return " ".join((letters, *values, *shares))


@lru_cache(maxsize=65536)
def measured_case(text: str, names: tuple[str, ...]) -> MeasuredCase:
    """Return the values in a text, by the names of `metric_names`. Most cases are like others, so they are kept."""
    if not text:
        return MeasuredCase()
    letters, *rest = text.split(" ")
    values = [None if each == _NO_VALUE else float(each) for each in rest[: len(letters)]]
    metrics = {name: (_STATUSES[letter], value) for name, letter, value in zip(names, letters, values, strict=True)}
    shares = (each.split("=") for each in rest[len(letters) :])
    return MeasuredCase(metrics, {name: float(value) for name, value in shares})
