"""OpenAI's chat format, as fine-tuning takes it: `{"messages": [...], "tools": [...]}`.

What the assistant says last is what should happen; what comes before is the input.
"""

from __future__ import annotations

from typing import Any

from labeling.imports.formats.settings import Settings
from toolevals.grading.evaluation_files.entries import entry, expected_calls, external_id, messages_at, tools_at
from toolevals.grading.examples import ExampleRow
from toolevals.grading.parsing.messages import transcript_in
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.values import Expectation


def openai_chat_row(value: Any, settings: Settings) -> ExampleRow:
    """Return one conversation as an example. Raises InvalidDocument.

    The assistant's last message makes the expectation: its calls, or no call. A conversation that ends with the user's
    words is still to be labelled.
    """
    row = entry(value)
    messages = messages_at(row.get("messages"), "/messages")
    tools, losses = tools_at(row, "tools", "functions")
    before, expectation = _split(messages)
    if not before:
        raise InvalidDocument.at("/messages", "nothing stands before the assistant's message")
    content = {"messages": before}
    return ExampleRow(
        external_id=external_id(row.get("id"), "chat", [content, row.get("tools") or row.get("functions")]),
        input=content,
        tools=tools,
        expectation=expectation,
        losses=losses,
    )


def _split(messages: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], Expectation | None]:
    spoken = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    if not spoken or messages[-1]["role"] == "user":
        return messages, None
    last = spoken[-1]
    (message,) = transcript_in(messages[last], "openai_chat").messages
    if not message.calls:
        return messages[:last], Expectation("no_call")
    return messages[:last], expected_calls(message.calls, f"/messages/{last}/tool_calls")
