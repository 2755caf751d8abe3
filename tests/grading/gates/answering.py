"""Gates asked about cases that a test makes up."""

from typing import Any

from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.evaluation import evaluate_gate
from toolevals.grading.gates.results import Check, GateCase, GateResult


def scored(*scores: float | None, metric: str = "selection") -> list[GateCase]:
    return [GateCase(f"e{i}", {metric: score}) for i, score in enumerate(scores)]


def answer(document: dict[str, Any], cases: list[GateCase]) -> GateResult:
    return evaluate_gate(read_gate(document), cases)


def only_check(document: dict[str, Any], cases: list[GateCase]) -> Check:
    (check,) = answer(document, cases).checks
    return check
