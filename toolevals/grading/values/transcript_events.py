"""Reads a transcript as what happened, in order: calls answered, texts said, turns ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from toolevals.grading.values import Call, MalformedCall, Message, ToolCall, Transcript, canonical


@dataclass(frozen=True, slots=True)
class Made:
    """A call that was made. `order` counts calls, `place` messages, `batch` messages that made calls."""

    call: Call
    order: int
    place: int
    batch: int

    @property
    def tool(self) -> str:
        """The tool's name, empty where no one can read it."""
        return self.call.name or ""

    @property
    def key(self) -> str:
        """The arguments in one form: see `arguments_key`."""
        return arguments_key(self.call)


def arguments_key(call: Call) -> str:
    """Return a call's arguments in one form: equal arguments have equal keys, whatever they hold."""
    if isinstance(call, MalformedCall):
        return call.text
    try:
        return canonical.canonical(call.arguments)
    except (ValueError, RecursionError):
        pass
    try:
        return repr(call.arguments)
    except (ValueError, RecursionError):
        return f"unwritable {id(call.arguments)}"


@dataclass(frozen=True, slots=True)
class Answered:
    """A tool's answer, next to its call."""

    made: Made
    message: Message
    place: int


@dataclass(frozen=True, slots=True)
class Said:
    """A text of the agent."""

    text: str
    place: int


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The user's turn begins, or the transcript ends."""

    place: int


Event: TypeAlias = Made | Answered | Said | TurnEnded


class _Waiting:
    """Calls without an answer so far, by id and in order."""

    def __init__(self) -> None:
        self._in_order: deque[Made] = deque()
        self._by_id: dict[str, list[Made]] = {}
        self._answered: set[int] = set()

    def add(self, made: Made) -> None:
        self._in_order.append(made)
        if isinstance(made.call, ToolCall) and made.call.id is not None:
            self._by_id.setdefault(made.call.id, []).append(made)

    def take(self, call_id: str | None) -> Made | None:
        """Return the call that an answer belongs to: the newest of that id, without an id the oldest waiting."""
        if call_id is not None and (named := self._by_id.get(call_id)):
            made = named.pop()
            self._answered.add(made.order)
            return made
        while self._in_order:
            made = self._in_order.popleft()
            if made.order in self._answered:
                continue
            has_id = isinstance(made.call, ToolCall) and made.call.id is not None
            if call_id is not None and has_id:
                # Another call's answer: an answer to no one opens no episode.
                self._in_order.appendleft(made)
                return None
            self._answered.add(made.order)
            return made
        return None


def events_of(transcript: Transcript) -> Iterator[Event]:
    """Yield what happened, in order. An answer that belongs to no call is left out."""
    waiting = _Waiting()
    batch = 0
    last_said: str | None = None
    place = -1
    order = 0
    for place, message in enumerate(transcript.messages):
        if message.role == "tool":
            if (made := waiting.take(message.call_id)) is not None:
                yield Answered(made, message, place)
            continue
        if message.role == "user":
            yield TurnEnded(place)
        if message.role != "assistant":
            continue
        if message.content and message.content.strip():
            last_said = message.content
            yield Said(message.content, place)
        if message.calls:
            batch += 1
        for call in message.calls:
            made = Made(call, order, place, batch)
            order += 1
            waiting.add(made)
            yield made
    if transcript.answer and transcript.answer.strip() and transcript.answer != last_said:
        place += 1
        yield Said(transcript.answer, place)
    yield TurnEnded(place + 1)
