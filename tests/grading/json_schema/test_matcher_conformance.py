"""Nested matchers of a label against the schemas of its tools."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.json_schema.conformance import expectation_problems
from toolevals.grading.values import CallExpectation, Expectation, ToolSpec, Trajectory
from toolevals.grading.values.matchers import Absent, Exact, Fields, Items, KeyOnly, Matcher, OneOf

PLACE = {
    "type": "object",
    "properties": {"city": {"enum": ["Riga", "Turku"]}, "floor": {"type": "integer", "minimum": 0}},
    "required": ["city"],
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "stops": {"type": "array", "items": {"$ref": "#/$defs/place"}, "minItems": 1, "maxItems": 3},
        "way": {"allOf": [{"type": "object"}, {"anyOf": [{"$ref": "#/$defs/place"}, {"$ref": "#/$defs/none"}]}]},
    },
    "required": ["stops"],
    "$defs": {"place": PLACE, "none": {"type": "object", "required": ["none"], "additionalProperties": {"const": 1}}},
}
RIGA = Fields({"city": Exact("Riga")})


def found(arguments: dict[str, Matcher], schema: dict[str, Any] = SCHEMA) -> list[str]:
    call = CallExpectation("go", arguments, additional_arguments=False)
    label = Expectation("calls", alternatives=(Trajectory((call,)),))
    start = "/alternatives/0/ordered/0/arguments"
    return [each.pointer.removeprefix(start) for each in expectation_problems(label, [ToolSpec("go", "", schema)])]


@pytest.mark.parametrize(
    ("matcher", "pointers"),
    [
        (Items(()), ["/items"]),
        (Items((RIGA,) * 4), ["/items"]),
        (Items((Exact("Riga"),)), ["/items/0/exact"]),
        (Items((Fields({"city": Exact("Rome")}),)), ["/items/0/fields/city/exact"]),
        (Items((Fields({"city": OneOf(("Riga", "Rome"))}),)), ["/items/0/fields/city/one_of/1"]),
        (Items((Fields({"city": Exact("Riga"), "town": KeyOnly()}),)), ["/items/0/fields/town"]),
        (Items((Fields({}),)), ["/items/0/fields"]),
        (Items((Fields({"city": Absent()}, additional_fields=True),)), ["/items/0/fields/city"]),
        (Items((Fields({"city": KeyOnly(), "floor": Exact(-1, optional=True)}),)), ["/items/0/fields/floor/exact"]),
        (Fields({"city": Exact("Riga")}), ["/fields"]),
        (Items((KeyOnly(),)), []),
        (Items((Fields({}, additional_fields=True), RIGA)), []),
    ],
)
def test_what_is_nested_is_pointed_at(matcher, pointers):
    assert found({"stops": matcher}) == [f"/stops{pointer}" for pointer in pointers]


def test_one_of_several_schemas_is_enough():
    stops = Items((RIGA,))
    assert found({"stops": stops, "way": RIGA}) == []
    assert found({"stops": stops, "way": Fields({"none": Exact(1), "more": KeyOnly()})}) == []
    assert found({"stops": stops, "way": Fields({"none": Exact(2), "more": KeyOnly()})}) != []


def test_keywords_of_the_whole_value_are_held_where_it_is_known():
    schema = {"properties": {"a": {"type": "array", "uniqueItems": True}}, "not": {"required": ["b"]}}
    assert found({"a": Items((Exact(1), OneOf((1, 2))))}, schema) == []
    assert found({"a": Items((Exact(1), Exact(1)))}, schema) == ["/a/items"]


def test_references_that_lead_back_end_and_doubling_ones_are_looked_at_once():
    circle = {"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"properties": {"a": {"$ref": "#/$defs/x"}}}}}
    assert found({"a": Fields({"a": Fields({"a": KeyOnly()})})}, circle) == []


PLACES = st.fixed_dictionaries({"city": st.sampled_from(["Riga", "Turku"])}, optional={"floor": st.integers(0, 9)})
VALUES = st.fixed_dictionaries({"stops": st.lists(PLACES, min_size=1, max_size=3)}, optional={"way": PLACES})


@st.composite
def written(draw: st.DrawFn, value: Any) -> Matcher:
    """Write a value as some matcher that admits it alone."""
    if draw(st.booleans()):
        if isinstance(value, dict):
            return Fields({name: draw(written(one)) for name, one in value.items()})
        if isinstance(value, list):
            return Items(tuple(draw(written(one)) for one in value))
    return OneOf((value,)) if draw(st.booleans()) else Exact(value)


MUTATIONS = [{"city": "Rome"}, {"city": 3}, {"floor": "1"}, {"floor": -1}, {"town": "Riga"}]


@given(data=st.data())
def test_a_value_of_the_schema_has_no_problem_and_a_mutation_is_found(data):
    value = data.draw(VALUES)
    arguments = {name: data.draw(written(one)) for name, one in value.items()}
    assert found(arguments) == []
    stop = data.draw(st.integers(0, len(value["stops"]) - 1))
    value["stops"][stop] |= data.draw(st.sampled_from(MUTATIONS))
    (broken, *_) = found(arguments | {"stops": data.draw(written(value["stops"]))})
    assert broken.startswith("/stops/")
