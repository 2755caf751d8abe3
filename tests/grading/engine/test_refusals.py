"""Test that what a guard refused changes no verdict but where it decides, and is counted."""

from __future__ import annotations

from typing import Any

import pytest

from toolevals.grading.engine.case_findings import CaseFinding, refused_findings
from toolevals.grading.engine.case_metrics import case_metrics
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.evaluation import evaluate_gate
from toolevals.grading.gates.results import GateCase
from toolevals.grading.values import Expectation, MalformedCall, Message, Refusal, ToolCall, ToolSpec, Transcript

ID = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
TOOLS = [ToolSpec("get", "", ID), ToolSpec("cancel", "", ID)]
GET, CANCEL = ToolCall("get", {"id": "A"}, "1"), ToolCall("cancel", {"id": "A"}, "2")
EXPECTED = compile_case(
    Expectation.from_document(
        {
            "kind": "calls",
            "alternatives": [
                {"ordered": [{"tool": "get", "arguments": {"id": {"exact": "A"}}}], "additional_calls": False}
            ],
        }
    ),
    TOOLS,
)
REASON = {"rule": "desk", "pointer": "/name", "sentence": "The tool is not allowed."}


def refused(*calls: Any, was_made: bool = False) -> tuple[Refusal, ...]:
    return tuple(Refusal(call, 0, (REASON,), was_made) for call in calls)


def done(*calls: Any, refusals: Any = ()) -> Transcript:
    return Transcript((Message("assistant", None, calls), Message("assistant", "Done.")), "Done.", refusals=refusals)


@pytest.mark.parametrize(
    ("transcript", "outcome", "guard"),
    [
        # The agent made the right call, and the refused one counts for no verdict.
        (done(GET, refusals=refused(CANCEL)), "passed", "failed"),
        (done(GET, refusals=refused(MalformedCall("cut off"))), "passed", "failed"),
        # It never made the right call: that is its own failure.
        (done(refusals=refused(CANCEL)), "failed", "failed"),
        (done(CANCEL, refusals=refused(GET, was_made=False)), "failed", "failed"),
        # The right call was refused: no one knows what would have come.
        (done(refusals=refused(GET)), "unscored", "failed"),
        (done(GET, refusals=refused(GET, was_made=True)), "passed", "failed"),
        (done(GET), "passed", "passed"),
        (done(GET, refusals=None), "passed", "unscored"),
        (done(refusals=None), "failed", "unscored"),
    ],
)
def test_refusals_stand_beside_the_outcome(transcript, outcome, guard):
    found = grade(EXPECTED, transcript)
    assert found.outcome.status == outcome
    assert case_metrics(EXPECTED, transcript, found)["guard"].status == guard


def test_a_refused_call_is_no_failure_of_a_tool():
    found = grade(EXPECTED, done(GET, refusals=refused(CANCEL)))
    assert found.verdicts["recovery"].status == "unscored"
    assert found.verdicts["schema"].status == "passed"
    metrics = case_metrics(EXPECTED, done(GET, refusals=refused(CANCEL)), found)
    assert metrics["tool_selection_accuracy"].value == 1.0
    assert metrics["guard"].reason == "The guard refused 1: desk."


def test_refusals_are_findings_by_rule_and_tool():
    assert list(refused_findings(refused(CANCEL, CANCEL, MalformedCall("cut off")))) == [
        CaseFinding("guard", "desk", "cancel", 2),
        CaseFinding("guard", "desk", "(unparsed)", 1),
    ]


@pytest.mark.parametrize(("refusing", "status"), [(0, "passed"), (1, "failed")])
def test_a_gate_asks_that_nothing_was_refused(refusing, status):
    gate = read_gate({"assertions": [{"template": "guard", "conditions": ["failed_count <= 0"]}]})
    cases = [GateCase(str(n), {"outcome": 1.0, "guard": 0.0 if n < refusing else 1.0}) for n in range(5)]
    assert evaluate_gate(gate, cases).status == status
    unknown = [GateCase("a", {"outcome": 1.0, "guard": None})]
    assert evaluate_gate(gate, unknown).status == "unanswered"
