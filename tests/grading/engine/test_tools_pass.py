"""tools_all_pass, tools_percentage_pass and tool_name_f1 by their public definitions."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading import strategies
from toolevals.grading.engine.case_metrics import name_f1, tool_name_f1, tools_all_pass, tools_percentage_pass
from toolevals.grading.values import Call, Expectation, MalformedCall, ToolCall
from toolevals.grading.values.verdicts import Verdict


def expected(**trajectory: Any) -> Expectation:
    return Expectation.from_document({"kind": "calls", "alternatives": [trajectory]})


def calls(*names: str) -> list[Call]:
    return [ToolCall(name, {"n": 1}) for name in names]


def scores(expectation: Expectation, made: Sequence[Call]) -> tuple[str, float | None, float | None]:
    every, share = tools_all_pass(expectation, made), tools_percentage_pass(expectation, made)
    return every.status, every.value, share.value and round(share.value, 3)


A, B, C = ({"tool": name} for name in "abc")
WRONG = {"tool": "a", "arguments": {"n": {"exact": 2}}}
NO_CALL, SOME_CALL = Expectation("no_call"), Expectation("some_call")
UNREADABLE = MalformedCall("{", 1, "cut off")


@pytest.mark.parametrize(
    ("expectation", "made", "wanted"),
    [
        (expected(ordered=[A, B]), calls("a", "x", "b"), ("passed", 1, 1)),
        (expected(ordered=[A, B]), calls("b", "a"), ("failed", 0, 0.5)),
        (expected(ordered=[A, B], unordered=[C]), calls("a", "b"), ("failed", 0, 0.667)),
        (expected(ordered=[A], additional_calls=False), calls("a", "b"), ("failed", 0, 1)),
        (expected(ordered=[A], disallowed=[B]), calls("a", "b"), ("failed", 0, 1)),
        (expected(ordered=[WRONG]), calls("a"), ("failed", 0, 0)),
        (expected(disallowed=[B]), calls("a"), ("passed", 1, 1)),
        (expected(disallowed=[B]), calls("b"), ("failed", 0, 0)),
        (expected(additional_calls=False), calls("b"), ("failed", 0, 0)),
        (expected(additional_calls=False), [], ("passed", 1, 1)),
        (NO_CALL, [], ("passed", 1, 1)),
        (NO_CALL, calls("a"), ("failed", 0, 0)),
        (NO_CALL, [UNREADABLE], ("failed", 0, 0)),
        (SOME_CALL, calls("a"), ("passed", 1, 1)),
        (SOME_CALL, [UNREADABLE], ("failed", 0, 0)),
    ],
)
def test_both_scores(expectation, made, wanted):
    assert scores(expectation, made) == wanted


def test_a_share_passes_only_where_it_is_whole():
    wanted = expected(ordered=[A, B])
    made = [tools_percentage_pass(wanted, calls(*names)) for names in ("ab", "a", "")]
    assert [(verdict.status, verdict.value) for verdict in made] == [("passed", 1), ("failed", 0.5), ("failed", 0)]


def test_what_a_judge_has_to_see_is_unscored_unless_it_fails_anyway():
    asked = {"tool": "a", "arguments": {"n": {"natural_language": "polite"}}}
    assert scores(expected(ordered=[asked]), calls("a")) == ("unscored", None, None)
    assert tools_all_pass(expected(ordered=[asked, B]), calls("a")).status == "failed"


@pytest.mark.parametrize(
    ("expectation", "made", "reason"),
    [
        (expected(ordered=[A, B]), calls("b", "a"), "b was expected and not called in its place in the order."),
        (expected(ordered=[{"one_of_calls": [A, B]}]), calls("c"), "a or b was expected and not called."),
        (expected(disallowed=[A]), calls("a"), "a was called, which must not be."),
        (expected(additional_calls=False), [UNREADABLE], "An unreadable call was called besides"),
        (expected(ordered=[WRONG]), calls("a"), "a was called with other arguments than the expected ones."),
    ],
)
def test_a_failure_says_what_to_look_at(expectation, made, reason):
    assert tools_all_pass(expectation, made).reason.startswith(reason)


@strategies.whole_cases
@given(strategies.expectations, st.lists(strategies.tool_calls, max_size=4))
def test_all_pass_is_full_marks_and_no_violation(expectation, made):
    every, share = tools_all_pass(expectation, made), tools_percentage_pass(expectation, made)
    if every.status == "passed":
        assert share.value == 1
    assert isinstance(share, Verdict)
    assert share.value is None or 0 <= share.value <= 1


@strategies.whole_cases
@given(strategies.trajectories, st.lists(strategies.tool_calls, max_size=4), strategies.tool_calls)
def test_a_further_call_lowers_no_share_where_none_can_be_violated(trajectory, made, more):
    document = {**trajectory.to_document(), "disallowed": [], "additional_calls": True}
    expectation = expected(**document)
    before, after = (tools_percentage_pass(expectation, each).value for each in (made, [*made, more]))
    assert before is None or after is None or after >= before


def test_f1_over_names():
    assert name_f1([], []) == 1
    assert name_f1(["a"], []) == 0
    assert name_f1(["a", "a", "b"], ["a", "b", "b"]) == pytest.approx(4 / 6)
    assert tool_name_f1(NO_CALL, []) == 1
    assert tool_name_f1(NO_CALL, [UNREADABLE]) == 0
    assert tool_name_f1(SOME_CALL, calls("a")) is None
    assert tool_name_f1(expected(ordered=[A, B], unordered=[A]), calls("b", "a")) == pytest.approx(0.8)
    choice = expected(unordered=[{"one_of_calls": [A, B]}, A])
    assert tool_name_f1(choice, calls("b", "a")) == 1
    assert tool_name_f1(choice, calls("b", "b")) == 0.5
    two = Expectation.from_document({"kind": "calls", "alternatives": [{"ordered": [A]}, {"ordered": [A, B]}]})
    assert tool_name_f1(two, calls("b", "a")) == 1


@given(st.lists(strategies.names), st.lists(strategies.names))
def test_f1_is_symmetric_and_whole_for_the_same_names_alone(left, right):
    assert name_f1(left, right) == name_f1(right, left)
    assert (name_f1(left, right) == 1) == (sorted(left) == sorted(right))
