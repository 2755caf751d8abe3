"""Test which argument was wrong, and how.

Once for each argument of each call, and never where the arguments are right.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.engine.case_findings import argument_faults, argument_name
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.values import CallExpectation, Expectation, Message, ToolCall, ToolSpec, Trajectory, Transcript
from toolevals.grading.values.matchers import Exact

ORDER = {"type": "object", "properties": {"id": {"type": "string"}, "note": {"type": "string"}, "items": {}}}
TOOLS = (ToolSpec("order", "", ORDER), ToolSpec("refund", "", ORDER))
EXPECTED = {"id": "A-1", "items": [{"sku": "x", "n": 1}, {"sku": "y", "n": 2}]}


def faults(*made: ToolCall) -> set[tuple[int, str, str, str]]:
    expected = CallExpectation(
        "order", {name: Exact(value) for name, value in EXPECTED.items()}, additional_arguments=False
    )
    compiled = compile_case(Expectation("calls", alternatives=(Trajectory(ordered=(expected,)),)), TOOLS)
    did = Transcript((Message("assistant", None, made),))
    found = list(argument_faults(grade(compiled, did), did.calls))
    assert len(found) == len(set(found))
    return {(fault.place, fault.tool, fault.argument, fault.kind) for fault in found}


def order(**changes: object) -> ToolCall:
    return ToolCall("order", {name: value for name, value in {**EXPECTED, **changes}.items() if value is not None})


def test_what_is_right_has_none():
    assert faults(order()) == set()


def test_each_way_of_being_wrong_is_named_by_its_parameter():
    assert faults(order(id="A-2")) == {(0, "order", "id", "changed")}
    assert faults(order(id=None)) == {(0, "order", "id", "missing")}
    assert faults(order(note="soon")) == {(0, "order", "note", "extra")}
    assert faults(order(id=7)) == {(0, "order", "id", "changed"), (0, "order", "id", "invalid")}


def test_parts_of_a_list_share_one_name_and_one_fault():
    assert faults(order(items=[{"sku": "a", "n": 1}, {"sku": "b"}])) == {
        (0, "order", "items.*.sku", "changed"),
        (0, "order", "items.*.n", "missing"),
    }


def test_of_another_tool_only_the_schema_counts():
    assert faults(ToolCall("refund", {"id": "A-2"})) == set()
    assert faults(ToolCall("refund", {"id": 2})) == {(0, "refund", "id", "invalid")}


@given(st.lists(st.sampled_from(["a/b", "a~b", "x", "é", "~1"]), max_size=4))
def test_names_are_the_pointers_own(parts: list[str]):
    pointer = "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)
    assert argument_name(pointer) == ".".join(parts)


def test_a_place_in_a_list_is_a_star():
    assert argument_name("/items/12/sku") == "items.*.sku"
    assert argument_name("") == ""
    assert len(argument_name("/" + "a" * 500)) == 200
