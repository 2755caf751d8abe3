"""The form and raw JSON say the same, in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.http import QueryDict
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from labeling.label_form.form_from_expectation import fill_form, form_of
from labeling.label_form.panel import panel
from labeling.label_form.reading import read_form, read_label
from tests.grading.strategies import expectations
from tests.labeling_pages.shop import TOOLS, fields, returned
from tests.labeling_pages.test_reading import data
from toolevals.grading.reading.specs import read_tools
from toolevals.grading.values import Expectation, ToolSpec

SPECS = read_tools(TOOLS).tools

# What a page's fields would change stands for itself in JSON: line ends in reasons and patterns, reasons of blanks.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "b": {"$ref": "#/$defs/node"},
        "room": {
            "anyOf": [
                {"type": "string"},
                {"type": "object", "properties": {"a": {"const": "x"}}},
                {"type": "array", "items": {"type": "integer"}},
            ]
        },
        "ключ": {"enum": [1, "1", None, "a"]},
    },
    "required": ["a", "b"],
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "room": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            "required": ["a"],
        }
    },
}
OTHER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": "array", "items": {"type": "string"}},
        "b": {"type": "number"},
        "order id": {"type": ["integer", "null"]},
        "room": {"type": "boolean"},
    },
    "required": ["b"],
}
DRAWN = [ToolSpec("get_order", "", SCHEMA), ToolSpec("refund", "", OTHER)]


def said(document: dict[str, Any], tools: Sequence[ToolSpec]) -> None:
    """Check that the form says this document, and nothing else."""
    filled = fill_form(document, tools)
    assert filled is not None
    read = read_form(filled, tools).document
    assert Expectation.from_document(read) == Expectation.from_document(document)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(expectations)
def test_the_form_says_whatever_a_label_can(drawn: Expectation):
    assume(not drawn.why or (drawn.kind == "no_call" and drawn.why.isprintable()))
    document = drawn.to_document()
    said(document, DRAWN)


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12) | st.sampled_from(
    ["", ".", "/", "~", "c1.v", "a/b~c.d", "%2F", "line\nend", "\r", "x" * 3000, "'\"<>&", "__proto__", "ключ 🗝"]
)
kinds = st.sampled_from([{"type": "string"}, {"type": "array", "items": {"type": "string"}}, {}])


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(names, st.tuples(kinds, st.booleans()), max_size=4), names)
def test_names_may_be_anything(drawn: dict[str, Any], beyond: str):
    tool = ToolSpec("odd", "", {"type": "object", "properties": {name: kind for name, (kind, _) in drawn.items()}})
    inner = ToolSpec("odd", "", {"type": "object", "properties": {"o": {"type": "object", **tool.input_schema}}})
    matchers: dict[str, Any] = {name: {"contains": name or "-"} for name, (_, named) in drawn.items() if named}
    matchers[beyond] = {"exact": [beyond]}
    said(label({"tool": "odd", "arguments": matchers}), [tool])
    said(label({"tool": "odd", "arguments": {"o": {"fields": matchers}}}), [inner])


def label(*ordered: Any, **more: Any) -> dict[str, Any]:
    return {"kind": "calls", "alternatives": [{"ordered": list(ordered)}], **more}


GET = {"tool": "get_order", "arguments": {"order_id": {"exact": "A-1"}}}
FROM_RESULT = {
    "tool": "create_return",
    "arguments": {
        "order_id": {"result_of": {"call": 1, "pointer": "/order/id"}},
        "skus": {"items": [{"result_of": {"call": 1, "pointer": "/lines/0/sku"}}]},
        "store": {"result_of": {"call": 1, "pointer": ""}, "optional": True},
    },
}


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "some_call"},
        {"kind": "no_call"},
        {"kind": "no_call", "why": "words of one's own"},
        label({"tool": "sell_shop", "arguments": {"shop": {"exact": {"a": [1]}}}}),
        label(GET, {"any_order": [GET, {"one_of_calls": [GET, {"tool": "create_return"}]}]}),
        {"kind": "calls", "alternatives": [{"ordered": [GET]}, {"unordered": [GET, GET], "disallowed": [GET]}, {}]},
        label(GET, reactions=["corrected_retry", "escalation"], state={}),
        label(GET, FROM_RESULT),
        label({"any_order": [GET, {"one_of_calls": [GET, {"tool": "create_return"}]}]}, FROM_RESULT),
        {"kind": "calls", "alternatives": [{"ordered": [GET]}, {"ordered": [GET, FROM_RESULT], "unordered": [GET]}]},
        label(GET, answer={"contains": ["$45.00"], "exact": "a\nb", "pattern": "^a"}, profile="loose"),
        returned(sku={"exact": 1}),
        returned(quantity={"exact": "two"}),
        returned(store={"exact": "  "}, skus={"items": [{"exact": "\r"}]}),
        returned(store={"exact": "two\nlines"}, extra={"fields": {"x": {"range": [None, 4]}}}),
        returned(pickup={"fields": {}, "additional_fields": True, "optional": True}),
    ],
)
def test_unusual_labels_are_said_too(document: dict[str, Any]):
    said(document, SPECS)


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "some_call", "why": "no reason is asked for"},
        {"kind": "no_call", "why": "two\nlines"},
        label(GET, answer={"contains": []}),
        label(*[GET] * 64, *[{"any_order": [GET] * 64}]),
    ],
)
def test_what_the_form_cannot_say_stays_json(document: dict[str, Any]):
    assert fill_form(document, SPECS) is None
    assert form_of(document, SPECS)["mode"] == "json"


def test_an_answer_comes_back_as_it_was():
    assert read_label(form_of(None, SPECS, answer="ambiguous"), SPECS).answer == "ambiguous"


@pytest.mark.parametrize(
    ("matcher", "variant"),
    [
        ({"exact": "x"}, "0"),
        ({"fields": {"a": {"exact": "x"}}}, "1"),
        ({"exact": [1, 2]}, "2"),
        ({"items": [{"exact": 1}]}, "2"),
    ],
)
def test_the_variant_that_fits_is_chosen(matcher: dict[str, Any], variant: str):
    filled = fill_form(label({"tool": "get_order", "arguments": {"room": matcher}}), DRAWN)
    assert filled is not None
    assert filled["c1.x/room"] == variant
    assert "raw" not in [value for _, values in filled.lists() for value in values]


def test_turning_to_json_and_back_keeps_everything():
    entered = data(
        **fields(
            **{
                "c1.v/quantity": "2",
                "c1.m/pickup": "fields",
                "c1.v/pickup/date": "2026-03-12",
                "c1.v/pickup/window": '"any"',
            }
        )
    )
    as_json = panel(entered, SPECS, to="json")
    assert as_json.mode == "json"
    back = panel(data(mode="json", json=as_json.json), SPECS, to="form")
    assert back.mode == "form"
    assert back.tool == SPECS[1]
    values = {row.field.path: row.value for row in (*back.rows, *(inner for row in back.rows for inner in row.rows))}
    assert values["/quantity"] == "2"
    assert values["/pickup/window"] == '"any"'


def test_an_unfinished_form_turns_to_json_and_back():
    entered = data(tool="1", **{"c1.v/order_id": "A-1"})
    as_json = panel(entered, SPECS, to="json")
    back = panel(data(mode="json", json=as_json.json), SPECS, to="form")
    assert back.mode == "form"
    assert {row.field.name: row.value for row in back.rows}["order_id"] == "A-1"


def test_broken_json_stays_and_says_why():
    back = panel(data(mode="json", json="{"), SPECS, to="form")
    assert (back.mode, back.json) == ("json", "{")
    assert back.note
    assert "json" in back.problems


def test_choosing_another_matcher_changes_the_control():
    controls = {row.field.name: row.control for row in panel(data(tool="1"), SPECS).rows}
    assert controls == {
        "order_id": "text",
        "skus": "chips",
        "refund_to": "seg",
        "quantity": "number",
        "express": "seg",
        "store": "text",
        "extra": "json",
        "pickup": "unnamed",
    }
    changed = panel(data(tool="1", **{"c1.m/quantity": "range", "c1.m/store": "free"}), SPECS)
    assert {row.field.name: row.control for row in changed.rows}["quantity"] == "range"
    assert {row.field.name: row.control for row in changed.rows}["store"] == "none"


def test_a_tool_without_a_choice_shows_no_rows():
    assert panel(QueryDict(), SPECS).rows == ()
