"""Reads calls in the text of messages: a server without a reader for its model's form leaves them there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolevals.grading.reading.parsing.text import calls_in_text
from toolevals.grading.values import Call, Message, ToolSpec


def calls_said(message: Message, tools: Sequence[ToolSpec] | None) -> tuple[Call, ...]:
    """Return the calls in what a message of the assistant says; none where it has structured ones.

    Without the tools that were offered, only what a mark begins and whole texts of calls in JSON are calls.
    """
    if message.role != "assistant" or message.calls or not message.content:
        return ()
    return calls_in_text(message.content, tools or ())


def with_text_calls(messages: tuple[Message, ...], tools: Sequence[ToolSpec] | None) -> tuple[Message, ...]:
    """Return the messages with the calls that the last turn of the assistant says in text.

    Where no message has structured calls, every turn of the assistant is read so.
    """
    structured = any(message.calls for message in messages)
    last = max((place for place, message in enumerate(messages) if message.role == "assistant"), default=-1)
    return tuple(
        replace(message, calls=calls, from_text=True)
        if (place == last or not structured) and (calls := calls_said(message, tools))
        else message
        for place, message in enumerate(messages)
    )
