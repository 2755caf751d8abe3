"""Puts a guard between an agent and its tools: what it refuses is not made, and stands apart in the transcript."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolevals.grading.guard import Decision, GuardedConversation
from toolevals.grading.values import Call, Message, Refusal


class CallGuard:
    """The guard of one conversation, and what it has refused. Without one (None) nothing is refused."""

    def __init__(self, guard: GuardedConversation | None, before: Sequence[Message]) -> None:
        self._guard = guard
        self._refusals: list[Refusal] = []
        # The places of messages that say why a call was refused, and of those that stand for a refused result.
        self._said: set[int] = set()
        self._withheld: set[int] = set()
        if guard is not None:
            guard.read(before)

    def say(self, message: Message) -> None:
        """Take in what the user said."""
        if self._guard is not None:
            self._guard.say(message)

    def refuse(self, calls: Sequence[Call], messages: list[Message]) -> list[int | None]:
        """Answer the calls of the newest message that are refused; return the place of each other call, else None."""
        turn = len(messages) - 1
        places: list[int | None] = []
        for number, call in enumerate(calls):
            decision, place = self._guard.call(call) if self._guard is not None else (Decision(True), number)
            places.append(place if decision.allowed else None)
            if not decision.allowed:
                self._note(call, turn, decision, was_made=False)
                self._said.add(len(messages))
                messages.append(Message("tool", _words("call", decision), call_id=call.id, is_error=True))
        return places

    def read(self, call: Call, place: int, said: Message, turn: int, messages: list[Message]) -> None:
        """Add what a tool answered to a call, or why the agent may not read it."""
        decision = self._guard.result(place, said) if self._guard is not None else Decision(True)
        if not decision.allowed:
            self._note(call, turn, decision, was_made=True)
            self._withheld.add(len(messages))
            said = replace(said, content=_words("result", decision), is_error=True)
        messages.append(said)

    def parted(self, messages: Sequence[Message]) -> tuple[tuple[Message, ...], tuple[Refusal, ...] | None]:
        """Return the messages without the calls that were not made, and what was refused; None without a guard.

        A refused result is no failure of its tool: its message reports no error.
        """
        if self._guard is None:
            return tuple(messages), None
        refused = {id(each.call) for each in self._refusals if not each.was_made}
        kept: list[Message] = []
        places: dict[int, int] = {}
        for place, message in enumerate(messages):
            places[place] = len(kept)
            if place in self._said:
                continue
            made = tuple(call for call in message.calls if id(call) not in refused)
            kept.append(
                replace(message, calls=made, is_error=message.is_error and place not in self._withheld)
                if len(made) < len(message.calls) or place in self._withheld
                else message
            )
        return tuple(kept), tuple(replace(each, message=places[each.message]) for each in self._refusals)

    def _note(self, call: Call, turn: int, decision: Decision, *, was_made: bool) -> None:
        reasons = tuple(reason.to_document() for reason in decision.reasons)
        self._refusals.append(Refusal(call, turn, reasons, was_made))


def _words(what: str, decision: Decision) -> str:
    """Return what the agent reads in place of a result: the sentences of the rules."""
    sentences = " ".join(dict.fromkeys(reason.sentence for reason in decision.reasons))
    return f"The guard refused this {what}. {sentences}"
