"""Several calls in one label: added, put elsewhere, moved, taken out, by the buttons of the form."""

from __future__ import annotations

import pytest
from django.http import QueryDict

from labeling.label_form.panel import Panel, panel
from labeling.label_form.reading import read_label
from tests.labeling_pages.shop import TOOLS, fields
from tests.labeling_pages.test_reading import data
from toolevals.grading.reading.specs import read_tools
from toolevals.grading.values import ToolSpec

SPECS = read_tools(TOOLS).tools
GET, RETURN = "get_order", "create_return"


def plan_after(plan: str, to: str, *, open_call: int, **at: str) -> tuple[str, str]:
    """Return the plan and the open call after an act."""
    entered = data(plan=plan, open=str(open_call), **at)
    shown = dict(panel(entered, SPECS, to=to).kept)
    return shown["plan"], shown["open"]


def routes(inside: str) -> str:
    return f'[{{"id":1,{inside}}}]'


@pytest.mark.parametrize(
    ("at", "after"),
    [
        ("ordered", '"ordered":[1,3,2]'),
        ("group", '"ordered":[{"any_order":[1,3]},2]'),
        ("instead", '"ordered":[{"one_of_calls":[1,3]},2]'),
        ("unordered", '"ordered":[1,2],"unordered":[3]'),
        ("disallowed", '"ordered":[1,2],"disallowed":[3]'),
    ],
)
def test_a_call_is_added_beside_the_open_one(at: str, after: str):
    assert plan_after(routes('"ordered":[1,2]'), "add", open_call=1, at=at) == (routes(after), "3")


def test_an_alternative_is_added_and_goes_with_its_last_call():
    plan, number = plan_after(routes('"ordered":[1]'), "add", open_call=1, at="alternative")
    assert (plan, number) == ('[{"id":1,"ordered":[1]},{"id":2,"ordered":[2]}]', "2")
    assert plan_after(plan, "remove", open_call=2) == (routes('"ordered":[1]'), "1")


@pytest.mark.parametrize(
    ("before", "put", "after"),
    [
        ('"ordered":[1,2,3]', "group", '"ordered":[{"any_order":[1,2]},3]'),
        ('"ordered":[1,2,3]', "instead", '"ordered":[{"one_of_calls":[1,2]},3]'),
        ('"ordered":[1,2,3]', "unordered", '"ordered":[1,3],"unordered":[2]'),
        ('"ordered":[1,2,3]', "disallowed", '"ordered":[1,3],"disallowed":[2]'),
        ('"ordered":[{"any_order":[1,2,3]}]', "ordered", '"ordered":[{"any_order":[1,3]},2]'),
        ('"ordered":[{"any_order":[1,2]}]', "ordered", '"ordered":[1,2]'),
        ('"ordered":[{"one_of_calls":[1,2]}]', "ordered", '"ordered":[1,2]'),
        ('"ordered":[1],"disallowed":[2]', "ordered", '"ordered":[1,2]'),
        ('"unordered":[1,2]', "group", '"ordered":[2],"unordered":[1]'),
        ('"ordered":[1,2]', "nowhere", '"ordered":[1,2]'),
    ],
)
def test_a_call_is_put_elsewhere(before: str, put: str, after: str):
    assert plan_after(routes(before), "put", open_call=2, put=put) == (routes(after), "2")


@pytest.mark.parametrize(
    ("before", "at", "after"),
    [
        ('"ordered":[1,2]', "up", '"ordered":[2,1]'),
        ('"ordered":[1,2]', "down", '"ordered":[1,2]'),
        ('"ordered":[{"any_order":[1,3]},2]', "up", '"ordered":[2,{"any_order":[1,3]}]'),
        ('"ordered":[{"any_order":[1,2]}]', "up", '"ordered":[{"any_order":[2,1]}]'),
        ('"ordered":[{"any_order":[2,1]}]', "up", '"ordered":[2,1]'),
        ('"ordered":[{"any_order":[1,2]}]', "down", '"ordered":[1,2]'),
        ('"unordered":[1,2]', "up", '"unordered":[2,1]'),
        ('"disallowed":[1,2]', "up", '"disallowed":[2,1]'),
    ],
)
def test_a_call_is_moved(before: str, at: str, after: str):
    assert plan_after(routes(before), "move", open_call=2, at=at) == (routes(after), "2")


def test_the_last_call_that_is_removed_leaves_an_empty_form():
    shown = panel(data(**fields()), SPECS, to="remove")
    assert (shown.tool_name, shown.choice, shown.focus) == ("", "", "find")
    assert not [name for name, _ in shown.kept if name.startswith("c1.")]


def entered_after(entered: QueryDict, **more: str) -> QueryDict:
    """Return what the page sends after an act: what the pane keeps, with what is entered next."""
    shown = panel(entered, SPECS, to=entered.get("to", ""))
    sent = QueryDict(mutable=True)
    for name, value in shown.kept:
        sent.appendlist(name, value)
    sent.update({"tool": shown.choice, **more})
    return sent


def test_what_was_entered_of_a_call_stays_while_another_is_open():
    second = entered_after(data(**fields(), to="add", at="ordered"), tool="0", **{"c2.v/order_id": "A-1"})
    label = read_label(second, SPECS)
    assert label.problems == ()
    assert label.document is not None
    calls = label.document["alternatives"][0]["ordered"]
    assert [call["tool"] for call in calls] == [RETURN, GET]
    assert calls[0]["arguments"]["skus"] == {"exact": ["LIN"]}
    assert [entry.says for route in panel(second, SPECS).outline for entry in route.entries][1] == 'order_id "A-1"'


def opened(entered: QueryDict, number: str) -> Panel:
    entered["at"] = number
    return panel(entered, SPECS, to="open")


def test_opening_a_call_shows_its_arguments_and_chooses_its_tool():
    second = entered_after(data(**fields(), to="add", at="ordered"), tool="0", **{"c2.v/order_id": "A-1"})
    shown = opened(second, "1")
    assert (shown.choice, shown.tool_name, shown.focus) == ("1", RETURN, "first")
    assert ("c2.v/order_id", "A-1") in shown.kept


def test_a_call_that_must_not_be_is_forbidden_with_any_arguments():
    never = entered_after(data(**fields(), to="add", at="disallowed"), tool="1", to="tool")
    shown = panel(never, SPECS, to="tool")
    assert shown.other_arguments
    assert {row.matcher for row in shown.rows} == {"unnamed"}


def test_another_tool_takes_over_only_what_fits_it():
    text, whole, day = {"type": "string"}, {"type": "integer"}, {"type": "string", "format": "date"}
    choice = {"type": "string", "enum": ["a", "b"]}
    old = {"order": text, "nights": whole, "city": choice, "day": day, "gone": text}
    new = {"order": text, "nights": text, "city": {"type": "string", "enum": ["a"]}, "day": day}
    tools = [
        ToolSpec("book", "", {"type": "object", "properties": old, "required": ["day"]}),
        ToolSpec("cancel", "", {"type": "object", "properties": new, "required": ["order"]}),
    ]
    values = {"order": "A-1", "nights": "3", "city": '"b"', "gone": "x", "day": ""}
    sent = {f"c1.v/{name}": value for name, value in values.items()} | {"c1.m/day": "exact", "c1.m/order": "contains"}
    shown = panel(
        data(tool="1", plan=routes('"ordered":[1]'), open="1", **{"c1.tool": "book"}, **sent), tools, to="tool"
    )
    assert [(row.label, row.value, row.matcher) for row in shown.rows] == [
        ("order", "A-1", "contains"),
        ("nights", "", "unnamed"),
        ("city", "", "unnamed"),
        ("day", "", "unnamed"),
    ]


def test_items_are_added_and_taken_out():
    entered = data(tool="1", **{"c1.m/skus": "items", "c1.k/skus": ["0", "2"], "c1.v/skus/2": "B"})
    entered["at"] = "c1/skus"
    skus = panel(entered, SPECS, to="add-item").rows[1]
    assert [(row.item_key, row.value) for row in skus.rows] == [("0", ""), ("2", "B"), ("3", "")]
    entered["at"] = "c1/skus/0"
    skus = panel(entered, SPECS, to="drop-item").rows[1]
    assert [(row.item_key, row.value, row.label) for row in skus.rows] == [("2", "B", "skus 1")]


def test_arguments_beyond_the_schema_are_added_and_taken_out():
    entered = data(tool="1", **{"c1.m/extra": "fields", "c1.new/extra": "a/b"})
    entered["at"] = "c1/extra"
    shown = panel(entered, SPECS, to="add-extra")
    extra = next(row for row in shown.rows if row.label == "extra")
    assert [(row.label, row.address, row.matcher) for row in extra.rows] == [("a/b", "c1/extra/a~1b", "exact")]
    assert shown.focus == "v:c1/extra/a~1b"
    entered.setlist("c1.e/extra", ["a/b"])
    entered["at"] = "c1/extra/a~1b"
    assert next(row for row in panel(entered, SPECS, to="drop-extra").rows if row.label == "extra").rows == ()


@pytest.mark.parametrize("to", ["open", "add", "put", "move", "add-item", "drop-extra", "name", "unheard of"])
@pytest.mark.parametrize("at", ["", "99", "²", "c1", "c9/x", "c1/skus/x", "/", "c99999999/x"])
def test_an_act_on_nothing_does_no_harm(to: str, at: str):
    entered = data(**fields(), at=at, put=at)
    assert panel(entered, SPECS, to=to).tool_name == RETURN
