"""Cases that are alike: what is taken from another case is what would be worked out for this one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.grading import strategies
from tests.grading.graded import NAMED
from toolevals.grading.engine.alike_cases import Alike, AlikeKey, alike_key
from toolevals.grading.engine.case_metrics import METRICS, _at_once, case_metrics
from toolevals.grading.engine.explanation import Explanation
from toolevals.grading.engine.grading import CompiledCase, compile_case, grade
from toolevals.grading.engine.measured_case import Measured
from toolevals.grading.values import CallExpectation, Expectation, Message, ToolCall, ToolSpec, Trajectory, Transcript
from toolevals.grading.values.expectations import ProfileName
from toolevals.grading.values.matchers import Exact
from toolevals.runs.counts.grade_text import alike_text, grade_text

SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}}}
TOOLS = tuple(ToolSpec(name, f"Does {name}.", SCHEMA) for name in ("orders.get", "orders.delete", "send"))


def expected(
    tool: str, arguments: Mapping[str, Any], *, may_be_more: bool = False, profile: ProfileName = "standard"
) -> Expectation:
    call = CallExpectation(tool, {name: Exact(value) for name, value in arguments.items()})
    trajectory = Trajectory(ordered=(call,), additional_calls=may_be_more)
    return Expectation("calls", alternatives=(trajectory,), profile=profile)


def said(name: str, arguments: dict[str, Any]) -> Transcript:
    return Transcript((Message("assistant", None, (ToolCall(name, arguments),)),))


def key_of(case: CompiledCase, transcript: Transcript) -> AlikeKey | None:
    source = grade(case, transcript).source
    assert isinstance(source, Explanation)
    return source.alike(case)


@given(
    st.lists(
        st.tuples(strategies.names, strategies.arguments, strategies.names, strategies.arguments),
        min_size=2,
        max_size=5,
    ),
    st.booleans(),
    st.sampled_from(["strict", "standard", "loose", "bfcl"]),
    st.sampled_from([(), NAMED]),
)
def test_what_is_taken_from_others_is_what_a_search_gives(cases, may_be_more, profile, tools):
    for wanted, due, called, given_ in cases:
        for name, made in ((called, given_), (called, due), (wanted, given_)):
            case = compile_case(expected(wanted, due, may_be_more=may_be_more, profile=profile), tools)
            searched = replace(case, in_place=None)
            transcript = said(name, made)
            found, other = grade(case, transcript), grade(searched, transcript)
            metrics = case_metrics(searched, transcript, other, goal="Get it")
            assert case_metrics(case, transcript, found, goal="Get it") == metrics
            key = key_of(case, transcript)
            text = grade_text(found) if key is None else alike_text(found, key, case)
            assert text == grade_text(other)
            assert (found.tag, found.mode) == (other.tag, other.mode)


def test_cases_of_the_same_two_tools_are_alike_whatever_the_values():
    keys = [
        key_of(compile_case(expected("orders.get", {"id": value}), TOOLS), said("send", {"id": value}))
        for value in "ab"
    ]
    assert keys[0] is not None
    assert keys[0] == keys[1]
    right = [
        key_of(compile_case(expected("orders.get", {"id": value}), TOOLS), said("orders.get", {"id": value}))
        for value in "ab"
    ]
    assert right[0] == right[1] != keys[0]


def test_a_case_whose_arguments_decide_is_like_no_other():
    case = compile_case(expected("orders.get", {"id": "a"}), TOOLS)
    assert key_of(case, said("orders.get", {"id": "b"})) is None
    # Another tool, whose schema the arguments break.
    assert key_of(case, said("send", {"id": 7})) is None
    assert key_of(compile_case(expected("(unknown tool)", {}), TOOLS), said("invented", {})) is None
    assert key_of(case, said("x" * 201, {})) is None
    assert key_of(replace(case, in_place=None), said("orders.get", {"id": "a"})) is None


def test_what_is_kept_of_cases_is_bounded():
    kept: Alike[int] = Alike()
    case = compile_case(expected("orders.get", {}), TOOLS)
    keys = [alike_key(case, (ToolCall(f"tool_{number}", {}),), is_right=False) for number in range(2000)]
    for number, key in enumerate(keys):
        assert key is not None
        assert kept.keep(key, number, case) == kept.get(key) == number
    assert sum(kept.get(key) is not None for key in keys if key is not None) <= 512


def test_what_is_asked_for_again_and_again_is_kept_while_others_come():
    kept: Alike[int] = Alike()
    case = compile_case(expected("orders.get", {}), TOOLS)
    often = alike_key(case, (ToolCall("orders.get", {}),), is_right=True)
    assert often is not None
    kept.keep(often, -1, case)
    for number in range(2000):
        key = alike_key(case, (ToolCall(f"tool_{number}", {}),), is_right=False)
        assert key is not None
        kept.keep(key, number, case)
        assert kept.get(often) == -1


@given(strategies.arguments, strategies.arguments, st.sampled_from([(), TOOLS]))
def test_a_call_of_the_right_tool_with_wrong_arguments_is_measured_at_once_as_by_a_search(due, made, tools):
    case = compile_case(expected("orders.get", due), tools)
    transcript = said("orders.get", made)
    found = grade(case, transcript)
    measured = Measured(case, transcript, found, "Get it")
    assert measured.is_wrong_call <= (found.statuses["equivalence"] == "failed")
    for name, verdict in _at_once(measured).items():
        assert verdict == METRICS[name].verdict(Measured(replace(case, in_place=None), transcript, found, "Get it"))
