"""An argument that is the result of an earlier call, in the form: offered, entered, kept as calls are moved."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from labeling.label_form.form_from_expectation import fill_form
from labeling.label_form.panel import panel
from labeling.label_form.reading import read_label
from tests.labeling_pages.shop import TOOLS
from toolevals.grading.reading.specs import read_tools

SPECS = read_tools(TOOLS).tools
PLAN = '[{"id":1,"ordered":[1,2,3]}]'


def page(**fields: Any) -> QueryDict:
    """Return the fields of a page with three calls, the third of which is open and has a reference to the second."""
    data = QueryDict(mutable=True)
    data.update({"plan": PLAN, "open": "3", "tool": "1", "c1.tool": "get_order", "c2.tool": "get_order"})
    data.update({"c1.v/order_id": "A-1", "c2.v/order_id": "A-2", "c3.tool": "create_return"})
    data.update({"c3.m/order_id": "result_of", "c3.of/order_id": "2", "c3.v/order_id": "/id"})
    data.update({"c3.v/skus": "LIN", "c3.v/refund_to": '"original payment"', **fields})
    return data


def reference(data: QueryDict, place: int) -> Any:
    document = read_label(data, SPECS).document
    assert document is not None
    return document["alternatives"][0]["ordered"][place]["arguments"]["order_id"]


def problems(data: QueryDict) -> dict[str, str]:
    return {each.field: each.message for each in read_label(data, SPECS).problems}


def test_the_calls_before_are_offered():
    shown = panel(page(), SPECS)
    row = shown.rows[0]
    assert (row.matcher, row.control, row.result_of, row.value) == ("result_of", "result", "2", "/id")
    assert row.earlier == (("1", "1: get_order"), ("2", "2: get_order"))
    first = panel(page(open="1", tool="0"), SPECS).rows[0]
    assert "result_of" not in dict([*first.matchers, *first.others])
    assert "result_of" in dict(row.others)


def test_what_is_entered_is_the_reference():
    data = page()
    assert problems(data) == {}
    assert reference(data, 2) == {"result_of": {"call": 2, "pointer": "/id"}}
    assert reference(page(**{"c3.v/order_id": ""}), 2) == {"result_of": {"call": 2, "pointer": ""}}


def test_it_means_the_same_call_when_calls_are_moved_or_added():
    moved = page(plan='[{"id":1,"ordered":[2,1,3]}]')
    assert reference(moved, 2) == {"result_of": {"call": 1, "pointer": "/id"}}
    added = page(plan='[{"id":1,"ordered":[4,1,2,3]}]', **{"c4.tool": "get_order", "c4.v/order_id": "A-0"})
    assert reference(added, 3) == {"result_of": {"call": 3, "pointer": "/id"}}


def test_a_call_that_is_gone_or_comes_later_is_refused():
    before_it = page(plan='[{"id":1,"ordered":[1,3,2]}]')
    gone = page(plan='[{"id":1,"ordered":[1,3]}]')
    for data in (before_it, gone, page(**{"c3.of/order_id": ""}), page(**{"c3.of/order_id": "x"})):
        assert problems(data) == {"c3/order_id": "Choose a call that comes before this one."}
    assert problems(page(**{"c3.v/order_id": "id"})) == {
        "c3/order_id": "Not a place in a result: write /id or /items/0/id, or nothing for the whole result."
    }


def test_the_form_shows_what_a_label_says():
    document = read_label(page(), SPECS).document
    assert document is not None
    filled = fill_form(document, SPECS)
    assert filled is not None
    names = ("c3.m/order_id", "c3.of/order_id", "c3.v/order_id")
    assert [filled[name] for name in names] == ["result_of", "2", "/id"]
    shown = panel(filled, SPECS)
    assert shown.outline[0].entries[2].says.startswith("order_id result of call 2 at /id")
