"""Plain tests of properties say what the validator says, or that it is to be asked."""

import math
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading import strategies
from toolevals.grading.json_schema.conformance import validator_of
from toolevals.grading.json_schema.schema_fast_path import ASK, BREAKS, CONFORMS, TEXT, ask, gate_of, property_gates
from toolevals.grading.values import ToolSpec

KINDS = ["string", "integer", "number", "boolean", "null", "array", "object"]
TEXTS = ["", "a", "b", "A", "é", "1"]

kinds = st.sampled_from(KINDS)
enums = st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3, unique=True)
annotated = st.fixed_dictionaries({}, optional={"default": st.just("z"), "format": st.just("date")})
plain = st.builds(lambda kind, notes: {"type": kind, **notes}, kinds, annotated)
listed = st.builds(lambda texts, notes: {"type": "string", "enum": texts, **notes}, enums, annotated)
arrays = st.builds(lambda items: {"type": "array", "items": items}, plain | listed)
further = st.sampled_from(
    [
        {},
        True,
        {"type": ["string", "null"]},
        {"type": "integer", "minimum": 1},
        {"enum": ["a", 1]},
        {"type": "integer", "enum": [1]},
        {"type": "array", "minItems": 1, "items": {"type": "string"}},
        {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        {"anyOf": [{"type": "string"}]},
    ]
)
schemas = plain | listed | arrays | further
scalars = st.sampled_from([*TEXTS, 0, 1, 2, -1, 1.0, 1.5, 2**53, 2**70, 1e308, True, False, None])
values = (
    scalars
    | st.lists(scalars, max_size=3)
    | st.lists(st.lists(scalars, max_size=2), max_size=2)
    | strategies.json_values
)


@given(schemas, values)
def test_a_gate_says_what_the_validator_says_or_asks_it(schema, value):
    answer = gate_of(schema)(value)
    if answer < ASK:
        tool = ToolSpec("f", "", {"type": "object", "properties": {"a": schema}})
        assert validator_of(tool).is_valid({"a": value}) is (answer == CONFORMS)


@pytest.mark.parametrize(
    ("schema", "value", "answer"),
    [
        ({"type": "string", "default": ""}, "a", CONFORMS),
        ({"type": "string"}, 1, BREAKS),
        ({"type": "string", "enum": ["a"]}, "a", CONFORMS),
        ({"type": "string", "enum": ["a"]}, "b", BREAKS),
        ({"type": "integer"}, 3, CONFORMS),
        ({"type": "integer"}, True, BREAKS),
        ({"type": "number"}, 3, CONFORMS),
        ({"type": "boolean"}, False, CONFORMS),
        ({"type": "array", "items": {"type": "string"}}, ["a", "b"], CONFORMS),
        ({"type": "array", "items": {"type": "string"}}, ["a", 1], BREAKS),
        ({"type": "array", "items": {"type": "integer"}}, [1, 1.0], ASK),
        ({"type": "array"}, [], ASK),
        ({"type": "object"}, {}, ASK),
    ],
)
def test_what_is_simple_is_decided(schema, value, answer):
    assert gate_of(schema)(value) == answer


@pytest.mark.parametrize("value", ["\ud800", "é\udfff", math.nan, math.inf, 10**400, ("a",), b"a", {"a"}, object()])
def test_what_the_validator_may_not_be_able_to_read_is_left_to_it(value):
    for kind in KINDS:
        assert gate_of({"type": kind})(value) == ASK
    assert gate_of({"type": "array", "items": {"type": "string"}})([value]) == ASK


def test_properties_have_gates_where_they_conform_each_by_itself():
    string = {"type": "string"}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"a": string, "b": {"$ref": "#/$defs/x"}},
        "required": ["a"],
    }
    assert property_gates(schema) == {"a": TEXT, "b": ask}
    assert property_gates({**schema, "additionalProperties": False}) == {"a": TEXT, "b": ask}
    for keyword in ("dependentRequired", "$ref", "anyOf", "maxProperties", "$schema", "patternProperties"):
        assert property_gates({**schema, keyword: {}}) == {}
    assert property_gates({**schema, "type": "string"}) == {}
    assert property_gates({"properties": True}) == {}


@given(
    st.dictionaries(st.sampled_from("abc"), schemas, max_size=3),
    st.lists(st.sampled_from("abc"), max_size=2, unique=True),
    st.dictionaries(st.sampled_from("abc"), values, max_size=3),
)
def test_an_object_conforms_where_what_is_required_is_there_and_each_property_conforms(properties, required, given_):
    schema = {"type": "object", "properties": properties, "required": required}
    gates = property_gates(schema)
    answers = [gates.get(name, ask)(value) for name, value in given_.items()]
    if given_.keys() >= set(required) and max(answers, default=CONFORMS) < ASK:
        assert jsonschema_rs.validator_for(schema).is_valid(given_) is (BREAKS not in answers)
