"""The label form: what its fields mean, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict

from labeling.forms.fields import Kind, argument_fields
from labeling.forms.reading import read_label
from tests.labeling_pages.shop import TOOLS, fields, returned
from toolevals.grading.specs import read_tools
from toolevals.grading.values import Expectation

SPECS = read_tools(TOOLS).tools


def data(**entered: Any) -> QueryDict:
    found = QueryDict(mutable=True)
    for name, value in entered.items():
        found.setlist(name, value if isinstance(value, list) else [value])
    return found


def arguments(**entered: Any) -> dict[str, Any]:
    """Return the matchers that the form with these fields gives."""
    read = read_label(data(**fields(**entered)), SPECS)
    assert read.problems == ()
    assert read.document is not None
    found: dict[str, Any] = read.document["alternatives"][0]["ordered"][0]["arguments"]
    return found


def problems(**entered: Any) -> dict[str, str]:
    return {problem.field: problem.message for problem in read_label(data(**entered), SPECS).problems}


def test_the_schema_gives_the_fields_in_its_order():
    found = argument_fields(SPECS[1].input_schema)
    assert [field.name for field in found if field.required] == ["order_id", "skus", "refund_to"]
    kinds = {field.name: field.kind for field in found}
    assert kinds == {
        "order_id": Kind.TEXT,
        "skus": Kind.LIST,
        "refund_to": Kind.CHOICE,
        "quantity": Kind.INTEGER,
        "express": Kind.BOOLEAN,
        "store": Kind.TEXT,
        "extra": Kind.JSON,
        "pickup": Kind.OBJECT,
    }
    assert next(field for field in found if field.name == "store").nullable
    assert next(field for field in found if field.name == "quantity").default == "1"


def test_references_within_the_schema_are_followed():
    schema = {
        "properties": {"day": {"$ref": "#/$defs/day"}, "loop": {"$ref": "#/$defs/loop"}},
        "$defs": {"day": {"enum": ["mon", "tue"]}, "loop": {"$ref": "#/$defs/loop"}},
    }
    day, loop = argument_fields(schema)
    assert day.kind is Kind.CHOICE
    assert [choice.literal for choice in day.choices] == ['"mon"', '"tue"']
    assert loop.kind is Kind.JSON


@pytest.mark.parametrize(
    "schema", [{}, {"properties": []}, {"properties": {"a": True}}, {"properties": {"a": {"type": 7}}, "required": "a"}]
)
def test_a_schema_of_no_use_gives_what_it_can(schema: dict[str, Any]):
    assert all(field.kind is Kind.JSON for field in argument_fields(schema))


def test_one_call_is_read_as_what_was_entered():
    read = read_label(data(**fields()), SPECS)
    assert read.problems == ()
    assert Expectation.from_document(read.document) == Expectation.from_document(returned())


def test_untouched_optional_fields_are_no_part_of_the_label():
    assert set(arguments()) == {"order_id", "skus", "refund_to"}


@pytest.mark.parametrize(
    ("entered", "name", "matcher"),
    [
        ({"v:/quantity": "2"}, "quantity", {"exact": 2}),
        ({"m:/quantity": "range", "lo:/quantity": "1", "hi:/quantity": ""}, "quantity", {"range": [1, None]}),
        ({"m:/quantity": "one_of", "v:/quantity": ["1", "2"]}, "quantity", {"one_of": [1, 2]}),
        ({"v:/express": "true"}, "express", {"exact": True}),
        ({"m:/store": "null"}, "store", {"exact": None}),
        ({"m:/store": "empty"}, "store", {"exact": ""}),
        ({"m:/store": "pattern", "v:/store": "^B"}, "store", {"pattern": "^B"}),
        ({"m:/store": "has_prefix", "v:/store": "B"}, "store", {"has_prefix": "B"}),
        ({"m:/store": "key_only"}, "store", {"key_only": True}),
        ({"m:/store": "free"}, "store", {"key_only": True, "optional": True}),
        ({"v:/store": "B", "o:/store": "1"}, "store", {"exact": "B", "optional": True}),
        ({"m:/refund_to": "one_of", "v:/refund_to": ['"store credit"']}, "refund_to", {"one_of": ["store credit"]}),
        ({"v:/extra": '{"a": [1]}'}, "extra", {"exact": {"a": [1]}}),
        (
            {"v:/pickup/date": "2026-03-12", "m:/pickup/window": "key_only"},
            "pickup",
            {"fields": {"date": {"exact": "2026-03-12"}, "window": {"key_only": True}}, "additional_fields": False},
        ),
    ],
)
def test_each_matcher_is_read(entered: dict[str, Any], name: str, matcher: dict[str, Any]):
    assert arguments(**entered)[name] == matcher


@pytest.mark.parametrize(
    ("entered", "field"),
    [
        ({"v:/order_id": "  "}, "/order_id"),
        ({"v:/quantity": "two"}, "/quantity"),
        ({"v:/quantity": "1.5"}, "/quantity"),
        ({"v:/quantity": "0"}, "/quantity"),
        ({"v:/quantity": "1e999"}, "/quantity"),
        ({"m:/quantity": "range"}, "/quantity"),
        ({"m:/quantity": "range", "lo:/quantity": "5", "hi:/quantity": "1"}, "/quantity"),
        ({"m:/quantity": "pattern", "v:/quantity": "1"}, "/quantity"),
        ({"m:/order_id": "unnamed", "v:/order_id": ""}, "/order_id"),
        ({"m:/store": "pattern", "v:/store": "("}, "/store"),
        ({"v:/refund_to": '"gold bars"'}, "/refund_to"),
        ({"v:/extra": "{"}, "/extra"),
        ({"m:/extra": "one_of", "v:/extra": "{}"}, "/extra"),
        ({"v:/pickup/date": "2026-03-12"}, "/pickup/window"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(entered: dict[str, Any], field: str):
    assert set(problems(**fields(**entered))) == {field}


def test_no_call_needs_its_kind():
    assert problems(tool="none") == {"why": "Say why no call is right."}
    assert read_label(data(tool="none", why="refusal"), SPECS).document == {"kind": "no_call", "why": "refusal"}


@pytest.mark.parametrize("tool", ["", "7", "-1", "²", "x"])
def test_no_choice_of_a_tool_is_a_problem(tool: str):
    assert set(problems(tool=tool)) == {"tool"}


def test_open_arguments_and_further_calls_are_said():
    read = read_label(data(**fields(other_arguments="1", other_calls="1")), SPECS).document
    assert read is not None
    assert read["alternatives"][0]["additional_calls"] is True
    assert read["alternatives"][0]["ordered"][0]["additional_arguments"] is True


@pytest.mark.parametrize("text", ["", "{", "[]", '{"kind": "calls"}', '{"kind": "no_call", "kind": "no_call"}'])
def test_raw_json_that_is_no_expectation_is_refused(text: str):
    assert set(problems(mode="json", json=text)) == {"json"}


def test_raw_json_is_checked_against_the_offered_tools():
    found = problems(mode="json", json='{"kind": "calls", "alternatives": [{"ordered": [{"tool": "sell_shop"}]}]}')
    assert "sell_shop" in found["json"]
