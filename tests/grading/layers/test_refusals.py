"""A refusal is another failure than a call that was not made."""

import pytest

from tests.grading.graded import PLAIN, TOOLS
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.values import Message, ToolCall, Transcript

WANTED = compile_case(PLAIN, TOOLS)


def mode(text: str, *calls: ToolCall) -> str:
    return grade(WANTED, Transcript((Message("user", "Where is A-1?"), Message("assistant", text, calls)))).mode


@pytest.mark.parametrize(
    "text",
    [
        "I can't help with that.",
        "I\u2019m sorry, but I am not able to assist with this request.",
        "Sorry, I can't share that. Is there anything else I can help you with?",
        "We have to decline.",
        "Dabei kann ich leider nicht helfen.",
        "Je ne peux pas vous aider.",
    ],
)
def test_declining_is_a_refusal(text):
    assert mode(text) == "refused"


@pytest.mark.parametrize(
    "text",
    [
        "It is on its way.",
        "I can't find it. Which order do you mean?",
        "I can't help without an order number. What is it?",
        "",
    ],
)
def test_other_answers_miss_the_call(text):
    assert mode(text) == "missed_call"


def test_another_call_is_the_wrong_tool_whatever_is_said():
    assert mode("I can't help with that.", ToolCall("history", {})) == "wrong_tool"
