from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grading.reference import reference_problems
from tests.grading.strategies import json_values
from toolevals.grading.json_schema.conformance import (
    call_problems,
    expectation_problems,
    schema_problems,
    validator_of,
)
from toolevals.grading.json_schema.subschemas import is_linear, remote_references, without_refused_patterns
from toolevals.grading.values import AnyOrder, CallExpectation, Expectation, Step, ToolSpec, Trajectory
from toolevals.grading.values.matchers import Absent, Exact, KeyOnly, OneOf
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.verdicts import SchemaProblem

NAMES = st.sampled_from(["a", "b", "c"])
TYPES = ["string", "integer", "number", "boolean", "array", "object", "null"]
Schemas = st.SearchStrategy[dict[str, Any]]


def ranges(low: str, high: str, least: int) -> Schemas:
    numbers = st.tuples(st.integers(least, 3), st.integers(0, 3))
    return numbers.map(lambda drawn: {low: drawn[0], high: drawn[0] + drawn[1]})


def under(keyword: str, values: st.SearchStrategy[Any]) -> Schemas:
    return values.map(lambda value: {keyword: value})


LEAVES: Schemas = st.one_of(
    st.just({}),
    under("type", st.sampled_from(TYPES)),
    under("type", st.lists(st.sampled_from(TYPES), min_size=1, max_size=2, unique=True)),
    under("enum", st.lists(st.sampled_from(["a", "b", 1, None, False]), min_size=1, unique_by=repr)),
    under("const", st.sampled_from(["a", 1, True, None])),
    # Patterns that both engines read alike.
    under("pattern", st.sampled_from(["^a", "b$", "^[a-c]{1,2}$", "[0-9]+", "x|y"])),
    ranges("minimum", "maximum", -3),
    ranges("minLength", "maxLength", 0),
    st.just({"maxItems": 1, "uniqueItems": True}),
)


def objects(inner: Schemas) -> Schemas:
    known = st.fixed_dictionaries(
        {
            "type": st.just("object"),
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "required": st.lists(NAMES, unique=True, max_size=2),
            "additionalProperties": st.booleans() | inner,
        }
    )
    several = st.lists(inner, min_size=1, max_size=2)
    return st.one_of(
        known, under("items", inner), under("anyOf", several), under("oneOf", several), under("not", inner)
    )


SCHEMAS = st.recursive(LEAVES, objects, max_leaves=6)
SIMPLE = st.sampled_from(["a", "ab", "b", "x1", "", 0, 1, 1.0, 2.5, -1, True, False, None])
ARGUMENTS = st.dictionaries(NAMES, st.recursive(
    SIMPLE, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=2), max_leaves=5,
) | json_values, max_size=3)  # fmt: skip


def places(problems: list[SchemaProblem]) -> set[tuple[str, str]]:
    return {(problem.pointer, problem.keyword) for problem in problems}


@pytest.mark.parametrize(
    ("arguments", "pointer"),
    [({"": 1}, "/"), ({"": {"": 1}}, "//"), ({"a": [{"": 1}]}, "/a/0/"), ({"": [{"a": 1}]}, "//0/a")],
)
def test_a_place_under_an_empty_name_is_told(arguments, pointer):
    inner: dict[str, Any] = {"type": ["string", "object", "array"], "items": {"$ref": "#/$defs/each"}}
    each = inner | {"additionalProperties": {"$ref": "#/$defs/each"}}
    tool = ToolSpec("t", "", {"$defs": {"each": each}, "type": "object", "additionalProperties": each})
    assert [problem.pointer for problem in call_problems(tool, arguments)] == [pointer]


@settings(max_examples=300)
@given(objects(SCHEMAS), ARGUMENTS)
def test_the_fast_validator_and_the_reference_agree(schema, arguments):
    tool = ToolSpec("t", "", schema)
    assert places(call_problems(tool, arguments)) == places(reference_problems(tool, arguments))


ORDER = ToolSpec(
    "track",
    "",
    {
        "type": "object",
        "properties": {
            "order": {"type": "string", "pattern": "^A-[0-9]+$"},
            "limit": {"type": "integer", "minimum": 1},
            "tags": {"type": "array", "items": {"enum": ["new", "old"]}},
        },
        "required": ["order"],
        "additionalProperties": False,
    },
)


def test_every_problem_has_pointer_keyword_and_message_in_a_stable_order():
    problems = call_problems(ORDER, {"order": "B-1", "limit": 0, "tags": ["new", "other"], "x": 1})
    assert [(each.pointer, each.keyword) for each in problems] == [
        ("", "additionalProperties"),
        ("/limit", "minimum"),
        ("/order", "pattern"),
        ("/tags/1", "enum"),
    ]
    assert all(each.message for each in problems)
    assert call_problems(ORDER, {"order": "A-1", "limit": 1.0}) == []
    assert places(call_problems(ORDER, [])) == {("", "type")}


def test_schemas_are_read_by_the_draft_that_they_name():
    tuple_of_old = {"properties": {"a": {"items": [{"type": "string"}]}}}
    old = ToolSpec("t", "", {"$schema": "http://json-schema.org/draft-07/schema#", **tuple_of_old})
    assert places(call_problems(old, {"a": [1]})) == {("/a/0", "type")}
    (problem,) = schema_problems(tuple_of_old)
    assert problem.pointer == "/properties/a/items"
    assert schema_problems({"$schema": "https://example.org/mine", "type": "object"}) == []


@pytest.mark.parametrize(
    ("schema", "pointer", "words"),
    [
        ({"type": "objct"}, "/type", "objct"),
        ({"properties": {"a": {"$ref": "https://example.org/x.json"}}}, "/properties/a/$ref", "only references inside"),
        ({"$defs": {"a": {"$ref": "other.json#/a"}}}, "/$defs/a/$ref", "only references inside"),
        ({"$ref": "#/$defs/none"}, "", "does not exist"),
        ([], "", "is not an object"),
        ({"$schema": ["http://json-schema.org/draft-07/schema#"]}, "/$schema", "not of type"),
    ],
)
def test_a_bad_schema_is_named_and_no_reference_is_fetched(schema, pointer, words):
    (problem,) = schema_problems(schema)
    assert problem.pointer == pointer
    assert words in problem.message


def test_arguments_cannot_be_checked_by_a_bad_schema():
    with pytest.raises(InvalidDocument) as caught:
        validator_of(ToolSpec("t", "", {"type": "objct"}))
    assert caught.value.problems[0].pointer == "/input_schema/type"


def test_a_schema_may_refer_to_itself():
    tree = {"type": "object", "properties": {"left": {"$ref": "#"}, "value": {"type": "integer"}}}
    assert places(call_problems(ToolSpec("t", "", tree), {"left": {"left": {"value": "x"}}})) == {
        ("/left/left/value", "type")
    }


@pytest.mark.parametrize("pattern", ["(?=a)b", "(a)\\1", "(?<!a)b", "a{1,1000}{1,1000}{1,1000}", "("])
def test_patterns_that_are_not_linear_are_marked_as_unchecked(pattern):
    assert not is_linear(pattern)
    schema = {
        "properties": {"a": {"pattern": pattern}, "pattern": {"type": "string"}},
        "patternProperties": {pattern: {"type": "string"}, "^x": {"type": "integer"}},
        "additionalProperties": False,
        "default": {"pattern": pattern},
    }
    cleaned, losses = without_refused_patterns(schema)
    assert [loss.pointer for loss in losses] == ["/properties/a/pattern", f"/patternProperties/{pattern}"]
    assert cleaned == {
        "properties": {"a": {"x-unchecked-pattern": pattern}, "pattern": {"type": "string"}},
        "patternProperties": {"^x": {"type": "integer"}},
        "x-unchecked-patternProperties": {pattern: {"type": "string"}},
        "x-unchecked-additionalProperties": False,
        "default": {"pattern": pattern},
    }
    assert call_problems(ToolSpec("t", "", schema), {"a": "b"}) == []
    assert places(call_problems(ToolSpec("t", "", schema), {"x1": "b"})) == {("/x1", "type")}


def test_what_json_text_cannot_hold_hides_no_pattern_and_no_reference():
    hidden = {"properties": {"a": {"pattern": "(?=a)b", "maximum": 10**30}, "b": {"$ref": "https://shop.example/b"}}}
    assert [loss.pointer for loss in without_refused_patterns(hidden)[1]] == ["/properties/a/pattern"]
    assert [problem.pointer for problem in remote_references(hidden)] == ["/properties/b/$ref"]


def test_a_pattern_that_backtracks_elsewhere_takes_no_time():
    tool = ToolSpec("t", "", {"properties": {"a": {"pattern": "^(a+)+$"}}})
    assert places(call_problems(tool, {"a": "a" * 50_000 + "!"})) == {("/a", "pattern")}


def expecting(*calls: Step, **options: Any) -> Expectation:
    return Expectation("calls", alternatives=(Trajectory(calls, **options),))


def test_a_label_that_fits_has_no_problem():
    assert expectation_problems(Expectation("no_call"), [ORDER]) == []
    assert expectation_problems(Expectation.single("track", {"order": "A-1", "tags": ["new"]}), [ORDER]) == []
    assert expectation_problems(expecting(CallExpectation("track", {"limit": OneOf((1, 2))})), [ORDER]) == []


@pytest.mark.parametrize(
    ("expectation", "pointers"),
    [
        (Expectation.single("find", {}), ["/ordered/0/tool"]),
        (Expectation.single("track", {"order": "A-1", "x": 1}), ["/ordered/0/arguments/x"]),
        (Expectation.single("track", {"order": "B-1"}), ["/ordered/0/arguments/order/exact"]),
        (Expectation.single("track", {"order": "A-1", "tags": ["new", "x"]}), ["/ordered/0/arguments/tags/exact/1"]),
        (Expectation.single("track", {}), ["/ordered/0/arguments"]),
        (expecting(CallExpectation("track", {"order": Absent()})), ["/ordered/0/arguments/order"]),
        (expecting(CallExpectation("track", {"limit": OneOf((1, 0, "x"))})),
         ["/ordered/0/arguments/limit/one_of/1", "/ordered/0/arguments/limit/one_of/2"]),
        (expecting(AnyOrder((CallExpectation("track"), CallExpectation("find")))), ["/ordered/0/any_order/1/tool"]),
        (expecting(unordered=(CallExpectation("find"),), disallowed=(CallExpectation("lose"),)),
         ["/unordered/0/tool", "/disallowed/0/tool"]),
    ],
)  # fmt: skip
def test_a_label_that_does_not_fit_is_pointed_at(expectation, pointers):
    found = [problem.pointer for problem in expectation_problems(expectation, [ORDER])]
    assert found == [f"/alternatives/0{pointer}" for pointer in pointers]


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": {"a": {}}, "additionalProperties": True},
        {"properties": {"a": {}}, "anyOf": [{}]},
        {"type": "objct"},
    ],
)
def test_an_argument_is_unknown_only_where_the_schema_says_all(schema):
    label = expecting(CallExpectation("t", {"z": KeyOnly(), "a": Exact(1)}))
    assert expectation_problems(label, [ToolSpec("t", "", schema)]) == []
