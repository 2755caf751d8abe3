"""Tell what a judge was given of a case, as people read it: the same values, laid out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from labeling.conversation import Conversation, Picks, read_conversation
from labeling.conversation.lines import Line, lines
from toolevals.json_types import JsonMapping

TITLES = {
    "conversation": "Conversation",
    "tools": "Tools",
    "done": "What the agent did",
    "results": "Results of tools",
    "fields": "Fields of the results",
    "replies": "Replies",
    "expectation": "What the label expects",
    "criteria": "Criteria",
    "value": "Value",
    "expected": "Expected call",
    "actual": "Actual call",
}
# What is folded: long, and rarely decisive.
FOLDED = frozenset({"tools", "fields"})


@dataclass(frozen=True, slots=True)
class Given:
    """One input of a question: a conversation, or a value as lines."""

    name: str
    title: str
    conversation: Conversation | None
    lines: tuple[Line, ...]
    is_folded: bool


def shown_question(inputs: JsonMapping) -> tuple[Given, ...]:
    """Return the inputs of one question in their order."""
    return tuple(_given(inputs))


def _given(inputs: JsonMapping) -> Iterator[Given]:
    for name, value in inputs.items():
        title, folded = TITLES.get(name, name), name in FOLDED
        document = _conversation_in(name, value)
        if document is not None:
            yield Given(name, title, read_conversation(document), (), folded)
        else:
            yield Given(name, title, None, lines(value, Picks()), folded)


def _conversation_in(name: str, value: Any) -> Any:
    if name == "conversation":
        return value
    if name == "done" and isinstance(value, Sequence):
        return {"messages": value}
    return None
