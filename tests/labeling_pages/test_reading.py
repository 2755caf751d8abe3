"""The label form: what its fields mean, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict

from labeling.label_form.fields import Kind, argument_fields
from labeling.label_form.panel import panel
from labeling.label_form.plan import read_plan, single_plan
from labeling.label_form.reading import read_label
from tests.labeling_pages.shop import TOOLS, fields, returned
from toolevals.grading.reading.specs import read_tools
from toolevals.grading.values import Expectation

SPECS = read_tools(TOOLS).tools


def data(**entered: Any) -> QueryDict:
    found = QueryDict(mutable=True)
    for name, value in entered.items():
        found.setlist(name, value if isinstance(value, list) else [value])
    return found


def arguments(**entered: Any) -> dict[str, Any]:
    """Return the matchers that the form with these fields gives."""
    label = read_label(data(**fields(**entered)), SPECS)
    assert label.problems == ()
    assert label.document is not None
    found: dict[str, Any] = label.document["alternatives"][0]["ordered"][0]["arguments"]
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
    assert read(**fields()) == Expectation.from_document(returned()).to_document()


def test_untouched_optional_fields_are_no_part_of_the_label():
    assert set(arguments()) == {"order_id", "skus", "refund_to"}


@pytest.mark.parametrize(
    ("entered", "name", "matcher"),
    [
        ({"c1.v/quantity": "2"}, "quantity", {"exact": 2}),
        ({"c1.m/quantity": "range", "c1.lo/quantity": "1", "c1.hi/quantity": ""}, "quantity", {"range": [1, None]}),
        ({"c1.m/quantity": "one_of", "c1.v/quantity": ["1", "2"]}, "quantity", {"one_of": [1, 2]}),
        ({"c1.v/express": "true"}, "express", {"exact": True}),
        (
            {"c1.m/quantity": "approximately", "c1.v/quantity": "4", "c1.abs/quantity": "1"},
            "quantity",
            {"approximately": {"value": 4, "absolute": 1}},
        ),
        ({"c1.m/store": "date_equal", "c1.v/store": "3 April 2025"}, "store", {"date_equal": "3 April 2025"}),
        (
            {"c1.m/store": "date_equal", "c1.v/store": "03/04/2025", "c1.fmt/store": "DD/MM/YYYY"},
            "store",
            {"date_equal": {"date": "03/04/2025", "formats": ["DD/MM/YYYY"]}},
        ),
        ({"c1.m/store": "raw", "c1.v/store": '{"exact": " "}'}, "store", {"exact": " "}),
        (
            {"c1.m/skus": "items", "c1.k/skus": ["4", "1"], "c1.v/skus/4": "A", "c1.m/skus/1": "key_only"},
            "skus",
            {"items": [{"exact": "A"}, {"key_only": True}]},
        ),
        ({"c1.m/store": "null"}, "store", {"exact": None}),
        ({"c1.m/store": "empty"}, "store", {"exact": ""}),
        ({"c1.m/store": "pattern", "c1.v/store": "^B"}, "store", {"pattern": "^B"}),
        ({"c1.m/store": "has_prefix", "c1.v/store": "B"}, "store", {"has_prefix": "B"}),
        ({"c1.m/store": "key_only"}, "store", {"key_only": True}),
        ({"c1.m/store": "free"}, "store", {"key_only": True, "optional": True}),
        ({"c1.v/store": "B", "c1.o/store": "1"}, "store", {"exact": "B", "optional": True}),
        ({"c1.m/refund_to": "one_of", "c1.v/refund_to": ['"store credit"']}, "refund_to", {"one_of": ["store credit"]}),
        ({"c1.v/extra": '{"a": [1]}'}, "extra", {"exact": {"a": [1]}}),
        (
            {"c1.m/pickup": "fields", "c1.v/pickup/date": "2026-03-12", "c1.m/pickup/window": "key_only"},
            "pickup",
            {"fields": {"date": {"exact": "2026-03-12"}, "window": {"key_only": True}}},
        ),
    ],
)
def test_each_matcher_is_read(entered: dict[str, Any], name: str, matcher: dict[str, Any]):
    assert arguments(**entered)[name] == matcher


@pytest.mark.parametrize(
    ("entered", "field"),
    [
        ({"c1.v/order_id": "  "}, "c1/order_id"),
        ({"c1.v/quantity": "two"}, "c1/quantity"),
        ({"c1.v/quantity": "1.5"}, "c1/quantity"),
        ({"c1.v/quantity": "0"}, "c1/quantity"),
        ({"c1.v/quantity": "1e999"}, "c1/quantity"),
        ({"c1.m/quantity": "range"}, "c1/quantity"),
        ({"c1.m/quantity": "range", "c1.lo/quantity": "5", "c1.hi/quantity": "1"}, "c1/quantity"),
        ({"c1.m/quantity": "unheard of", "c1.v/quantity": "1"}, "c1/quantity"),
        ({"c1.m/order_id": "unnamed", "c1.v/order_id": ""}, "c1"),
        ({"c1.m/store": "pattern", "c1.v/store": "("}, "c1/store"),
        ({"c1.v/refund_to": '"gold bars"'}, "c1/refund_to"),
        ({"c1.v/extra": "{"}, "c1/extra"),
        ({"c1.m/extra": "one_of", "c1.v/extra": "{}"}, "c1/extra"),
        ({"c1.m/pickup": "fields", "c1.v/pickup/date": "2026-03-12"}, "c1/pickup/window"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(entered: dict[str, Any], field: str):
    assert set(problems(**fields(**entered))) == {field}


def test_what_breaks_the_schema_is_said_while_other_fields_are_open():
    assert set(problems(**fields(**{"c1.v/quantity": "0", "c1.v/order_id": ""}))) == {"c1/quantity", "c1/order_id"}
    # What is not read yet is not said to be missing from what it lies in.
    pickup = {"c1.m/pickup": "fields", "c1.v/pickup/window": "noon", "c1.v/quantity": "0"}
    assert set(problems(**fields(**pickup))) == {"c1/pickup/date", "c1/quantity"}


ORDER_LINES = read_tools(
    [
        {
            "name": "order",
            "description": "Orders articles.",
            "input_schema": {
                "type": "object",
                "properties": {
                    "lines": {
                        "type": "array",
                        "minItems": 1,
                        "items": {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]},
                    }
                },
                "required": ["lines"],
            },
        }
    ]
).tools


def test_a_list_that_may_not_be_empty_has_one_item():
    (lines,) = panel(data(tool="0"), ORDER_LINES).rows
    assert [(row.label, [inner.address for inner in row.rows]) for row in lines.rows] == [
        ("lines 1", ["c1/lines/0/sku"])
    ]
    assert not lines.lacks_items
    found = read_label(data(tool="0"), ORDER_LINES).problems
    assert [problem.field for problem in found] == ["c1/lines/0/sku"]
    entered = read_label(data(tool="0", **{"c1.v/lines/0/sku": "LIN"}), ORDER_LINES)
    assert entered.problems == ()
    assert entered.document is not None
    (call,) = entered.document["alternatives"][0]["ordered"]
    assert call["arguments"] == {"lines": {"items": [{"fields": {"sku": {"exact": "LIN"}}}]}}


def test_a_rationale_that_only_begins_is_a_problem_of_its_field():
    assert set(problems(**fields(rationale="The guideline says so:"))) == {"rationale"}
    assert set(problems(tool="any", rationale="The guideline says so: …")) == {"rationale"}
    assert problems(tool="any", rationale="The guideline says so: § 2") == {}


def read(**entered: Any) -> dict[str, Any] | None:
    found = read_label(data(**entered), SPECS)
    assert found.problems == ()
    return None if found.document is None else Expectation.from_document(found.document).to_document()


def test_no_call_needs_its_kind():
    assert problems(tool="none") == {"why": "Say why no call is right."}
    assert problems(tool="none", why="own", why_own="") == {"why": "Say why no call is right."}
    assert read(tool="none", why="refusal") == {"kind": "no_call", "why": "refusal"}
    assert read(tool="none", why="own", why_own="It is late") == {"kind": "no_call", "why": "It is late"}


def test_any_call_will_do():
    assert read(tool="any") == {"kind": "some_call"}


@pytest.mark.parametrize("answer", ["ambiguous", "missing_tool"])
def test_an_answer_that_is_no_expectation(answer: str):
    found = read_label(data(tool=answer, rationale="Nothing sends a gift."), SPECS)
    assert (found.answer, found.document, found.is_valid) == (answer, None, True)


def test_who_misses_a_tool_says_what_is_missing():
    found = read_label(data(tool="missing_tool", rationale=" "), SPECS)
    assert [problem.field for problem in found.problems] == ["rationale"]


def test_what_stands_beside_the_calls_is_read():
    entered = {"reaction": ["escalation", "gave_up"], "says": ["$45", ""], "says_pattern": "a+", "state": '{"n": 1}'}
    assert read(tool="any", profile="loose", **entered) == {
        "kind": "some_call",
        "profile": "loose",
        "reactions": ["escalation"],
        "answer": {"contains": ["$45"], "pattern": "a+"},
        "state": {"n": 1},
    }
    assert set(problems(tool="any", says_pattern="(")) == {"says_pattern"}
    assert set(problems(tool="any", state="[]")) == {"state"}


ORDER = {"c1.tool": "get_order", "c1.v/order_id": "A-1", "c2.tool": "create_return"}


def test_a_problem_of_a_closed_call_is_said_beside_the_call():
    plan = '[{"id":1,"ordered":[1,2]}]'
    assert problems(plan=plan, open="2", tool="0", **ORDER | {"c2.v/order_id": "A-1", "c1.v/order_id": ""}) == {
        "c1": "order_id: Enter a value, or compare by “anything” to accept any value."
    }
    assert problems(plan=plan, open="1", tool="0", **ORDER | {"c2.tool": ""}) == {"c2": "Choose a tool."}
    assert set(problems(plan=plan, open="2", tool="", **ORDER | {"c2.tool": ""})) == {"tool"}


UNNAMED = {"c4.more": "1", "a2.more": "1", "c4.m/skus": "unnamed", "c4.m/refund_to": "unnamed"}


def test_the_plan_puts_the_calls_in_their_places():
    plan = '[{"id":1,"ordered":[{"any_order":[1,{"one_of_calls":[2,3]}]}],"disallowed":[4]},{"id":2,"unordered":[5]}]'
    calls = {f"c{number}.tool": "get_order" for number in range(1, 6)}
    values = {f"c{number}.m/order_id": "key_only" for number in range(1, 6)}
    found = read(plan=plan, open="4", tool="1", **calls, **values, **UNNAMED)
    call = {"tool": "get_order", "arguments": {"order_id": {"key_only": True}}, "additional_arguments": False}
    never = {"tool": "create_return", "arguments": {"order_id": {"key_only": True}}}
    first = {"ordered": [{"any_order": [call, {"one_of_calls": [call, call]}]}], "disallowed": [never]}
    assert found == {"kind": "calls", "alternatives": [{**first, "additional_calls": False}, {"unordered": [call]}]}


@pytest.mark.parametrize(
    "plan",
    [
        "{",
        "[]",
        "7",
        "[{}]",
        '[{"id":1,"ordered":[1,1]}]',
        '[{"id":1,"ordered":[{"any_order":[]}]}]',
        '[{"id":"1"}]',
        '[{"id":1,"ordered":[-1]}]',
        '[{"id":1,"ordered":[true]}]',
        f'[{{"id":1,"ordered":{list(range(1, 200))}}}]',
    ],
)
def test_a_plan_that_is_none_is_one_call(plan: str):
    assert read_plan(plan) == single_plan()


@pytest.mark.parametrize("tool", ["", "7", "-1", "²", "x"])
def test_no_choice_of_a_tool_is_a_problem(tool: str):
    assert set(problems(tool=tool)) == {"tool"}


def test_open_arguments_and_further_calls_are_said():
    label = read_label(data(**fields(**{"c1.more": "1", "a1.more": "1"})), SPECS).document
    assert label is not None
    assert label["alternatives"][0]["additional_calls"] is True
    assert label["alternatives"][0]["ordered"][0]["additional_arguments"] is True


@pytest.mark.parametrize("text", ["", "{", "[]", '{"kind": "calls"}', '{"kind": "no_call", "kind": "no_call"}'])
def test_raw_json_that_is_no_expectation_is_refused(text: str):
    assert set(problems(mode="json", json=text)) == {"json"}


def test_raw_json_is_checked_against_the_offered_tools():
    found = problems(mode="json", json='{"kind": "calls", "alternatives": [{"ordered": [{"tool": "sell_shop"}]}]}')
    assert "sell_shop" in found["json"]
