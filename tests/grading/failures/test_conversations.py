"""Failures of conversations without gold: what makes one, and that their number is bounded."""

from __future__ import annotations

from toolevals.grading.failures import (
    CallMade,
    Failure,
    category_of,
    failures_of_conversation,
    fixes_of,
    kind_of,
    name_of,
)
from toolevals.grading.failures.conversations import MOST_FAILURES
from toolevals.grading.values import MalformedCall, Message, ToolCall, Transcript

CALL = ToolCall("get_order", {"id": "7"}, "c1")


def failures(*calls: CallMade, failed: tuple[str, ...] = (), loop: str = "", said: Transcript | None = None):
    return failures_of_conversation(said or Transcript(), calls, tools={}, failed=failed, loop=loop)


def test_calls_without_fault_are_no_failures():
    assert failures(CallMade(CALL, answer="shipped")) == ()


def test_each_fault_of_a_call_is_a_failure_once():
    made = CallMade(CALL, is_offered=False, misfits=("/id", "/lines/0/sku", "/lines/1/sku"))
    assert failures(made, made) == (
        Failure("selection", "tool_not_offered", "get_order"),
        Failure("arguments", "schema_error", "get_order", argument="id"),
        Failure("arguments", "schema_error", "get_order", argument="lines.*.sku"),
    )


def test_of_a_call_that_cannot_be_read_nothing_else_is_said():
    made = CallMade(MalformedCall("ends early", name="get_order"), is_readable=False, misfits=("",))
    assert failures(made) == (Failure("selection", "malformed_output", "get_order"),)


def test_what_the_conversation_tells_of_an_error_goes_before_what_a_span_says():
    said = Transcript((Message("assistant", None, (CALL,)), Message("tool", "Error: order 7 not found", call_id="c1")))
    [told] = failures(CallMade(CALL, answer="HTTP 500", is_error=True), said=said)
    [alone] = failures(CallMade(CALL, answer="HTTP 500", is_error=True))
    assert (told.error_text, alone.error_text) == ("Error: order … not found", "HTTP 500")


def test_rules_of_the_whole_have_names_kinds_and_fixes():
    found = failures(failed=("cost", "schema"), loop="get_order")
    assert [each.mode for each in found] == ["called_in_a_loop", "over_limit"]
    made = failures(CallMade(CALL, is_offered=False))
    for each in (*found, *made):
        assert category_of(kind_of(each))
        assert "{" not in name_of(each) + fixes_of(each).immediate + fixes_of(each).lasting


def test_a_hostile_conversation_makes_so_many_failures_and_no_more():
    calls = [CallMade(ToolCall(f"tool_{number}", {}), is_offered=False) for number in range(10 * MOST_FAILURES)]
    assert len(failures(*calls)) == MOST_FAILURES
