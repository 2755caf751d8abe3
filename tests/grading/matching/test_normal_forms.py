"""Test what has one normal form admits the same: matchers the same values, expectations the same calls."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolevals.grading.engine.case_metrics import tools_all_pass
from toolevals.grading.matching.compiled_calls import compile_matcher
from toolevals.grading.matching.equality import PROFILES
from toolevals.grading.matching.equivalence import equivalent, matcher_form, without_choices
from toolevals.grading.values import CallExpectation, Expectation, OneOfCalls, ToolCall, Trajectory
from toolevals.grading.values.canonical import canonical
from toolevals.grading.values.matchers import (
    Absent,
    Approximately,
    Contains,
    DateEqual,
    Exact,
    Fields,
    HasPrefix,
    HasSuffix,
    Items,
    KeyOnly,
    Matcher,
    NaturalLanguage,
    OneOf,
    Pattern,
    Range,
)

A, B = CallExpectation("a"), CallExpectation("b")
B_WITH_N = CallExpectation("b", {"n": Exact(1)})

# Each beside others that admit the same, more, or less.
POOL: tuple[Matcher, ...] = (
    Exact(5), Exact(5.0), Exact("5"), Exact(" 5"), Exact([5]), Exact({"k": 5}), Exact({"k": "x"}), Exact(True),
    Exact([]), OneOf((5,)), OneOf((5, 5.0)), OneOf((5, "5")), OneOf((5, 6)), OneOf((6, 5)), OneOf(([5],)),
    Range(5, 5), Range(5, 6), Range(5, None), Approximately(5, 0), Approximately(5.5, 0.5),
    Approximately(5.0, None, 0.0), Fields({"k": Exact(5)}), Fields({"k": OneOf((5.0,))}),
    Fields({"k": Exact(5, optional=True)}), Fields({"k": Exact(5)}, additional_fields=True),
    Fields({"k": KeyOnly(optional=True)}, additional_fields=True), Fields({}, additional_fields=True), Fields({}),
    Fields({"k": Absent()}), Fields({"k": Exact(5), "l": Absent()}), Items(()), Items((Exact(5),)),
    Items((Range(5, 5),)), Items((Exact(5, optional=True),)), Items((Absent(),)), Contains(""), HasPrefix(""),
    HasSuffix(""), Contains("5"), HasPrefix("5"), Pattern("5"), Pattern("^5$"), KeyOnly(), Absent(),
    NaturalLanguage("five"), DateEqual("2025-04-03"), DateEqual("3 April 2025"), DateEqual("2025-04-03T00:00Z"),
    DateEqual("2025-04-03T02:00+02:00"),
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    5, 5.0, 6, 5.5, 4.999, "5", " 5", "5.0", "x", "", True, None, [], [5], [5.0], ["5"], {}, {"k": 5}, {"k": 5.0},
    {"k": "5"}, {"k": 5, "l": 1}, {"l": 1}, "2025-04-03", "April 3, 2025", "2025-04-03T00:00Z",
    "2025-04-02T22:00-02:00",
)  # fmt: skip


@pytest.mark.parametrize("name", ["strict", "standard", "loose", "bfcl"])
def test_matchers_of_one_form_admit_the_same(name):
    profile = PROFILES[name]
    admitted: dict[str, tuple[Matcher, list[bool | None]]] = {}
    same = 0
    for matcher in POOL:
        test = compile_matcher(matcher, profile)
        answers = [test(value) for value in VALUES]
        first, known = admitted.setdefault(canonical(matcher_form(matcher, profile)), (matcher, answers))
        assert known == answers, (first, matcher)
        same += first is not matcher
    assert same >= 8


few_calls = st.sampled_from([A, B, B_WITH_N])
few_expected = few_calls | st.lists(few_calls, min_size=1, max_size=2).map(lambda options: OneOfCalls(tuple(options)))
few_trajectories = st.builds(
    Trajectory,
    ordered=st.lists(few_expected, max_size=2).map(tuple),
    unordered=st.lists(few_expected, max_size=1).map(tuple),
    disallowed=st.lists(few_calls, max_size=2).map(tuple),
    additional_calls=st.booleans(),
)


def calls(alternatives: Sequence[Trajectory]) -> Expectation:
    return Expectation("calls", alternatives=tuple(alternatives))


few = st.lists(few_trajectories, min_size=1, max_size=2).map(calls)


@settings(max_examples=60)
@given(few, few)
def test_equivalent_expectations_pass_the_same_calls(left, right):
    if not equivalent(left, right):
        return
    made = [ToolCall("a", {}), ToolCall("b", {}), ToolCall("b", {"n": 1}), ToolCall("c", {})]
    for count in range(3):
        for each in itertools.product(made, repeat=count):
            assert tools_all_pass(left, each).status == tools_all_pass(right, each).status


@given(few)
def test_a_choice_passes_what_its_alternatives_pass(expectation):
    spread = calls(without_choices(expectation.alternatives))
    assert equivalent(expectation, spread)
    made = [ToolCall("a", {}), ToolCall("b", {}), ToolCall("b", {"n": 1})]
    for each in itertools.product(made, repeat=2):
        assert tools_all_pass(expectation, each).status == tools_all_pass(spread, each).status
