"""The form and raw JSON say the same, in both directions."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from labeling.forms.filling import fill_form
from labeling.forms.panel import form_of, panel
from labeling.forms.reading import read_form
from tests.labeling_pages.shop import TOOLS, fields, returned
from tests.labeling_pages.test_reading import data
from toolevals.grading.specs import read_tools
from toolevals.grading.values import Expectation

SPECS = read_tools(TOOLS).tools

words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12)
texts = st.one_of(
    st.fixed_dictionaries({"exact": st.text(max_size=6)}),
    st.fixed_dictionaries({"one_of": st.lists(words, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"contains": words}),
    st.fixed_dictionaries({"key_only": st.just(True)}),
    st.fixed_dictionaries({"key_only": st.just(True), "optional": st.just(True)}),
    st.fixed_dictionaries({"exact": words, "optional": st.just(True)}),
)
numbers = st.one_of(
    st.fixed_dictionaries({"exact": st.integers(1, 10**9)}),
    st.builds(lambda low, more: {"range": [low, low + more]}, st.integers(0, 50), st.integers(0, 50)),
)


@given(st.fixed_dictionaries({}, optional={"store": texts, "quantity": numbers}))
def test_what_the_form_can_say_it_says_exactly(matchers: dict[str, Any]):
    document = returned(**matchers)
    filled = fill_form(document, SPECS)
    if filled is None:
        # Values of nothing but blanks are left to raw JSON.
        assert any(not str(value).strip() for matcher in matchers.values() for value in flat(matcher))
        return
    read = read_form(filled, SPECS)
    assert read.problems == ()
    assert Expectation.from_document(read.document) == Expectation.from_document(document)


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [inner for one in value.values() for inner in flat(one)]
    return [inner for one in value for inner in flat(one)] if isinstance(value, list) else [value]


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "some_call"},
        {"kind": "no_call", "why": "words of one's own"},
        {"kind": "calls", "alternatives": [{"ordered": [{"tool": "sell_shop"}]}]},
        {"kind": "calls", "alternatives": [{"ordered": [{"tool": "get_order"}, {"tool": "create_return"}]}]},
        {"kind": "calls", "alternatives": [{"ordered": [{"tool": "get_order"}]}, {"ordered": [{"tool": "get_order"}]}]},
        {
            "kind": "calls",
            "alternatives": [{"ordered": [{"tool": "get_order"}], "disallowed": [{"tool": "get_order"}]}],
        },
        returned(sku={"exact": 1}),
        returned(quantity={"exact": "two"}),
    ],
)
def test_what_the_form_cannot_say_stays_json(document: dict[str, Any]):
    assert fill_form(document, SPECS) is None
    assert form_of(document, SPECS)["mode"] == "json"


def test_turning_to_json_and_back_keeps_everything():
    entered = data(**fields(**{"v:/quantity": "2", "v:/pickup/date": "2026-03-12", "v:/pickup/window": '"any"'}))
    as_json = panel(entered, SPECS, to="json")
    assert as_json.mode == "json"
    back = panel(data(mode="json", json=as_json.json), SPECS, to="form")
    assert back.mode == "form"
    assert back.tool == SPECS[1]
    values = {row.field.path: row.value for row in (*back.rows, *(inner for row in back.rows for inner in row.rows))}
    assert values["/quantity"] == "2"
    assert values["/pickup/window"] == '"any"'


def test_an_unfinished_form_turns_to_json_and_back():
    entered = data(tool="1", **{"v:/order_id": "A-1"})
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
        "pickup": "group",
    }
    changed = panel(data(tool="1", **{"m:/quantity": "range", "m:/store": "free"}), SPECS)
    assert {row.field.name: row.control for row in changed.rows}["quantity"] == "range"
    assert {row.field.name: row.control for row in changed.rows}["store"] == "none"


def test_a_tool_without_a_choice_shows_no_rows():
    assert panel(QueryDict(), SPECS).rows == ()
