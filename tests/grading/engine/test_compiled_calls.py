"""Expected calls as tests: how a value stands, and what cannot be compiled."""

from __future__ import annotations

import pytest

from toolevals.grading.engine.grading import compile_case, grade_calls
from toolevals.grading.matching.compiled_calls import ALL_AS_EXPECTED, EXTRA, MISSHAPEN, WRONG, compile_call
from toolevals.grading.matching.equality import PROFILES
from toolevals.grading.values import CallExpectation, Expectation, ToolCall, Trajectory
from toolevals.grading.values.matchers import Absent, Contains, Exact, KeyOnly, OneOf, Pattern


@pytest.mark.parametrize(
    ("matcher", "value", "standing"),
    [
        (Exact("A-1"), "A-1", ALL_AS_EXPECTED),
        (Exact("A-1"), "A-2", WRONG),
        (Exact(1), 1.0, ALL_AS_EXPECTED),
        (Exact(1), True, MISSHAPEN),
        (Exact([1, [2]]), [1, [2]], ALL_AS_EXPECTED),
        (Exact([1]), [True], WRONG),
        (OneOf(("a", 1)), "a", ALL_AS_EXPECTED),
        (OneOf(("a", 1)), True, MISSHAPEN),
        (Absent(), None, EXTRA),
        (KeyOnly(), {}, ALL_AS_EXPECTED),
        (Contains("b"), "abc", ALL_AS_EXPECTED),
    ],
)
def test_how_a_value_stands(matcher, value, standing):
    call = compile_call(CallExpectation("t", {"x": matcher}, False), PROFILES["standard"])
    assert call.arguments["x"].standing(value) == standing
    assert call.check({"x": value, "y": 1}).extra == (("x", "y") if standing == EXTRA else ("y",))
    assert call.check({}).missing == (() if isinstance(matcher, Absent) else ("x",))


def test_what_cannot_be_compiled_is_told_before_anything_is_graded():
    bad = CallExpectation("f", {"a": Pattern("(")})
    fine = Trajectory((CallExpectation("f", {"a": Exact(1)}),))
    for alternatives in (
        (Trajectory((bad,)),),
        (fine, Trajectory((bad,))),
        (Trajectory(fine.ordered, disallowed=(bad,)),),
    ):
        case = compile_case(Expectation("calls", alternatives=alternatives), ())
        assert case.failure
        assert case.trajectories == ()
        assert grade_calls(case, (ToolCall("f", {"a": 1}),)).tag == "HARNESS_ERROR"
