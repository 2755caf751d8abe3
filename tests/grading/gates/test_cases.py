"""Grades become scores: what does not arise is left out, what nobody has answered is None."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.engine.case_metrics import pairs_name_f1, tool_name_f1
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.gates.case_table import CaseTable, case_of_grade, with_groups
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.evaluation import evaluate_gate, judge_notes, with_notes
from toolevals.grading.gates.results import GateCase
from toolevals.grading.gates.rules import MetricGroup
from toolevals.grading.reading.predictions import read_prediction
from toolevals.grading.reading.specs import read_tools
from toolevals.grading.values import Call, Expectation, ToolCall
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.verdicts import NONE

TOOLS = read_tools(
    [{"name": name, "input_schema": {"type": "object", "properties": {"order": {"type": "string"}}}} for name in "ab"]
).tools
RIGHT = Expectation.single("a", {"order": "A-1"})
JUDGED = Expectation.from_document(
    {
        "kind": "calls",
        "alternatives": [{"unordered": [{"tool": "a", "arguments": {"order": {"natural_language": "any"}}}]}],
    }
)
NO_CALL, SOME_CALL = Expectation("no_call"), Expectation("some_call")


def case(expectation: Expectation, *calls: tuple[str, dict[str, Any]] | None) -> GateCase:
    if calls == (None,):
        return case_of_grade("e", grade(compile_case(expectation, TOOLS), None))
    made = [{"name": name, "arguments": arguments} for name, arguments in calls if name]  # type: ignore[misc]
    transcript = read_prediction({"id": "e", "tool_calls": made, "answer": "Yes."}).transcript
    return case_of_grade("e", grade(compile_case(expectation, TOOLS), transcript))


SURE = {"outcome", "selection", "tool_name_f1"}


@pytest.mark.parametrize(
    ("found", "scores"),
    [
        (
            case(RIGHT, ("a", {"order": "A-1"})),
            dict.fromkeys(["outcome", "selection", "arguments", "schema", "shape", "equivalence", "tool_name_f1"], 1.0),
        ),
        (
            case(RIGHT, ("b", {"order": "A-1"})),
            {"outcome": 0, "selection": 0, "schema": 1, "equivalence": 0, "tool_name_f1": 0},
        ),
        (case(RIGHT), {"outcome": 0, "selection": 0, "equivalence": 0, "tool_name_f1": 0}),
        (case(NO_CALL), {"outcome": 1, "selection": 1, "tool_name_f1": 1}),
        (case(SOME_CALL, ("a", {})), {"outcome": 1, "selection": 1, "schema": 1}),
        (
            case(JUDGED, ("a", {"order": "A-1"})),
            {
                "outcome": None,
                "selection": 1,
                "arguments": None,
                "schema": 1,
                "shape": 1,
                "equivalence": None,
                "tool_name_f1": 1,
            },
        ),
    ],
    ids=["right", "wrong tool", "missed", "no call", "some call", "to be judged"],
)
def test_only_what_arises_is_there(found, scores):
    assert dict(found.scores) == scores


def test_without_a_prediction_nothing_is_known():
    assert set(case(RIGHT, None).scores.values()) == {None}
    assert set(case(RIGHT, None).scores) >= SURE


def test_a_no_call_case_does_not_leave_the_arguments_open():
    cases = [case(RIGHT, ("a", {"order": "A-1"})), case(NO_CALL)]
    gate = read_gate({"bounds": [{"metric": "arguments", "min": 1}, {"metric": "tool_args_semantic", "min": 1}]})
    assert evaluate_gate(gate, cases).status == "passed"
    assert evaluate_gate(gate, [*cases, case(RIGHT, None)]).status == "unanswered"


names = st.lists(st.sampled_from("abc"), max_size=4)


@given(names, names)
def test_f1_of_pairs_is_f1_of_names(expected, called):
    trajectory = {"unordered": [{"tool": name, "arguments": {}} for name in expected]}
    wanted = Expectation.from_document({"kind": "calls", "alternatives": [trajectory]}) if expected else NO_CALL
    calls: list[Call] = [ToolCall(name, {}) for name in called]
    longer = max(len(expected), len(called))
    pairs = zip(expected + [NONE] * (longer - len(expected)), called + [NONE] * (longer - len(called)), strict=True)
    assert pairs_name_f1(pairs) == tool_name_f1(wanted, calls)


def test_a_group_takes_what_arises_and_waits_for_what_is_open():
    group = MetricGroup("form", ("schema", "shape"), {"schema": 3.0})
    cases = [
        GateCase("a", {"schema": 1.0, "shape": 0.0}),
        GateCase("b", {"schema": 0.0}),
        GateCase("c", {"schema": 1.0, "shape": None}),
        GateCase("d", {"selection": 1.0}),
    ]
    assert [each.scores.get("form", "none") for each in with_groups(CaseTable.of(cases), [group])] == [
        0.75,
        0.0,
        None,
        "none",
    ]


def test_a_gate_reads_its_groups():
    document = {
        "groups": [{"name": "form", "metrics": ["schema", "shape"], "aggregate": "minimum"}],
        "bounds": [{"metric": "form", "statistic": "avg_score", "min": 0.5}],
    }
    cases = [GateCase("a", {"schema": 1.0, "shape": 1.0}), GateCase("b", {"schema": 1.0, "shape": 0.0})]
    (check,) = evaluate_gate(read_gate(document), cases).checks
    assert (check.status, check.observed, check.count) == ("passed", 0.5, 2)
    wrong = {"groups": [{"name": "x", "metrics": []}, {"name": "y", "metrics": ["a"], "weights": {"b": 1}}]}
    with pytest.raises(InvalidDocument) as refused:
        read_gate(wrong)
    assert [problem.pointer for problem in refused.value.problems] == ["/groups/0/metrics", "/groups/1/weights/b"]
    with pytest.raises(InvalidDocument, match="name of two groups"):
        read_gate({"groups": [{"name": "x", "metrics": ["a"]}] * 2})


def test_a_judge_without_a_pinned_model_is_marked():
    gate = read_gate({"bounds": [{"metric": "judged:tone", "min": 0.5}, {"metric": "outcome", "min": 0.5}]})
    result = evaluate_gate(gate, [GateCase("a", {"judged:tone": 1.0, "outcome": 1.0})])
    notes = judge_notes({("tone", "judge-latest", False), ("facts", "judge-2026-01-31", True)})
    tone, outcome = with_notes(result, notes).checks
    assert "judge-latest is not pinned" in tone.note
    assert (tone.status, outcome.note) == ("passed", "")
