"""Test what is found in a case beside its verdicts.

How it failed, which of the three wrong-tool modes it is, its fields.
"""

from __future__ import annotations

from typing import Any

import pytest

from toolevals.grading.engine.case_findings import FAMILIES, CaseFinding, case_findings
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.values import Expectation, Message, ToolAnnotations, ToolCall, ToolSpec, Transcript


def tool(name: str, *required: str, cost: float | None = None, read_only: bool | None = None) -> ToolSpec:
    schema = {
        "type": "object",
        "properties": {each: {} for each in (*required, "note")},
        "required": list(required),
    }
    return ToolSpec(name, f"{name}.", schema, cost=cost, annotations=ToolAnnotations(read_only=read_only))


TOOLS = (
    tool("cancel_order", "order_id", cost=1),
    tool("change_order", "order_id", "address", cost=1),
    tool("list_orders", "user_id", cost=5, read_only=True),
    tool("look_up", "order_id", cost=1, read_only=True),
    tool("book", "cabin", "payment_id"),
    tool("exchange"),
    tool("transfer_to_human_agents"),
)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": name, "arguments": {key: {"exact": value} for key, value in arguments.items()}}


def expecting(*calls: dict[str, Any], additional: bool = False, **more: Any) -> Expectation:
    trajectory = {"ordered": list(calls), "additional_calls": additional}
    return Expectation.from_document({"kind": "calls", "alternatives": [trajectory], **more})


def found(expectation: Expectation, *made: ToolCall, **more: Any) -> set[tuple[str, str, str]]:
    compiled = compile_case(expectation, TOOLS)
    did = Transcript((Message("assistant", None, tuple(made)),), **more)
    tools = {each.name: each for each in TOOLS}
    return {(each.family, each.kind, each.tool) for each in case_findings(grade(compiled, did), expectation, tools)}


def only(family: str, rows: set[tuple[str, str, str]]) -> set[tuple[str, str]]:
    return {(kind, tool) for each, kind, tool in rows if each == family}


CANCEL = call("cancel_order", order_id="A")


@pytest.mark.parametrize(
    ("expected", "made", "failed_by"),
    [
        ((CANCEL,), [], {("too_little", "cancel_order")}),
        ((CANCEL,), [ToolCall("cancel_order", {"order_id": "B"})], {("wrong_target", "cancel_order")}),
        ((CANCEL,), [ToolCall("change_order", {"order_id": "A", "address": "x"})], {("another_tool", "cancel_order")}),
        (
            (CANCEL,),
            [ToolCall("cancel_order", {"order_id": "A"}), ToolCall("book", {"cabin": 1, "payment_id": 2})],
            {("too_much", "book")},
        ),
        (
            (call("change_order", order_id="A", address="x"),),
            [ToolCall("change_order", {"order_id": "A", "address": "y"})],
            {("wrong_value", "change_order")},
        ),
        (
            (call("book", cabin="economy", payment_id="p"),),
            [ToolCall("book", {"cabin": "business", "payment_id": "p"})],
            {("wrong_value", "book")},
        ),
        # The first identifier names the thing, one of many things after it does not.
        (
            (call("exchange", order_id="A", item_ids=["1"]),),
            [ToolCall("exchange", {"order_id": "A", "item_ids": ["2"]})],
            {("wrong_value", "exchange")},
        ),
        (
            (call("exchange", item_ids=["1"]),),
            [ToolCall("exchange", {"item_ids": ["2"]})],
            {("wrong_target", "exchange")},
        ),
    ],
)
def test_how_a_case_failed(expected, made, failed_by):
    assert only("failed_by", found(expecting(*expected), *made)) == failed_by


def test_a_look_up_that_is_let_be_stands_for_no_call_that_writes():
    look_up = ToolCall("look_up", {"order_id": "A"})
    assert only("failed_by", found(expecting(CANCEL, additional=True), look_up)) == {("too_little", "cancel_order")}
    assert only("failed_by", found(expecting(CANCEL, additional=False), look_up)) == {("another_tool", "cancel_order")}


def test_where_the_end_state_failed_calls_that_write_are_too_much_though_they_are_let_be():
    cancel, book = ToolCall("cancel_order", {"order_id": "A"}), ToolCall("book", {"cabin": 1, "payment_id": 2})
    more = {"state": {"orders": {"A": "cancelled"}}, "final": {"orders": {}}}
    handed = ToolCall("transfer_to_human_agents", {})
    expectation = expecting(CANCEL, additional=True, state=more["state"])
    rows = found(expectation, cancel, book, handed, ToolCall("look_up", {"order_id": "A"}), state=more["final"])
    assert only("failed_by", rows) == {("too_much", "book")}
    missed = found(expectation, handed, state=more["final"])
    assert only("failed_by", missed) == {("too_little", "cancel_order")}


def test_what_passes_has_no_way_of_failing_and_the_answer_has_its_own():
    made = ToolCall("cancel_order", {"order_id": "A"})
    assert found(expecting(CANCEL), made) == set()
    missing = expecting(CANCEL, answer={"contains": ["1200"]})
    assert only("failed_by", found(missing, made, answer="Cancelled.")) == {("too_little", "(answer)")}


@pytest.mark.parametrize(
    ("expected", "made", "kind"),
    [
        (call("look_up", order_id="A"), ToolCall("list_orders", {"user_id": "u"}), "over_tooling"),
        (call("list_orders", user_id="u"), ToolCall("look_up", {"order_id": "A"}), None),
        (CANCEL, ToolCall("cancel", {"order_id": "A"}), "hallucinated_tool"),
        (CANCEL, ToolCall("cancel_order", {"order_id": 7}), "wrong_argument_shape"),
        (CANCEL, ToolCall("cancel_order", {"note": "x"}), "wrong_argument_shape"),
        (CANCEL, ToolCall("cancel_order", {"order_id": "B"}), None),
    ],
)
def test_the_three_wrong_tool_modes(expected, made, kind):
    assert {each for each, _ in only("wrong_tool", found(expecting(expected), made))} == ({kind} if kind else set())


def test_a_needless_call_is_over_tooling():
    rows = found(Expectation.from_document({"kind": "no_call"}), ToolCall("look_up", {"order_id": "A"}))
    assert rows == {("wrong_tool", "over_tooling", "(none)"), ("failed_by", "too_much", "look_up")}


def test_wrong_arguments_have_one_bucket():
    rows = found(expecting(CANCEL), ToolCall("cancel_order", {"order_id": "B"}))
    assert only("arguments", rows) == {("semantic", "cancel_order")}


def test_fields_are_counted_by_tool_and_unknown_details_are_no_crash():
    expectation = expecting(CANCEL)
    plain = grade(compile_case(expectation, TOOLS), Transcript((Message("assistant", None, ()),)))
    used = {"message": 2, "tool": "look_up", "used": ["/a"], "unused": ["/b", "/c"]}
    accused = {"kind": "contradiction", "message": 2, "claims": [0], "reason": "“5” contradicts 6."}
    object.__setattr__(plain, "details", {"result_use": {"utilisation": [used, used], "findings": [accused]}})
    counted = [each for each in case_findings(plain, expectation, {}) if each.family in ("fields", "result_use")]
    assert counted == [
        CaseFinding("fields", "used", "look_up", 2),
        CaseFinding("fields", "unused", "look_up", 4),
        CaseFinding("result_use", "contradiction", "look_up", 1),
    ]
    object.__setattr__(plain, "details", {"result_use": {}})
    assert [each for each in case_findings(plain, expectation, {}) if each.family == "fields"] == []


def test_every_kind_says_what_it_means():
    assert all(sentence.endswith(".") for kinds in FAMILIES.values() for sentence in kinds.values())


def test_what_was_due_and_came_out_of_order_is_neither_too_little_nor_too_much():
    first, second = call("cancel_order", order_id="A"), call("change_order", order_id="A", address="x")
    made = [ToolCall("change_order", {"order_id": "A", "address": "x"}), ToolCall("cancel_order", {"order_id": "A"})]
    kinds = {kind for kind, _ in only("failed_by", found(expecting(first, second), *made))}
    assert kinds == {"other"}
