"""Calls that stand where they are expected are looked at as they are, and say what tests and the validator say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grading import strategies
from toolevals.grading.engine import compiled
from toolevals.grading.engine import positional_match as in_place
from toolevals.grading.engine.grading import compile_case, grade_calls
from toolevals.grading.engine.positional_match import Place
from toolevals.grading.json_schema import schema_checks as schema_gates
from toolevals.grading.json_schema.conformance import schema_problems, validator_of
from toolevals.grading.json_schema.schema_checks import NO_SCHEMA, schema_gate
from toolevals.grading.json_schema.schema_fast_path import is_surely_valid
from toolevals.grading.json_schema.subschemas import without_refused_patterns
from toolevals.grading.matching.compiled_calls import CompiledArgument, compile_call
from toolevals.grading.matching.equality import PROFILES
from toolevals.grading.reading.specs.keywords import keyword_losses
from toolevals.grading.values import CallExpectation, Expectation, ToolCall, ToolSpec, Trajectory
from toolevals.grading.values.argument_checks import ALL_AS_EXPECTED, EXTRA, MISSHAPEN, MISSING, WRONG
from toolevals.grading.values.matchers import Absent, Contains, Exact, KeyOnly, OneOf, Pattern

values = (
    strategies.small | strategies.json_values | st.sampled_from(["A.1", "a 1", "5", "5.0", 5, 5.0, [True], [1], [1.0]])
)
optional = st.booleans()
plain = st.builds(Exact, values, optional=optional) | st.builds(
    OneOf, st.lists(values, min_size=1, max_size=3).map(tuple), optional=optional
)
labels = st.dictionaries(st.sampled_from("abc"), plain | strategies.matchers, max_size=3)
types = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null"])
properties = st.fixed_dictionaries(
    {}, optional={"type": types | st.just(["string"]), "enum": st.lists(values, max_size=2), "title": st.just("t")}
)
schemas = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(st.sampled_from("abc"), properties, max_size=3),
        "required": st.lists(st.sampled_from("abcd"), max_size=2),
        "additionalProperties": st.booleans(),
        "description": st.sampled_from(["d", 1]),
    },
)


def named(matcher: Any) -> st.SearchStrategy[Any]:
    """Return the values that a matcher names, among others."""
    return st.sampled_from([*getattr(matcher, "values", ()), getattr(matcher, "value", "a"), "a"]) | values


@given(labels, strategies.profiles, st.booleans(), schemas, st.data())
def test_a_look_says_what_tests_and_the_validator_say(label, profile, open_, schema, data):
    tool = ToolSpec("t", "", schema)
    known = not schema_problems(schema)
    expected = CallExpectation("t", label, open_)
    place = Place(expected, "t", schema_gate(tool), PROFILES[profile])
    actual = {name: data.draw(named(matcher)) for name, matcher in label.items() if data.draw(st.booleans())}
    actual |= data.draw(st.just({}) | st.dictionaries(st.sampled_from("abcd"), values, max_size=1))
    breaks = known and not validator_of(tool).is_valid(actual)
    standing = compile_call(expected, PROFILES[profile]).standing(actual)
    # Several times, because what is made at first is kept.
    assert [place.look(actual) for _ in range(3)] == [(standing, breaks)] * 3
    assert (place.gate is NO_SCHEMA) is not known


described = st.fixed_dictionaries(
    {},
    optional={
        "type": types | st.lists(types | st.just("none"), max_size=2),
        "title": st.sampled_from(["t", None]),
        "format": st.sampled_from(["date", 1]),
        "default": strategies.json_values,
        **dict.fromkeys(("minimum", "maximum"), st.sampled_from([0, -1.5, True, "1", 10**30])),
        **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), st.sampled_from([0, 3, -1, 1.0, False])),
        "enum": st.lists(strategies.small, max_size=2) | st.just("a"),
        "required": st.lists(st.sampled_from("ab"), max_size=2),
    },
)
nested = st.recursive(
    described,
    lambda inner: st.builds(
        lambda schema, more: {**schema, **more},
        described,
        st.fixed_dictionaries(
            {},
            optional={
                "properties": st.dictionaries(st.sampled_from(["a", "pattern", "$ref"]), inner, max_size=2),
                "items": inner,
                "additionalProperties": inner | st.booleans(),
                **dict.fromkeys(("anyOf", "oneOf", "allOf"), st.lists(inner, max_size=2)),
            },
        ),
    ),
    max_leaves=6,
)


@given(schemas | nested)
def test_a_schema_that_is_surely_valid_is_one(schema):
    if is_surely_valid(schema):
        assert schema_problems(schema) == []
        assert without_refused_patterns(schema) == (schema, [])
        assert keyword_losses(schema) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"at": {"type": "string", "format": "date"}}, "additionalProperties": False},
        {"properties": {"count": {"type": "integer", "minimum": 0, "maximum": 5}}, "required": ["count"]},
        {"properties": {"note": {"anyOf": [{"type": "string", "maxLength": 9}, {"type": ["null", "integer"]}]}}},
        {"properties": {"items": {"type": "array", "minItems": 1, "items": {"type": "object", "properties": {}}}}},
    ],
)
def test_the_schemas_that_libraries_write_are_surely_valid(schema):
    assert is_surely_valid(schema)


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
    place = Place(CallExpectation("t", {"x": matcher}, False), "t", NO_SCHEMA, PROFILES["standard"])
    assert place.look({"x": value}) == (standing, False)
    assert place.look({"x": value, "y": 1})[0] == EXTRA
    assert place.look({})[0] == (ALL_AS_EXPECTED if isinstance(matcher, Absent) else MISSING)


def test_plain_calls_in_place_are_graded_without_tests_or_a_validator(monkeypatch):
    known = {"a": {"type": "string", "enum": ["x", "y"]}, "b": {"type": "integer"}}
    schema = {"type": "object", "properties": known, "required": ["a"]}
    case = compile_case(Expectation.single("f", {"a": "x", "b": 1}), (ToolSpec("f", "never seen before", schema),))
    monkeypatch.setattr(in_place, "compile_call", None)
    monkeypatch.setattr(compiled, "compile_trajectory", None)
    monkeypatch.setattr(schema_gates, "validator_of", None)
    assert grade_calls(case, (ToolCall("f", {"a": "x", "b": 1}),)).tag == ""
    wrong = grade_calls(case, (ToolCall("f", {"a": "y", "b": 1}),))
    assert (wrong.mode, wrong.statuses["schema"]) == ("wrong_value", "passed")
    assert grade_calls(case, (ToolCall("f", {"a": "z", "b": 1}),)).mode == "schema_error"


def test_an_argument_is_made_into_a_test_when_it_is_wanted_unless_that_may_fail():
    made = CompiledArgument("a", Exact("x"), PROFILES["standard"])
    assert made.standing("x") == ALL_AS_EXPECTED
    assert made.pointer == "/a"
    with pytest.raises(AttributeError):
        made.__getattr__("colour")
    with pytest.raises(ValueError, match="missing"):
        CompiledArgument("a", Pattern("("), PROFILES["standard"])


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


_values = st.sampled_from(["a", "A ", " a", "b", "1", 1, 1.0, 2, True, False, None, [1]])
_arguments = st.dictionaries(st.sampled_from(["x", "y"]), _values, max_size=2)


@given(
    st.lists(st.tuples(_arguments, st.sampled_from([False, False, False, True])), min_size=2, max_size=8),
    st.data(),
    st.sampled_from(["strict", "standard", "loose", "bfcl"]),
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_what_calls_have_in_common_decides_as_looking_at_each(expected, data, profile, in_order):
    calls = tuple(
        CallExpectation("t", {name: Exact(value) for name, value in given.items()}, additional)
        for given, additional in expected
    )
    same = {"ordered": calls} if in_order else {"unordered": calls}
    expectation = Expectation("calls", alternatives=(Trajectory(**same, additional_calls=False),), profile=profile)
    made = [ToolCall("t", data.draw(st.sampled_from([given for given, _ in expected]) | _arguments)) for _ in expected]
    tools = (ToolSpec(name="t", description="", input_schema={"type": "object"}),)

    found = grade_calls(compile_case(expectation, tools), made).to_document()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_place, "_FEW", 1_000)
        patch.setattr(in_place, "_MANY", 1_000)
        assert grade_calls(compile_case(expectation, tools), made).to_document() == found


def test_plain_calls_of_one_tool_are_held_together_and_not_each_beside_each(monkeypatch):
    looks = []
    look = Place.look

    def noted(self, actual):
        looks.append(actual)
        return look(self, actual)

    monkeypatch.setattr(Place, "look", noted)
    count = 32
    calls = tuple(CallExpectation("t", {"x": Exact(f"right {n}"), "y": Exact(n)}, False) for n in range(count))
    expectation = Expectation("calls", alternatives=(Trajectory(unordered=calls, additional_calls=False),))
    tools = (ToolSpec(name="t", description="", input_schema={"type": "object"}),)
    made = [ToolCall("t", {"x": f"wrong {n}", "y": n}) for n in range(count)]
    assert grade_calls(compile_case(expectation, tools), made).statuses["equivalence"] == "failed"
    assert len(looks) == count
