"""Arbitrary documents and arguments: refused with a reason or graded, and never a crash or a long wait."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fixtures.effort import best_seconds
from tests.grading import strategies
from toolevals.grading.engine.case_metrics import tool_name_f1, tools_all_pass, tools_percentage_pass
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.matching.compiled_calls import compile_call, compile_matcher
from toolevals.grading.matching.equality import PROFILES
from toolevals.grading.matching.equivalence import differences, equivalent
from toolevals.grading.matching.value_differences import argument_differences
from toolevals.grading.values import CallExpectation, Expectation, Message, ToolCall, Transcript
from toolevals.grading.values.matchers import Approximately, Exact, Matcher, OneOf, Pattern, Range
from toolevals.grading.values.problems import InvalidDocument

# What JSON readers may hand over, beyond what JSON should say.
numbers = st.sampled_from([0, -0.0, 10**400, -(10**400), 1e308, -1e308, 5e-324, float("inf"), float("nan"), 2**53 + 1])
strange = st.sampled_from(
    ["\ud800", "\0", "9" * 500, "1e999", "2025-04-03T99:99", "(" * 50, "(a+)+$", "\\1", "(?=a)", ""]
)
anything = st.recursive(
    strategies.scalars | numbers | strange,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strategies.text | strange, inner, max_size=3),
    max_leaves=8,
)


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in items:
        yield from places(value, (*path, key))


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    """Return a good expectation's document with something else at one place."""
    document = copy.deepcopy(draw(strategies.expectations).to_document())
    path = draw(st.sampled_from(list(places(document))))
    if not path:
        return draw(anything)
    inside = document
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = draw(anything)
    return document


def expectation_or_reasons(document: Any) -> Expectation | InvalidDocument:
    try:
        return Expectation.from_document(document)
    except InvalidDocument as error:
        return error


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    damaged() | anything, st.lists(st.builds(ToolCall, strategies.names, st.dictionaries(strategies.keys, anything)))
)
def test_any_document_is_refused_with_a_reason_or_works(document, calls):
    expectation = expectation_or_reasons(document)
    if isinstance(expectation, InvalidDocument):
        assert all(problem.message for problem in expectation.problems)
        return
    assert tools_all_pass(expectation, calls).reason
    assert tools_percentage_pass(expectation, calls).reason
    assert (tool_name_f1(expectation, calls) is None) == (expectation.kind == "some_call")
    graded = grade(compile_case(expectation, []), Transcript((Message("assistant", calls=tuple(calls)),)))
    assert graded.outcome.status in {"passed", "failed", "unscored"}


@given(strategies.matchers, anything, strategies.profiles)
def test_any_value_is_matched_or_not(matcher, value, name):
    profile = PROFILES[name]
    assert compile_matcher(matcher, profile)(value) in {True, False, None}
    call = compile_call(CallExpectation("t", {"a": matcher}), profile)
    assert {each.kind for each in argument_differences(call, {"a": value}, profile, 0)} <= {
        "same", "changed", "missing", "extra"
    }  # fmt: skip


@pytest.mark.parametrize(
    "matcher",
    [Exact(10**400), Exact(1e308), OneOf((10**400, 1e308)), Range(-(10**400), 1e308), Range(None, 10**400),
     Approximately(10**400, 0.5), Approximately(1e308, None, 1e308), Approximately(5e-324, 5e-324)],
)  # fmt: skip
@pytest.mark.parametrize("name", PROFILES)
def test_numbers_of_any_size_are_compared_exactly(matcher, name):
    test = compile_matcher(matcher, PROFILES[name])
    answers = [test(value) for value in (10**400, 10**400 + 1, 1e308, float("inf"), float("nan"), 5e-324, "1e999")]
    assert set(answers) <= {True, False}
    assert answers[4] is False
    assert equivalent(expecting(matcher), expecting(matcher))
    assert {each.kind for each in differences(expecting(matcher), expecting(matcher))} == {"same"}


def expecting(matcher: Matcher) -> Expectation:
    call = {"tool": "t", "arguments": {"a": matcher.to_document()}}
    return Expectation.from_document({"kind": "calls", "alternatives": [{"ordered": [call]}]})


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*a){20}b", "((a*)*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_hostile_patterns_cost_no_more_than_the_text(pattern):
    test = compile_matcher(Pattern(pattern), PROFILES["standard"])
    # 0.02 s where it was measured; backtracking would never end.
    assert best_seconds(lambda: test("a" * 100_000 + "!"), enough=1) < 1


@pytest.mark.parametrize(
    "pattern", ["(?=a)b", "(a)\\1", "(?<=a)b", "a{1000}{1000}", "(", "[", "*", "\\p{Nope}", "a" * 3000]
)
def test_patterns_that_cannot_be_linear_are_refused(pattern):
    with pytest.raises(InvalidDocument, match="pattern"):
        expecting(Pattern(pattern))


def test_deep_documents_are_refused_or_read():
    document: Any = {"exact": 1}
    for _ in range(90):
        document = {"fields": {"a": document}}
    call = {"tool": "t", "arguments": {"a": document}}
    expectation = Expectation.from_document({"kind": "calls", "alternatives": [{"ordered": [call]}]})
    value: Any = 2
    for _ in range(90):
        value = {"a": value}
    made = ToolCall("t", {"a": value})
    graded = grade(compile_case(expectation, []), Transcript((Message("assistant", calls=(made,)),)))
    assert graded.outcome.status == "failed"
    assert equivalent(expectation, Expectation.from_document(json.loads(json.dumps(expectation.to_document()))))
