"""Transcripts written as short scripts."""

from __future__ import annotations

from typing import Any

from toolevals.grading.values import Message, ToolCall, Transcript


def user(text: str = "Book HAT136 for me, please.") -> Message:
    return Message("user", text)


def says(text: str) -> Message:
    return Message("assistant", text)


def call(tool: str, result: str | None, *, said: str = "", is_error: bool = False, **arguments: Any) -> list[Message]:
    """One call and its answer; without an answer where `result` is None."""
    made = Message("assistant", said or None, (ToolCall(tool, arguments),))
    return [made] if result is None else [made, Message("tool", result, is_error=is_error)]


def script(*parts: Message | list[Message], answer: str | None = None) -> Transcript:
    messages = [message for part in parts for message in (part if isinstance(part, list) else [part])]
    return Transcript(tuple(messages), answer=answer)
