"""The turns of a trace as examples: what the agent knew when it was its turn to act, and nothing of what it did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolevals.grading.values import ToolSpec
from toolevals.traces.reading.traces import TraceReading


@dataclass(frozen=True, slots=True)
class TurnInput:
    """One turn: its number, counting from 1, the conversation up to the user's message, and the tools offered."""

    number: int
    input: dict[str, Any]
    tools: list[ToolSpec]


def turns_of(trace: TraceReading) -> list[TurnInput]:
    """Return the turns that called a tool, or could have: those of a conversation with tools.

    A turn begins with a message of the user. What was given to the agent at first is the first turn's; earlier messages
    in it belong to traces before this one. A trace without a user's message has no turn.
    """
    given = trace.given
    messages = given.get("messages")
    before = list(messages) if isinstance(messages, list) else []
    if not trace.tools and not trace.transcript.calls:
        return []
    inputs = [before] if any(_is_user(message) for message in before) else []
    for message in trace.transcript.messages:
        document = message.to_document()
        before = [*before, document]
        if _is_user(document):
            inputs.append(before)
    return [
        TurnInput(number, {**given, "messages": said}, list(trace.tools)) for number, said in enumerate(inputs, start=1)
    ]


def _is_user(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role") == "user"
