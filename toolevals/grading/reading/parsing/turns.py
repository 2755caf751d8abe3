"""Read what every reader of messages yields, and how it becomes messages: calls grouped, results put to their calls.

Splits one message that is a list of parts: its text and calls together, its results as messages of the tool.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from toolevals.grading.reading.parsing.content import part_said
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.values import Call, Message


@dataclass(frozen=True, slots=True)
class Turn:
    """A message, and for a tool's message the name of the tool where the provider gives no id."""

    message: Message
    tool: str | None = None


@dataclass(slots=True)
class AssistantDraft:
    """Text and calls of the assistant that come as separate items and are one message."""

    content: str | None = None
    calls: list[Call] = field(default_factory=list)

    def say(self, text: str | None) -> Iterator[Turn]:
        """Add text; what was called before ends in a message of its own."""
        if text is None:
            return
        if self.calls:
            yield from self.end()
        self.content = text if self.content is None else f"{self.content}\n{text}"

    def end(self) -> Iterator[Turn]:
        """Yield what has come together, if anything, and begin again."""
        if self.content is not None or self.calls:
            yield Turn(Message("assistant", self.content, tuple(self.calls)))
        self.content, self.calls = None, []


def messages_of(turns: Iterable[Turn]) -> tuple[Message, ...]:
    """Return the messages, with results without id put to calls without id.

    A result that names a tool answers the earliest such call that is not answered yet; one that names none answers the
    earliest call. The two are then joined by an id of our own, `call-<place of the call>`.
    """
    made = list(turns)
    if not any(_is_loose(turn) for turn in made):
        return tuple(turn.message for turn in made)
    return _paired(made)


def _is_loose(turn: Turn) -> bool:
    return turn.message.role == "tool" and turn.message.call_id is None


def _paired(turns: list[Turn]) -> tuple[Message, ...]:
    taken = {call.id for turn in turns for call in turn.message.calls} | {turn.message.call_id for turn in turns}
    waiting = _Waiting()
    # By the place of its message and its place there, the id that a call is given.
    given: dict[tuple[int, int], str] = {}
    answered: dict[int, str] = {}
    number = 0
    for place, turn in enumerate(turns):
        for position, call in enumerate(turn.message.calls):
            number += 1
            if call.id is None:
                waiting.add((place, position, number), call.name)
        if _is_loose(turn) and (found := waiting.take(turn.tool)) is not None:
            identifier = f"call-{found[2]}"
            while identifier in taken:
                identifier += "'"
            given[found[:2]] = answered[place] = identifier
    return tuple(_with_ids(turn.message, place, given, answered.get(place)) for place, turn in enumerate(turns))


class _Waiting:
    """Calls that no result has answered, by order and by name. Every operation takes constant time on the whole."""

    def __init__(self) -> None:
        self._all: deque[tuple[int, int, int]] = deque()
        self._named: dict[str | None, deque[tuple[int, int, int]]] = {}
        self._taken: set[tuple[int, int, int]] = set()

    def add(self, call: tuple[int, int, int], name: str | None) -> None:
        self._all.append(call)
        self._named.setdefault(name, deque()).append(call)

    def take(self, name: str | None) -> tuple[int, int, int] | None:
        queue = self._all if name is None else self._named.get(name, deque())
        while queue:
            call = queue.popleft()
            if call not in self._taken:
                self._taken.add(call)
                return call
        return None


def _with_ids(message: Message, place: int, given: dict[tuple[int, int], str], answered: str | None) -> Message:
    calls = tuple(
        replace(call, id=given[place, position]) if (place, position) in given else call
        for position, call in enumerate(message.calls)
    )
    return replace(message, calls=calls, call_id=message.call_id if answered is None else answered)


class Speech:
    """Puts the parts of one message together. A result ends what was said before it; other results may follow it."""

    __slots__ = ("_account", "_answered", "_calls", "_role", "_texts")

    def __init__(self, role: str, account: Account) -> None:
        self._role = role
        self._account = account
        self._texts: list[str] = []
        self._calls: list[Call] = []
        self._answered = False

    def say(self, part: object, pointer: str) -> None:
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
