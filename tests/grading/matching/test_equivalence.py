import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading import strategies
from toolevals.grading.matching.equivalence import Difference, differences, equivalent
from toolevals.grading.values import (
    AnyOrder,
    CallExpectation,
    Expectation,
    Expected,
    OneOfCalls,
    ProfileName,
    Trajectory,
)
from toolevals.grading.values.matchers import (
    Absent,
    Approximately,
    Contains,
    DateEqual,
    Exact,
    Fields,
    HasPrefix,
    Items,
    KeyOnly,
    Matcher,
    OneOf,
    Range,
)


def calls(*trajectories: Trajectory, profile: ProfileName = "standard") -> Expectation:
    return Expectation("calls", alternatives=trajectories, profile=profile)


def one(matcher: Matcher | None, additional_arguments: bool = True) -> Expectation:
    call = CallExpectation("t", {"a": matcher} if matcher else {}, additional_arguments)
    return calls(Trajectory((call,)))


def strict(matcher: Matcher) -> Expectation:
    return calls(Trajectory((CallExpectation("t", {"a": matcher}),)), profile="strict")


def answering(**answer: object) -> Expectation:
    return Expectation("no_call", answer=answer)


A, B, C = CallExpectation("a"), CallExpectation("b"), CallExpectation("c")
B_WITH_N = CallExpectation("b", {"n": Exact(1)})
A_OR_B = OneOfCalls((A, B))


@strategies.whole_cases
@given(strategies.expectations)
def test_equivalence_is_reflexive(expectation):
    again = Expectation.from_document(expectation.to_document())
    assert equivalent(expectation, again)
    assert all(difference.kind == "same" for difference in differences(expectation, again))


@strategies.whole_cases
@given(strategies.expectations, strategies.expectations)
def test_equivalence_is_symmetric(left, right):
    assert equivalent(left, right) == equivalent(right, left)


@strategies.whole_cases
@given(strategies.expectations, strategies.expectations)
def test_differences_seen_from_the_other_side_are_mirrored(left, right):
    mirrored = {"missing": "extra", "extra": "missing", "same": "same", "changed": "changed"}
    there = {(each.path, each.kind) for each in differences(left, right)}
    back = {(each.path, mirrored[each.kind]) for each in differences(right, left)}
    assert there == back


@strategies.whole_cases
@given(strategies.expectations, st.integers())
def test_the_order_of_arguments_and_alternatives_is_free(expectation, seed):
    shuffle = random.Random(seed)

    def shuffled(call: Expected) -> Expected:
        if isinstance(call, OneOfCalls):
            return OneOfCalls(tuple(shuffled_call(option) for option in reversed(call.options)))
        return shuffled_call(call)

    def shuffled_call(call: CallExpectation) -> CallExpectation:
        items = list(call.arguments.items())
        shuffle.shuffle(items)
        return CallExpectation(call.tool, dict(items), call.additional_arguments)

    alternatives = [
        Trajectory(
            tuple(
                AnyOrder(tuple(shuffled(call) for call in reversed(step.calls)))
                if isinstance(step, AnyOrder)
                else shuffled(step)
                for step in each.ordered
            ),
            tuple(shuffled(call) for call in reversed(each.unordered)),
            tuple(shuffled_call(call) for call in reversed(each.disallowed)),
            each.additional_calls,
        )
        for each in expectation.alternatives
    ]
    shuffle.shuffle(alternatives)
    other = Expectation(
        expectation.kind, alternatives=tuple(alternatives), profile=expectation.profile, why="another remark"
    )
    assert equivalent(expectation, other)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (one(Exact(1)), one(Exact(1.0))),
        (one(Exact("x ")), one(OneOf(("x",)))),
        (one(OneOf((1, 2, 2.0))), one(OneOf((2, 1)))),
        (one(Exact({"k": 1, "l": [True]})), one(Fields({"l": Items((Exact(True),)), "k": Exact(1)}))),
        (one(KeyOnly(optional=True)), one(None)),
        (one(Absent(), additional_arguments=False), one(None, additional_arguments=False)),
        (calls(Trajectory((A,))), calls(Trajectory(unordered=(A,)))),
        (calls(Trajectory((AnyOrder((A, B)),))), calls(Trajectory(unordered=(B, A)))),
        (calls(Trajectory((A, AnyOrder((B,))))), calls(Trajectory((A, B)))),
        (calls(Trajectory((A,)), Trajectory((B,))), calls(Trajectory((B,)), Trajectory((A,)), Trajectory((A,)))),
        (Expectation("no_call", "greeting"), Expectation("no_call", "refusal", profile="loose")),
        (one(Fields({"k": OneOf((1, 1.0))})), one(Exact({"k": 1}))),
        (one(Range(5, 5)), one(Exact(5.0))),
        (one(Approximately(5, 0)), one(OneOf((5,)))),
        (one(Approximately(0.7, 0.1)), one(Range(0.6, 0.8))),
        (one(Approximately(50, None, 0.1)), one(Approximately(50, 5))),
        (one(Items((Exact(1, optional=True),))), one(Exact([1]))),
        (one(Items((OneOf((1, 2), optional=True),))), one(Items((OneOf((2, 1)),)))),
        (one(DateEqual("2025-04-03")), one(DateEqual("3 April 2025, 00:00"))),
        (one(DateEqual("2025-04-03T10:00Z")), one(DateEqual("2025-04-03T12:00+02:00"))),
        (one(HasPrefix("")), one(Contains(""))),
        (calls(Trajectory((A,), disallowed=(B,))), calls(Trajectory((A,), disallowed=(B, B_WITH_N)))),
        (calls(Trajectory((A_OR_B,))), calls(Trajectory((B,)), Trajectory((A,)))),
        (calls(Trajectory((A_OR_B, C))), calls(Trajectory((OneOfCalls((B, A, B)), C)))),
        (calls(Trajectory((OneOfCalls((A,)), B))), calls(Trajectory((A, B)))),
        (
            calls(Trajectory((AnyOrder((A_OR_B, C)),))),
            calls(Trajectory(unordered=(C, B)), Trajectory(unordered=(C, A))),
        ),
        (calls(Trajectory((A_OR_B,) * 7)), calls(Trajectory((OneOfCalls((B, A)),) * 7))),
        (answering(contains=["x", "y", "x"]), answering(contains=["y", "x"])),
        (answering(contains=[]), Expectation("no_call")),
        (Expectation("no_call", state={"a": 1, "b": 2}), Expectation("no_call", state={"b": 2, "a": 1})),
    ],
)
def test_these_expect_the_same(left, right):
    assert equivalent(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Expectation("no_call"), Expectation("some_call")),
        (one(Exact(1)), one(Exact(True))),
        (one(Exact(1)), one(Exact("1"))),
        (one(Exact(1)), one(Exact(1, optional=True))),
        (one(Exact(1)), one(KeyOnly())),
        (one(KeyOnly()), one(None)),
        (one(Absent()), one(None)),
        (one(Exact(1)), one(Exact(1), additional_arguments=False)),
        (one(Range(1, 2)), one(Range(1, None))),
        (one(Contains("a")), one(Contains("A"))),
        (calls(Trajectory((A, B))), calls(Trajectory((B, A)))),
        (calls(Trajectory((A, B))), calls(Trajectory(unordered=(A, B)))),
        (calls(Trajectory(unordered=(A, A))), calls(Trajectory(unordered=(A,)))),
        (calls(Trajectory((A,))), calls(Trajectory((A,), additional_calls=False))),
        (calls(Trajectory((A,), disallowed=(B,))), calls(Trajectory((A,), disallowed=(C,)))),
        (calls(Trajectory((A,))), calls(Trajectory((A,)), profile="loose")),
        (Expectation("no_call"), Expectation("no_call", answer={"contains": ["x"]})),
        (Expectation("no_call"), Expectation("no_call", reactions=("escalation",))),
        (Expectation("no_call"), Expectation("no_call", state={})),
        (Expectation("no_call", state={"a": 1}), Expectation("no_call", state={"a": 2})),
        (answering(contains=["x"]), answering(contains=["X"])),
        (answering(exact="x"), answering(contains=["x"])),
        (one(Approximately(5, 1)), one(Approximately(5, 2))),
        (one(DateEqual("2025-04-03")), one(DateEqual("2025-04-03T00:00Z"))),
        (one(DateEqual("2025-04-03")), one(DateEqual("2025-04-03", ("DD/MM/YYYY",)))),
        (calls(Trajectory((A_OR_B,))), calls(Trajectory((A,)))),
        (calls(Trajectory((A_OR_B, A_OR_B))), calls(Trajectory((A, A)), Trajectory((B, B)))),
        (strict(Range(5, 5)), strict(Exact(5))),
        (strict(Exact(5)), strict(Exact(5.0))),
    ],
)
def test_these_do_not(left, right):
    assert not equivalent(left, right)


def test_the_profile_decides_what_is_equal():
    dotted, underscored = (
        calls(Trajectory((CallExpectation(name, {"n": Exact(number)}),)), profile="loose")
        for name, number in (("a.b", 5), ("a_b", "5"))
    )
    assert equivalent(dotted, underscored)


def test_differences_name_their_parts():
    left = Expectation.single("refund", {"order_id": "A-1", "amount": 45, "reason": "late"})
    right = Expectation.single("refund", {"order_id": "A-1 ", "amount": 54, "note": None})
    root = "/alternatives/0/ordered/0"
    found = differences(left, right)
    assert [each for each in found if each.kind != "same"] == [
        Difference(f"{root}/arguments/amount", {"exact": 45}, {"exact": 54}, "changed"),
        Difference(f"{root}/arguments/reason", {"exact": "late"}, None, "missing"),
        Difference(f"{root}/arguments/note", None, {"exact": None}, "extra"),
    ]
    assert {each.path for each in found if each.kind == "same"} == {
        "/kind",
        "/profile",
        f"{root}/tool",
        f"{root}/arguments/order_id",
        f"{root}/additional_arguments",
        "/alternatives/0/additional_calls",
    }


def test_another_tool_and_no_call_are_differences_too():
    call = Expectation.single("refund", {})
    assert Difference("/kind", "calls", "no_call", "changed") in differences(call, Expectation("no_call"))
    other = Expectation.single("cancel", {})
    assert Difference("/alternatives/0/ordered/0/tool", "refund", "cancel", "changed") in differences(call, other)


@strategies.whole_cases
@given(strategies.expectations, strategies.expectations, strategies.expectations)
def test_equivalence_is_transitive(one, other, third):
    if equivalent(one, other) and equivalent(other, third):
        assert equivalent(one, third)


def test_differences_open_a_choice():
    left, right = (calls(Trajectory((OneOfCalls((A, other)),))) for other in (B, C))
    assert [each for each in differences(left, right) if each.kind != "same"] == [
        Difference("/alternatives/0/ordered/0/one_of_calls/1/tool", "b", "c", "changed")
    ]
