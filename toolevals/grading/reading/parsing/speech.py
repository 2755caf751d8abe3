"""Splits one message that is a list of parts: its text and calls together, its results as messages of the tool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolevals.grading.reading.parsing.content import part_said
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.turns import Turn
from toolevals.grading.values import Call, Message


class Speech:
    """Puts the parts of one message together. A result ends what was said before it; other results may follow it."""

    __slots__ = ("_account", "_answered", "_calls", "_role", "_texts")

    def __init__(self, role: str, account: Account) -> None:
        self._role = role
        self._account = account
        self._texts: list[str] = []
        self._calls: list[Call] = []
        self._answered = False

    def say(self, part: Any, pointer: str) -> None:
        """Add a part that is neither call nor result; what is no text is accounted for."""
        if (text := part_said(part, pointer, self._account)) is not None:
            self._texts.append(text)

    def text(self, text: str) -> None:
        """Add text."""
        self._texts.append(text)

    def call(self, call: Call) -> None:
        """Add a call."""
        self._calls.append(call)

    def answered(self, *results: Turn) -> Iterator[Turn]:
        """Yield what was said so far, if anything, and then the results."""
        if self._texts or self._calls:
            yield self._message()
        self._answered = True
        yield from results

    def end(self) -> Iterator[Turn]:
        """Yield the rest. A message without any part is a message too, unless it gave results."""
        if self._texts or self._calls or not self._answered:
            yield self._message()

    def _message(self) -> Turn:
        turn = Turn(Message(self._role, "\n".join(self._texts) or None, tuple(self._calls)))
        self._texts, self._calls = [], []
        return turn
