"""Keeps what a guard must know of a conversation, and asks it about each call and each result in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from toolevals.grading.guard.check import Guard
from toolevals.grading.guard.request import Decision, PastCall, Request, State
from toolevals.grading.values import Call, Message, ToolCall, Transcript
from toolevals.grading.values.call_results import Answered, Made, TurnEnded, events_of

# The name of a call that no one can read.
UNREADABLE = "(unparsed)"


class GuardedConversation:
    """A conversation with a guard before its calls and results.

    `asked` holds the key, model, provider, address and server. Each turn of the user begins a request. A call that is
    refused, and a result that is, are not there for what comes after. There is no minute: all rates are met.
    `is_late` tells if the time for all checks has passed; without it no check is late.
    """

    def __init__(self, guard: Guard, asked: Request, is_late: Callable[[], bool] | None = None) -> None:
        self._guard, self._asked, self._is_late = guard, asked, is_late
        self._calls: list[PastCall] = []
        self._texts: list[str] = []
        self._request_from = 0

    def read(self, messages: Iterable[Message]) -> None:
        """Take in what was said before: its calls and results count, and are not checked."""
        whole = Transcript(tuple(messages))
        places: dict[int, int] = {}
        for event in events_of(whole):
            if isinstance(event, Made):
                places[event.order] = self.remember(event.call)
            elif isinstance(event, Answered):
                self.answer(places[event.made.order], event.message)
            elif isinstance(event, TurnEnded) and event.place < len(whole.messages):
                self.say(whole.messages[event.place])

    def say(self, message: Message) -> None:
        """Take in a message; one of the user begins a request."""
        if message.role == "user":
            self._request_from = len(self._calls)
            self._texts.append(message.content or "")

    def call(self, call: Call) -> tuple[Decision, int]:
        """Return the decision on a call, and its place among the calls that were made, if it may be made."""
        name, arguments = _named(call)
        decision = self._guard.check(replace(self._asked, name=name, arguments=arguments), self._state())
        return decision, self.remember(call) if decision.allowed else len(self._calls)

    def result(self, place: int, message: Message) -> Decision:
        """Return the decision on the result of the call at a place."""
        call = self._calls[place]
        asked = replace(self._asked, name=call.name, arguments=call.arguments, result=message.content or "")
        decision = self._guard.check(asked, self._state())
        if decision.allowed:
            self.answer(place, message)
        return decision

    def remember(self, call: Call) -> int:
        """Take in a call that was made, and return its place."""
        self._calls.append(PastCall(*_named(call)))
        return len(self._calls) - 1

    def answer(self, place: int, message: Message) -> None:
        """Take in the result of the call at a place."""
        self._calls[place] = replace(self._calls[place], result=message.content or "", is_error=message.is_error)

    def _state(self) -> State:
        return State(
            calls=tuple(self._calls),
            request_from=self._request_from,
            user_texts=tuple(self._texts),
            requests_last_minute=0,
            tokens_last_minute=0,
            tool_calls_last_minute={},
            is_late=self._is_late,
        )


def _named(call: Call) -> tuple[str, object]:
    return (call.name, call.arguments) if isinstance(call, ToolCall) else (UNREADABLE, call.text)
