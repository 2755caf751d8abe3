"""Cuts a trace into turns as examples: what the agent knew when it had to act, apart from what it did then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolevals.grading.reading.parsing import last_words
from toolevals.grading.values import Message, ToolSpec, Transcript
from toolevals.json_types import JsonObject
from toolevals.traces.reading.traces import TraceReading


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: its number, counting from 1, the conversation up to the user's message, and the tools offered.

    `done` is what the agent did then, up to the user's next message. It is no part of an example. `damage` says what of
    its trace came cut, dropped or changed: the example may hold less than the agent was given.
    """

    number: int
    input: JsonObject
    tools: list[ToolSpec]
    done: Transcript
    damage: tuple[str, ...] = ()

    @property
    def has_called(self) -> bool:
        """Tell whether the agent called a tool in it."""
        return bool(self.done.calls)


def turns_of(trace: TraceReading) -> list[Turn]:
    """Return the turns that called a tool, or could have: those of a conversation with tools.

    A turn begins with a message of the user. What was given to the agent at first is the first turn's; earlier messages
    in it belong to traces before this one. A trace without a user's message has no turn.
    """
    given = trace.given
    messages = given.get("messages")
    before = list(messages) if isinstance(messages, list) else []
    if not trace.tools and not trace.transcript.calls and not trace.damage:
        return []
    inputs = [before] if any(_is_user(message) for message in before) else []
    done: list[list[Message]] = [[]]
    for message in trace.transcript.messages:
        document = message.to_document()
        before = [*before, document]
        if _is_user(document):
            inputs.append(before)
            done.append([])
        else:
            done[-1].append(message)
    damage = tuple(f"{problem.pointer} {problem.message}".strip() for _, problem in trace.damage)
    parts = _parts(trace.transcript, done[-len(inputs) :] if inputs else [])
    return [
        Turn(number, {**given, "messages": said}, list(trace.tools), part, damage)
        for number, (said, part) in enumerate(zip(inputs, parts, strict=True), start=1)
    ]


def _parts(whole: Transcript, done: Sequence[Sequence[Message]]) -> list[Transcript]:
    """Return what was done in each turn as a transcript; why it ended belongs to the last."""
    parts = [Transcript(messages=messages, answer=last_words(messages)) for messages in map(tuple, done)]
    if parts and whole.answer:
        parts[-1] = replace(parts[-1], answer=whole.answer)
    return parts


def _is_user(message: object) -> bool:
    return isinstance(message, dict) and message.get("role") == "user"
