"""Read OpenAI's chat format, as fine-tuning takes it: `{"messages": [...], "tools": [...]}`.

What the assistant says last is what should happen; what comes before is the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labeling.imports.readers.settings import Settings
from toolevals.grading.files.evaluation_files.entries import entry, expected_calls, external_id, messages_at, tools_at
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.reading.parsing.messages import read_transcript
from toolevals.grading.reading.parsing.text_turns import calls_said
from toolevals.grading.values import Expectation, ToolSpec
from toolevals.grading.values.problems import InvalidDocument, Problem


def openai_chat_row(value: Any, settings: Settings) -> ExampleRow:
    """Return one conversation as an example. Raises InvalidDocument.

    The assistant's last message makes the expectation: its calls, or no call. A conversation that ends with the user's
    words is still to be labelled.
    """
    row = entry(value)
    messages = messages_at(row.get("messages"), "/messages")
    tools, losses = tools_at(row, "tools", "functions")
    before, expectation, left = _split(messages, tools if isinstance(tools, list | tuple) else None)
    if not before:
        raise InvalidDocument.at("/messages", "nothing stands before the assistant's message")
    content = {"messages": before}
    return ExampleRow(
        external_id=external_id(row.get("id"), "chat", [content, row.get("tools") or row.get("functions")]),
        input=content,
        tools=tools,
        expectation=expectation,
        losses=(*losses, *left),
    )


def _split(
    messages: list[dict[str, Any]], tools: Sequence[ToolSpec] | None
) -> tuple[list[dict[str, Any]], Expectation | None, tuple[Problem, ...]]:
    """Return what comes before the assistant's last message, what that expects, and what is left out of it."""
    spoken = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    if not spoken or messages[-1]["role"] == "user":
        return messages, None, ()
    last = spoken[-1]
    read = read_transcript(messages[last], "openai_chat")
    left = tuple(
        Problem(f"/messages/{last}{loss.first}", f"{loss.count:,} × {loss.what}: left out") for loss in read.losses
    )
    (message,) = read.transcript.messages
    if said := calls_said(message, tools):
        return messages[:last], expected_calls(said, f"/messages/{last}/content"), left
    if not message.calls:
        return messages[:last], Expectation("no_call"), left
    return messages[:last], expected_calls(message.calls, f"/messages/{last}/tool_calls"), left
