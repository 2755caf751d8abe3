"""Test what holds of every case: no crash, one document, one grade however it is found."""

import copy
import json
import pickle
from dataclasses import FrozenInstanceError, replace
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading import strategies
from tests.grading.benchmark import SAMPLE, benchmark_rows, needs_benchmark
from tests.grading.graded import NAMED, PLAIN, RIGHT, TOOLS, called, graded
from toolevals.grading.engine import grading as engine
from toolevals.grading.engine.grading import CompiledCase, compile_case, grade, grade_calls
from toolevals.grading.engine.known_calls import LONGEST_KNOWN, MOST_KNOWN, calls_as_text
from toolevals.grading.engine.positional_match import InPlace
from toolevals.grading.matching.compiled_calls import CompiledCall
from toolevals.grading.reading.bfcl import bfcl_example
from toolevals.grading.values import (
    CallExpectation,
    Expectation,
    MalformedCall,
    ToolCall,
    ToolSpec,
    Trajectory,
)
from toolevals.grading.values.canonical import canonical, parse
from toolevals.grading.values.statuses import FailureTag
from toolevals.grading.values.verdicts import CaseGrade


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


def searched(case: CompiledCase) -> CompiledCase:
    """Return the case without the short way of calls that stand where they are expected."""
    return replace(case, in_place=None)


@pytest.mark.parametrize("keyword", [{"minProperties": 1}, {"anyOf": [{"required": ["a"]}]}, {"$ref": "#/$defs/x"}])
def test_a_call_without_arguments_is_held_to_the_whole_schema(keyword):
    schema = {"type": "object", "$defs": {"x": {"required": ["a"]}}, **keyword}
    case = compile_case(Expectation.single("f", {}), (ToolSpec("f", "", schema),))
    calls = (ToolCall("f", {}),)
    assert grade_calls(case, calls).mode == "schema_error"
    assert grade_calls(case, calls) == grade_calls(searched(case), calls)


@strategies.whole_cases
@given(strategies.expectations, strategies.transcripts)
def test_calls_in_place_get_the_grade_that_a_search_gives(expectation, transcript):
    case = compile_case(expectation, NAMED)
    assert grade(case, transcript).to_document() == grade(searched(case), transcript).to_document()


@given(st.lists(strategies.call_expectations, min_size=1, max_size=3), st.data())
def test_calls_made_of_the_expected_ones_get_the_grade_that_a_search_gives(wanted, data):
    profile, closed = data.draw(strategies.profiles), data.draw(st.booleans())
    trajectory = Trajectory(tuple(wanted), additional_calls=not closed)
    case = compile_case(Expectation("calls", alternatives=(trajectory,), profile=profile), NAMED)
    calls = tuple(ToolCall(each.tool, _arguments_for(each, data)) for each in wanted)
    quick, slow = grade_calls(case, calls), grade_calls(searched(case), calls)
    assert (quick.tag, quick.mode, quick.statuses) == (slow.tag, slow.mode, slow.statuses)
    assert quick == slow


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


def test_calls_that_came_before_are_not_looked_at_again(monkeypatch):
    case = compile_case(PLAIN, TOOLS)
    answers = ((RIGHT,), (ToolCall("track", {"order": "A-2"}),), (RIGHT, RIGHT), (ToolCall("nothing"),))
    before = [grade_calls(case, calls).to_document() for calls in answers]
    monkeypatch.setattr(engine, "_searched", None)
    monkeypatch.setattr(InPlace, "decision", None)
    assert [grade_calls(case, calls).to_document() for calls in answers] == before
    assert grade_calls(case, (ToolCall("track", {"order": "A-3"}),)).tag == FailureTag.HARNESS_ERROR


def test_few_and_short_calls_are_kept():
    case = compile_case(PLAIN, TOOLS)
    for place in range(100):
        grade_calls(case, (ToolCall("track", {"order": f"B-{place}"}),))
    long = ToolCall("track", {"order": "x" * LONGEST_KNOWN})
    assert grade_calls(compile_case(PLAIN, TOOLS), (long,)).mode == "wrong_value"
    texts = [calls_as_text((ToolCall("track", {"order": f"B-{place}"}),)) for place in range(100)]
    assert sum(case.known_decision(text) is not None for text in texts) == MOST_KNOWN
    assert calls_as_text((ToolCall("track", {"order": 2**64}),)) == b""
    assert calls_as_text((ToolCall("track", {"order": float("nan")}),)) == b""
    assert calls_as_text((MalformedCall("no"),)) == b""


@pytest.mark.parametrize("source", ["sample", pytest.param("all", marks=needs_benchmark)])
def test_the_leaderboards_answers_right_and_wrong_get_the_grade_that_a_search_gives(source):
    lines = SAMPLE.read_text("utf-8").splitlines()
    rows = map(json.loads, lines) if source == "sample" else islice(benchmark_rows("oracle.jsonl.gz"), 0, None, 12)
    for row in rows:
        question = {"id": row["id"], "question": [], "function": row["functions"]}
        example = bfcl_example(question, {"ground_truth": row["possible_answer"]}, row["category"])
        assert example.expectation is not None
        assert isinstance(example.tools, list)
        case = compile_case(example.expectation, example.tools)
        calls = _calls_in(row["prediction"])
        assert grade_calls(case, calls) == grade_calls(searched(case), calls)


def _calls_in(prediction: Any) -> tuple[ToolCall, ...]:
    made = [call for call in prediction if isinstance(call, dict)] if isinstance(prediction, list) else []
    return tuple(ToolCall(name, arguments) for call in made for name, arguments in call.items())


def _arguments_for(call: CallExpectation, data: Any) -> dict[str, Any]:
    """Return arguments that the matchers name, or others."""
    named = {
        name: data.draw(st.sampled_from(getattr(matcher, "values", (getattr(matcher, "value", "a"),))))
        for name, matcher in call.arguments.items()
    }
    more: dict[str, Any] = data.draw(st.just({}) | strategies.arguments)
    return named | more


def test_values_that_the_expectation_names_are_not_validated_again(monkeypatch):
    case = compile_case(PLAIN, TOOLS)
    monkeypatch.setattr(CompiledCall, "standing", None)
    assert grade(case, called(RIGHT)).outcome.status == "passed"


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
