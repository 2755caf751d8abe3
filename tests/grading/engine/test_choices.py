"""A choice of calls in a whole case: the tool, the arguments and the pair are those of the option that was made."""

import pytest

from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.json_schema.conformance import expectation_problems
from toolevals.grading.values import Expectation, Message, ToolCall, ToolSpec, Transcript
from toolevals.grading.values.verdicts import CaseGrade

EXPECTATION = Expectation.from_document(
    {
        "kind": "calls",
        "alternatives": [
            {
                "ordered": [
                    {
                        "one_of_calls": [
                            {"tool": "refund", "arguments": {"id": {"exact": 1}}},
                            {"tool": "cancel", "arguments": {"id": {"exact": 2}}},
                        ]
                    }
                ],
                "additional_calls": False,
            }
        ],
    }
)
TOOLS = [
    ToolSpec(name, "", {"type": "object", "properties": {"id": {"type": "integer"}}}) for name in ("refund", "cancel")
]
CASE = compile_case(EXPECTATION, TOOLS)


def graded(*calls: ToolCall) -> CaseGrade:
    return grade(CASE, Transcript((Message("assistant", calls=calls),)))


@pytest.mark.parametrize(
    ("call", "mode", "expected"),
    [
        (ToolCall("refund", {"id": 1}), "", "refund"),
        (ToolCall("cancel", {"id": 2}), "", "cancel"),
        (ToolCall("cancel", {"id": 1}), "wrong_value", "cancel"),
        (ToolCall("refund", {"id": 2}), "wrong_value", "refund"),
        (ToolCall("refund", {"id": "1"}), "schema_error", "refund"),
    ],
)
def test_each_option_is_graded_by_its_own_arguments_however_often(call, mode, expected):
    # Twice, so that what was learned from one case is not taken for another.
    for _ in range(2):
        case = graded(call)
        assert (case.mode, case.pairs[0].expected, case.pairs[0].actual) == (mode, expected, expected)
        assert (case.outcome.status == "passed") == (not mode)


def test_none_and_both():
    assert graded().mode == "missed_call"
    assert "refund or cancel" in graded().outcome.reason
    assert graded(ToolCall("refund", {"id": 1}), ToolCall("cancel", {"id": 2})).mode == "extra_call"


def test_a_label_is_checked_option_by_option():
    (problem,) = expectation_problems(EXPECTATION, TOOLS[:1])
    assert problem.pointer == "/alternatives/0/ordered/0/one_of_calls/1/tool"
