"""Writes conversations and tools in the form of the Anthropic Messages protocol, and reads its messages.

Source: https://docs.anthropic.com/en/api/messages. A turn is a list of blocks; turns of the user and the assistant
follow each other, and the results of all calls of a turn stand in the one that follows it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from toolevals.agents.openai_messages import losses_within, with_ids
from toolevals.grading.reading.parsing import Loss, read_transcript
from toolevals.grading.values import Call, MalformedCall, Message, ToolCall, ToolSpec

# Stop reasons that leave the last block unfinished.
CUT_OFF = frozenset({"max_tokens", "model_context_window_exceeded"})
_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")


def as_tools(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    """Return the tools as `tools` of a request."""
    return [{"name": tool.name, "description": tool.description, "input_schema": tool.input_schema} for tool in tools]


def system_in(messages: Sequence[Message]) -> list[str]:
    """Return what is said as system before anybody speaks: the protocol has it outside the messages."""
    said = []
    for message in messages:
        if message.role != "system":
            break
        said.append(message.content or "")
    return [text for text in said if text.strip()]


def as_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a conversation without its leading system messages as `messages` of a request."""
    turns: list[dict[str, Any]] = []
    begun = False
    for message in messages:
        begun = begun or message.role != "system"
        blocks = _blocks(message) if begun else []
        if not blocks:
            continue
        role = "assistant" if message.role == "assistant" else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    return turns


def message_in(content: list[Any], stop_reason: Any, *, place: int) -> tuple[Message, tuple[Loss, ...]]:
    """Read the blocks of an answer, and what of them a transcript has no place for.

    A call that the longest answer has cut off is malformed: its arguments are only the beginning. A call without an id
    gets one that is unique in the conversation, by its place. Raises InvalidDocument where a block is none.
    """
    read = read_transcript([{"role": "assistant", "content": content}], "anthropic")
    (message,) = read.transcript.messages
    calls = list(message.calls)
    last = content[-1] if content else None
    if calls and stop_reason in CUT_OFF and isinstance(last, dict) and last.get("type") == "tool_use":
        calls[-1] = _cut_off(calls[-1])
    return Message("assistant", message.content, with_ids(calls, place=place)), losses_within(read.losses, "")


def _cut_off(call: Call) -> MalformedCall:
    text = call.text if isinstance(call, MalformedCall) else ""
    return MalformedCall("the answer ended within this call: it was too long", None, text, call.name, call.id)


def _blocks(message: Message) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [_result(message)]
    text = (message.content or "").rstrip()
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    return blocks + [_call(call, number) for number, call in enumerate(message.calls)]


def _result(message: Message) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": _identifier(message.call_id or ""), "content": message.content or ""}
    return {**block, "is_error": True} if message.is_error else block


def _call(call: Call, number: int) -> dict[str, Any]:
    # The protocol has no place for arguments that nobody could read: they go back as the text that they are.
    given = call.arguments if isinstance(call, ToolCall) else {"unreadable": call.text}
    identifier = _identifier(call.id or f"call_{number}")
    return {"type": "tool_use", "id": identifier, "name": call.name or "unknown", "input": given}


def _identifier(identifier: str) -> str:
    return _NOT_IN_IDS.sub("_", identifier) or "call"
