from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.values import ToolCall, ToolSpec, Transcript
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.baseline import VERSION, BaselineOptions, respond

ORDER = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
STATUS = ToolSpec("get_order_status", "Returns the shipping status of an order.", ORDER)
REFUND = ToolSpec("issue_refund", "Gives the money for an order back.", ORDER)
TOOLS = (STATUS, REFUND)


def said(*turns: tuple[str, str], context: Any = None) -> dict[str, Any]:
    messages = [{"role": role, "content": content} for role, content in turns]
    return {"messages": messages, "context": context or {}}


def test_calls_the_tool_that_the_last_turn_is_about():
    example = said(("user", "Refund my money"), ("assistant", "Done."), ("user", "What is the status of order ORD-7?"))

    transcript = respond(example, TOOLS, BaselineOptions())

    assert transcript.calls == (ToolCall("get_order_status", {"order_id": "ORD-7"}),)
    assert transcript.answer is None


def test_calls_nothing_below_the_threshold():
    example = said(("user", "What is the shipping status of my order?"))

    transcript = respond(example, TOOLS, BaselineOptions(threshold=0.99))

    assert transcript.calls == ()
    assert transcript.answer


@pytest.mark.parametrize("threshold", [0.0, 0.06])
def test_a_greeting_calls_nothing_whatever_the_threshold(threshold):
    assert respond(said(("user", "Hi!")), TOOLS, BaselineOptions(threshold)).calls == ()


def test_a_required_argument_may_stand_in_an_earlier_turn():
    example = said(("user", "It is about ORD-7."), ("assistant", "Yes?"), ("user", "Give me the money back, refund it"))

    assert respond(example, TOOLS, BaselineOptions()).calls == (ToolCall("issue_refund", {"order_id": "ORD-7"}),)


def test_of_equals_the_first_is_called():
    twin = ToolSpec("get_order_status", STATUS.description, {"type": "object"})
    example = said(("user", "order status"))

    assert respond(example, (STATUS, twin), BaselineOptions()) == respond(example, (STATUS,), BaselineOptions())


def test_content_in_parts_is_read():
    example = {"messages": [{"role": "user", "content": [{"type": "text", "text": "status of order ORD-7"}]}]}

    assert respond(example, TOOLS, BaselineOptions()).calls == (ToolCall("get_order_status", {"order_id": "ORD-7"}),)


@pytest.mark.parametrize("example", [{}, {"messages": None}, {"messages": ["x", {"role": "user"}]}])
def test_an_example_without_words_calls_nothing(example):
    assert respond(example, TOOLS, BaselineOptions()).calls == ()


def test_without_tools_nothing_is_called():
    assert respond(said(("user", "status of my order")), (), BaselineOptions()).calls == ()


@given(st.text(max_size=120))
def test_the_same_input_gives_the_same_transcript(text):
    first, second = (respond(said(("user", text)), TOOLS, BaselineOptions()) for _ in range(2))

    assert first == second
    assert Transcript.from_document(first.to_document()) == first


def test_options_round_trip_and_carry_the_version():
    document = BaselineOptions(0.2).to_document()

    assert document == {"threshold": 0.2, "version": VERSION}
    assert BaselineOptions.from_document(document) == BaselineOptions(0.2)
    assert BaselineOptions.from_document({}) == BaselineOptions()


@pytest.mark.parametrize(
    "document", [{"threshold": value} for value in (-0.1, 1.1, "x", True, float("nan"))] + [{"x": 1}]
)
def test_a_wrong_option_is_named(document):
    with pytest.raises(InvalidDocument) as caught:
        BaselineOptions.from_document(document)

    assert caught.value.problems[0].pointer == f"/{next(iter(document))}"
