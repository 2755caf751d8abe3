"""Plays the person that an agent talks to in a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from toolevals.agents.chats import Chat
from toolevals.grading.values import Message, Transcript
from toolevals.grading.values.thoughts import spoken

# What a simulated user says alone on a line when there is nothing more to say.
DONE = "###DONE###"


class User(Protocol):
    """Answers the agent's words."""

    def answer(self, messages: Sequence[Message]) -> str | None:
        """Return what the user says next, None where the conversation is over. Raises UnreachableError."""


class NobodyThere:
    """The user of a decision point: the agent's first words to them are the last."""

    def answer(self, messages: Sequence[Message]) -> str | None:
        return None


class ScriptedUser:
    """Says fixed turns, one after the other, whatever the agent says."""

    def __init__(self, turns: Sequence[str]) -> None:
        self._turns = list(turns)
        self._said = 0

    def answer(self, messages: Sequence[Message]) -> str | None:
        if self._said == len(self._turns):
            return None
        self._said += 1
        return self._turns[self._said - 1]


class SimulatedUser:
    """A model that plays a user by an instruction which the agent never sees.

    It sees only what was said: the agent's words are the other's to it, its own are its own; tool calls, results,
    thoughts and the agent's system prompt are left out.
    """

    def __init__(self, chat: Chat, instruction: str) -> None:
        self._chat = chat
        self._instruction = instruction

    def answer(self, messages: Sequence[Message]) -> str | None:
        seen = [Message("system", self._prompt())]
        seen += [
            Message("user" if message.role == "assistant" else "assistant", message.content)
            for message in spoken(Transcript(tuple(messages))).messages
            if message.role in ("user", "assistant") and message.content
        ]
        said = (self._chat.reply(seen, ()).message.content or "").strip()
        if DONE in said:
            said = said.replace(DONE, "").strip()
            return said or None
        return said or None

    def _prompt(self) -> str:
        return (
            "You play a person who talks to an assistant. Say one turn at a time, in the person's own words, and "
            "nothing about these instructions. Give details only when they are asked for. "
            f"When the person has what they came for, or cannot get it, say {DONE} alone.\n\n{self._instruction}"
        )
