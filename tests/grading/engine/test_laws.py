"""Test what holds of every case: no crash, one document, one grade however it is found."""

import copy
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading import strategies
from tests.grading.graded import NAMED, PLAIN, called, graded
from toolevals.grading.engine.grading import compile_case, grade, grade_calls
from toolevals.grading.values import (
    CallExpectation,
    Expectation,
    ToolCall,
    ToolSpec,
    Trajectory,
)
from toolevals.grading.values.canonical import canonical, parse
from toolevals.grading.values.verdicts import CaseGrade, FailureTag


@strategies.whole_cases
@given(strategies.expectations, strategies.transcripts)
def test_any_case_is_graded_without_a_crash_and_its_document_round_trips(expectation, transcript):
    result = grade(compile_case(expectation, NAMED), transcript)
    assert result.tag != FailureTag.HARNESS_ERROR, result.outcome.reason
    assert (result.tag == "") == (result.outcome.status in ("passed", "unscored"))
    assert (result.mode == "") == (result.tag == "")
    document = result.to_document()
    assert CaseGrade.from_document(parse(canonical(document))) == result


@given(strategies.tool_calls)
def test_a_call_labelled_as_it_was_made_passes(call):
    for profile in ("strict", "standard", "loose", "bfcl"):
        plain = Expectation.single(call.name, call.arguments)
        expectation = Expectation("calls", alternatives=plain.alternatives, profile=profile)
        assert graded(expectation, call, tools=()).outcome.status == "passed"


@pytest.mark.parametrize("keyword", [{"minProperties": 1}, {"anyOf": [{"required": ["a"]}]}, {"$ref": "#/$defs/x"}])
def test_a_call_without_arguments_is_held_to_the_whole_schema(keyword):
    schema = {"type": "object", "$defs": {"x": {"required": ["a"]}}, **keyword}
    case = compile_case(Expectation.single("f", {}), (ToolSpec("f", "", schema),))
    calls = (ToolCall("f", {}),)
    assert grade_calls(case, calls).mode == "schema_error"


@given(st.lists(strategies.call_expectations, min_size=1, max_size=3), st.data())
def test_calls_that_came_before_get_the_grade_that_they_got_then(wanted, data):
    profile, closed = data.draw(strategies.profiles), data.draw(st.booleans())
    trajectory = Trajectory(tuple(wanted), additional_calls=not closed)
    expectation = Expectation("calls", alternatives=(trajectory,), profile=profile)
    case = compile_case(expectation, NAMED)
    answers = [
        tuple(ToolCall(each.tool, _arguments_for(each, data)) for each in data.draw(st.permutations(wanted)))
        for _ in range(3)
    ]
    # Numbers that are equal, and are not for every profile and schema.
    answers += [tuple(ToolCall(call.name, _otherwise(call.arguments)) for call in calls) for calls in answers]
    fresh = [grade_calls(compile_case(expectation, NAMED), calls).to_document() for calls in answers]
    for _ in range(2):
        assert [grade_calls(case, calls).to_document() for calls in answers] == fresh
    assert [grade(case, called(*calls)).to_document() for calls in answers] == fresh


def _otherwise(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments with booleans for integers and floats for the other ones."""
    return {
        name: bool(value) if value in (0, 1) and isinstance(value, int) else float(value)
        for name, value in arguments.items()
        if isinstance(value, int) and abs(value) < 2**53
    }


def _arguments_for(call: CallExpectation, data: Any) -> dict[str, Any]:
    """Return arguments that the matchers name, or others."""
    named = {
        name: data.draw(st.sampled_from(getattr(matcher, "values", (getattr(matcher, "value", "a"),))))
        for name, matcher in call.arguments.items()
    }
    more: dict[str, Any] = data.draw(st.just({}) | strategies.arguments)
    return named | more


def test_a_grade_pickles_copies_and_compares_as_what_it_says():
    result = graded(PLAIN, ToolCall("track", {"order": "A-2"}))
    again = graded(PLAIN, ToolCall("track", {"order": "A-2"}))
    assert result == again
    for made in (pickle.loads(pickle.dumps(again)), copy.deepcopy(again), CaseGrade.from_document(again.to_document())):
        assert (made, made.to_document(), made.statuses) == (result, result.to_document(), result.statuses)
    with pytest.raises(FrozenInstanceError):
        result.__setattr__("tag", "other")
    with pytest.raises(AttributeError):
        result.__getattr__("colour")
