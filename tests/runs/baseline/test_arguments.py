from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.runs.baseline.agent import Source, fill


def filled(text: str, properties: Any, required: Any = None, context: Any = None) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
    }
    return fill(schema, Source(text, context or {}))


@pytest.mark.parametrize(
    ("text", "properties", "expected"),
    [
        (
            "the area of a triangle with a height of 5 and a base of 10",
            {"base": {"type": "integer"}, "height": {"type": "integer"}},
            {"base": 10, "height": 5},
        ),
        ("a rate of 5%", {"rate": {"type": "number"}}, {"rate": 0.05}),
        ("5% humidity", {"humidity": {"type": "number", "description": "in percent"}}, {"humidity": 5}),
        ("set it to 2.5", {"level": {"type": "integer"}}, {}),
        (
            "in fahrenheit please",
            {"unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}},
            {"unit": "fahrenheit"},
        ),
        ("for the living room", {"room": {"enum": ["living_room", "room"]}}, {"room": "living_room"}),
        ("where is ORD-9182", {"order_id": {"type": "string"}}, {"order_id": "ORD-9182"}),
        ("is it X1 or ORD-77", {"order_id": {"type": "string", "pattern": "^ORD-"}}, {"order_id": "ORD-77"}),
        (
            "is it X1 or ORD-77",
            {"order_id": {"type": "string", "description": "such as 'ORD-9182'"}},
            {"order_id": "ORD-77"},
        ),
        ("on March 1st, 2023", {"date": {"type": "string"}}, {"date": "2023-03-01"}),
        ("on March 1st, 2023", {"date": {"description": "in the form MM/DD/YYYY"}}, {"date": "03/01/2023"}),
        ("with details", {"include_details": {"type": "boolean"}}, {"include_details": True}),
        ("without any details", {"include_details": {"type": "boolean"}}, {"include_details": False}),
        ("add 1, 2 and 3", {"numbers": {"type": "array", "items": {"type": "integer"}}}, {"numbers": [1, 2, 3]}),
        (
            "weather in Paris",
            {"place": {"type": "object", "properties": {"city": {}}, "required": ["city"]}},
            {"place": {"city": "Paris"}},
        ),
        ("how do returns work?", {"query": {"type": "string"}}, {"query": "how do returns work?"}),
        ("nothing here", {"city": {"type": "string"}, "days": {"type": "integer", "default": 7}}, {"days": 7}),
    ],
)
def test_what_is_mentioned_becomes_an_argument(text, properties, expected):
    assert filled(text, properties) == expected


def test_an_optional_parameter_needs_its_name_close_by():
    properties = {"days": {"type": "integer"}, "limit": {"type": "integer"}}

    assert filled("the next 3 days", properties, required=["days"]) == {"days": 3}
    assert filled("3 days, limit 10", properties, required=["days"]) == {"days": 3, "limit": 10}


def test_the_context_names_values_by_parameter():
    assert filled("where is it?", {"order_id": {"type": "string"}}, context={"order_id": "A-1", "other": 2}) == {
        "order_id": "A-1"
    }


def test_one_mention_serves_once():
    properties = {"a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"type": "integer"}}

    assert filled("numbers 4 and 9", properties) == {"a": 4, "b": 9}


@pytest.mark.parametrize("pattern", ["(?=look)ahead", "(", "(a+)+$"])
def test_a_pattern_that_the_linear_time_engine_refuses_or_tames_does_not_hurt(pattern):
    found = filled("code " + "a" * 5000 + "1!", {"code": {"type": "string", "pattern": pattern}})

    assert set(found) <= {"code"}


@given(
    st.text(max_size=80),
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["type", "properties", "items", "enum", "required", "default", "const", "a"]), inner
            )
        ),
        max_leaves=10,
    ),
)
def test_a_schema_of_any_shape_is_survived(text, schema):
    assert isinstance(filled(text, {"a": schema if isinstance(schema, dict) else {}}), dict)
