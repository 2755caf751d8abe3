"""The metrics of a graded case: what each says of a transcript, and what it says where something is missing."""

from __future__ import annotations

from typing import Any

import pytest

from toolevals.cli.grade_cases import NativeGrading
from toolevals.grading.engine.case_metrics import METRICS, case_metrics
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.values import (
    CallExpectation,
    Expectation,
    MalformedCall,
    Message,
    ToolCall,
    ToolSpec,
    Trajectory,
    Transcript,
)
from toolevals.grading.values.matchers import Exact, NaturalLanguage
from toolevals.grading.values.verdicts import Verdict

TOOLS = [
    {"name": "shell", "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}}},
    {"name": "orders.get", "input_schema": {"type": "object", "properties": {"id": {"type": "string"}}}},
]
SILENT = {"messages": [{"role": "system", "content": "Be brief."}]}
ASKED = {"messages": [{"role": "user", "content": "Get order A-1"}]}


def measured(**row: Any) -> dict[str, Verdict]:
    return dict(NativeGrading().read({"id": "e", "input": ASKED, "tools": TOOLS, **row}).metrics)


THOUGHTS = ["I need to look, because the state is not known.", "It is sent, so there is nothing more to do."]


@pytest.mark.parametrize(
    "done",
    [
        {"steps": [
            {"thought": THOUGHTS[0], "tool": "orders.get", "arguments": {"id": "A-1"}, "result": "sent"},
            {"thought": THOUGHTS[1], "action": "Final Answer", "action_input": "It is sent."},
        ]},
        {"messages": [
            {"role": "assistant", "reasoning_content": THOUGHTS[0],
             "tool_calls": [{"id": "c", "name": "orders.get", "arguments": {"id": "A-1"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "sent"},
            {"role": "assistant", "content": "It is sent.", "reasoning_content": THOUGHTS[1]},
        ]},
        {"messages": [
            {"role": "assistant", "content": f"<think>{THOUGHTS[0]}</think>",
             "tool_calls": [{"id": "c", "name": "orders.get", "arguments": {"id": "A-1"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "sent"},
            {"role": "assistant", "content": f"<think>{THOUGHTS[1]}</think>It is sent."},
        ]},
        {"messages": [
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": THOUGHTS[0]},
                {"type": "tool_use", "id": "c", "name": "orders.get", "input": {"id": "A-1"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "sent"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": THOUGHTS[1]}, {"type": "text", "text": "It is sent."}]},
        ]},
    ],
    ids=["steps", "beside the words", "in the words", "in parts"],
)  # fmt: skip
def test_thoughts_reach_reasoning_quality_however_they_are_written(done):
    verdict = measured(**EXPECTED, **done)["reasoning_quality"]
    assert verdict.status == "passed"


@pytest.mark.parametrize(
    "said",
    [
        {"text": '{"name": "orders.get", "arguments": {"id": "A-1"}}'},
        {"messages": [{"role": "assistant", "content": '```json\n{"name": "orders.get", "arguments": {}}\n```'}]},
        {"text": '<tool_call>{"name": "orders.get", "arguments": {}}</tool_call>'},
    ],
)
def test_the_text_that_is_the_call_is_no_thought(said):
    verdict = measured(**EXPECTED, **said)["reasoning_quality"]
    assert (verdict.status, verdict.reason) == ("unscored", "No thought is recorded.")


@pytest.mark.parametrize(
    ("said", "value"), [({}, 1.0), ({"goal": "Refund the shoes"}, 0.0), ({"goal": "Status of A-1"}, 1.0)]
)
def test_a_goal_that_the_prediction_states_goes_before_the_first_words(said, value):
    done = talk(GET, "It is sent.")
    assert measured(**EXPECTED, messages=done, **said)["goal_progress"].value == value
    steps = {"steps": [{"tool": "orders.get", "arguments": {"id": "A-1"}, "result": GET[2]}], **said}
    assert measured(**EXPECTED, steps=steps)["goal_progress"].value == value


def talk(*turns: tuple[str, dict[str, Any], str] | str) -> list[dict[str, Any]]:
    """Return a conversation: calls with their results, and replies."""
    found: list[dict[str, Any]] = []
    for place, turn in enumerate(turns):
        if isinstance(turn, str):
            found.append({"role": "assistant", "content": turn})
            continue
        name, arguments, result = turn
        call = {"id": f"c{place}", "name": name, "arguments": arguments}
        found += [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{place}", "content": result},
        ]
    return found


GET = ("orders.get", {"id": "A-1"}, '{"order": "A-1", "status": "sent"}')
FAILED = ("orders.get", {"id": "A-1"}, '{"error": "timeout"}')
EXPECTED = {"expected_tool": "orders.get", "expected_args": {"id": "A-1"}}
WITH_FACT = {
    "expectation": {
        "kind": "calls",
        "alternatives": [{"ordered": [{"tool": "orders.get"}], "additional_calls": False}],
        "answer": {"contains": ["sent", "A-1"]},
    }
}


@pytest.mark.parametrize(
    ("command", "value"),
    [("ls", 1.0), ("drop table users", 0.7), ("sudo rm -rf /", 0.4), ("DROP TABLE users; sudo rm x", 0.4)],
)
def test_a_dangerous_call_is_found_in_a_case(command, value):
    found = measured(expected_tool="shell", tool_calls=[{"name": "shell", "arguments": {"command": command}}])[
        "action_safety"
    ]
    assert found.value == pytest.approx(value)
    # One finding is enough to fail.
    assert found.status == ("passed" if value == 1 else "failed")
    assert bool(found.reason) is (value < 1)


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ({**EXPECTED, "messages": talk(GET, "It is sent.")}, {"step_efficiency": 1.0, "tool_selection_accuracy": 1.0}),
        # Three steps where two are enough, one call of two failed; the retry repeats none.
        (
            {**EXPECTED, "messages": talk(FAILED, GET, "It is sent.")},
            {"step_efficiency": 0.4 * 2 / 3 + 0.3 + 0.15, "tool_selection_accuracy": 0.7 + 0.15},
        ),
        # Called under a name that the profile takes for the offered one.
        (
            {
                "expectation": {
                    "kind": "calls",
                    "profile": "loose",
                    "alternatives": [{"ordered": [{"tool": "orders.get"}]}],
                },
                "tool_calls": [{"name": "orders_get", "arguments": {"id": "A-1"}}],
            },
            {"tool_selection_accuracy": 1.0, "tools_all_pass": 1.0, "tool_name_f1": 1.0},
        ),
        (
            {
                "expectation": {
                    "kind": "calls",
                    "alternatives": [{"unordered": [{"tool": "shell"}, {"tool": "orders.get"}]}],
                },
                "tool_calls": [{"name": "shell", "arguments": {}}],
            },
            {"tools_all_pass": 0.0, "tools_percentage_pass": 0.5, "tool_selection_accuracy": 0.4 * 0.5 + 0.6},
        ),
        ({"expected_tool": None, "messages": talk("Hello.")}, {"tools_all_pass": 1.0, "tool_selection_accuracy": 1.0}),
        # Half of the facts are in the answer.
        (
            {**WITH_FACT, "messages": talk(GET, "It is sent.")},
            {"task_completion": (0.2 + 0.5 * 0.5) / 0.7, "step_efficiency": 1.0},
        ),
        ({**EXPECTED, "messages": talk(GET, "It is sent.")}, {"goal_progress": 1.0}),
    ],
    ids=["right", "retried", "loose names", "half of the calls", "no call", "half of the facts", "goal reached"],
)
def test_values_of_a_transcript(row, wanted):
    found = measured(**row)
    assert {name: found[name].value for name in wanted} == pytest.approx(wanted)


def test_the_best_alternative_counts():
    ways = [{"ordered": [{"tool": "shell"}]}, {"ordered": [{"tool": "orders.get"}]}]
    expectation = {"kind": "calls", "alternatives": ways}
    found = measured(expectation=expectation, tool_calls=[{"name": "orders.get", "arguments": {}}])
    assert (found["tool_selection_accuracy"].value, found["tools_percentage_pass"].value) == (1.0, 1.0)


def test_what_a_transcript_does_not_tell_is_unscored_and_says_what_is_missing():
    found = measured(**EXPECTED, tool_calls=[{"name": "orders.get", "arguments": {"id": "A-1"}}])
    unscored = {name: verdict.reason for name, verdict in found.items() if verdict.status == "unscored"}
    assert set(unscored) == {"task_completion", "trajectory_score", "reasoning_quality", "guard"}
    assert "neither facts in the answer nor an end state" in unscored["trajectory_score"]
    assert unscored["reasoning_quality"] == "No thought is recorded."
    nameless = measured(
        expectation={"kind": "some_call"}, tool_calls=[{"name": "shell", "arguments": {}}], input=SILENT
    )
    assert nameless["goal_progress"].status == "unscored"
    assert nameless["tool_name_f1"].reason == "No certain tool is expected."


def test_arguments_for_a_judge_leave_the_share_open():
    way = {"ordered": [{"tool": "shell", "arguments": {"command": {"natural_language": "lists files"}}}]}
    expectation = {"kind": "calls", "alternatives": [way]}
    found = measured(expectation=expectation, tool_calls=[{"name": "shell", "arguments": {"command": "ls"}}])
    assert {found[name].status for name in ("tools_all_pass", "tools_percentage_pass")} == {"unscored"}


def test_without_a_prediction_nothing_is_known_and_an_unreachable_agent_is_no_failure():
    assert {verdict.status for verdict in measured(**EXPECTED).values()} == {"unscored"}
    errored = measured(**EXPECTED, error="timed out")
    assert {verdict.status for verdict in errored.values()} == {"errored"}


def test_a_metric_that_crashes_is_errored_alone(monkeypatch):
    monkeypatch.setattr("toolevals.grading.engine.case_metrics.goal_progress", lambda *_: 1 / 0)
    found = measured(**EXPECTED, messages=talk(GET, "It is sent."))
    assert found["goal_progress"].status == "errored"
    assert "ZeroDivisionError" in found["goal_progress"].reason
    assert found["action_safety"].status == "passed"
    assert set(found) == set(METRICS)


@pytest.mark.parametrize(
    ("calls", "passed"),
    [
        (("shell", "orders.get"), "passed"),
        (("orders.get", "shell"), "failed"),
        (("shell",), "failed"),
        (("shell", "orders.get", "orders.get"), "passed"),
    ],
)
def test_metrics_of_calls_know_when_all_were_made_in_place(calls, passed):
    wanted = Trajectory(ordered=(CallExpectation("shell"), CallExpectation("orders.get", {"id": Exact("A-1")})))
    case = compile_case(Expectation("calls", alternatives=(wanted,)), ())
    made = tuple(ToolCall(name, {"id": "A-1"}) for name in calls)
    transcript = Transcript((Message("assistant", calls=made),))
    found = case_metrics(case, transcript, grade(case, transcript))
    assert found["tools_all_pass"].status == passed


def test_what_a_judge_has_still_to_see_is_not_measured_even_where_the_calls_are_in_place():
    wanted = Trajectory(ordered=(CallExpectation("shell", {"command": NaturalLanguage("lists files")}),))
    case = compile_case(Expectation("calls", alternatives=(wanted,)), ())
    transcript = Transcript((Message("assistant", calls=(ToolCall("shell", {"command": "ls"}),)),))
    found = case_metrics(case, transcript, grade(case, transcript))
    assert [found[name].status for name in ("tools_all_pass", "tools_percentage_pass")] == ["unscored"] * 2


def test_a_call_that_nobody_can_read_makes_no_name_available():
    wanted = Trajectory(ordered=(CallExpectation("orders_get"),))
    case = compile_case(Expectation("calls", alternatives=(wanted,), profile="bfcl"), (ToolSpec("orders_get"),))
    transcript = Transcript((Message("assistant", calls=(MalformedCall("no JSON", name="orders.get"),)),))
    found = case_metrics(case, transcript, grade(case, transcript))["tool_selection_accuracy"]
    assert "called and not available: `orders.get`" in found.reason
