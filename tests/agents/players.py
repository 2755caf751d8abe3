"""Chats and worlds that do what a test tells them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from toolevals.agents.chats import Reply
from toolevals.agents.worlds import ToolAnswer
from toolevals.grading.values import Call, Message, ToolCall, ToolSpec


def call(name: str, identifier: str = "c1", **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments, identifier)


def calling(*calls: Call) -> Message:
    return Message("assistant", None, calls)


def saying(text: str) -> Message:
    return Message("assistant", text)


class Player:
    """Plays fixed turns, the last one again and again; an exception among them is raised. Keeps what it was shown."""

    def __init__(self, *turns: Message | Exception, usage: dict[str, float] | None = None) -> None:
        self.turns = turns
        self.usage = usage or {"input_tokens": 10, "output_tokens": 2}
        self.seen: list[list[Message]] = []
        self.offered: list[Sequence[ToolSpec]] = []

    def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        self.seen.append(list(messages))
        self.offered.append(tools)
        turn = self.turns[min(len(self.seen), len(self.turns)) - 1]
        if isinstance(turn, Exception):
            raise turn
        return Reply(turn, self.usage, 5.0, "player-1")


class Shop:
    """A world of one function; its state counts the calls."""

    def __init__(self, answer: Callable[[ToolCall], ToolAnswer]) -> None:
        self.answer = answer
        self.made: list[ToolCall] = []

    def call(self, call: ToolCall) -> ToolAnswer:
        self.made.append(call)
        return self.answer(call)

    def state(self) -> dict[str, Any]:
        return {"calls": len(self.made)}
