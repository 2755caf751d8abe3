"""What a reply can stand on: the fields of earlier results, and what was said before."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolevals.grading.result_use.fields import FieldValue
from toolevals.grading.result_use.forms import spread, weak_key
from toolevals.grading.result_use.payload_reading import MAX_FIELDS, MAX_NAMES, read_payload
from toolevals.grading.result_use.payloads import Payload
from toolevals.grading.result_use.scanner import MAX_TEXT, identifier_key, value_mentions
from toolevals.grading.result_use.values import Key
from toolevals.grading.values import Message

# A list of so many may be a number of passengers, nights or pieces.
MAX_COUNT = 12


@dataclass(slots=True)
class ResultText:
    """One tool result, read.

    `values` are the places of its values among all. `fresh` counts the values that no earlier result held, `asked` are
    the keys of its call's arguments.
    """

    message: int
    call_id: str | None
    tool: str | None
    is_error: bool
    asked: set[Key]
    payload: Payload
    values: range
    fresh: int


@dataclass(slots=True)
class Sources:
    """Everything before the reply that is being read; it only grows.

    `index` leads from a key to values' places; `user`, `context` and `arguments` from a key to the first message that
    holds it. `counts` are the small numbers that users said and the lengths of lists, `names` the names of things.
    """

    values: list[FieldValue] = field(default_factory=list)
    index: dict[Key, list[int]] = field(default_factory=dict)
    counts: set[float] = field(default_factory=set)
    results: list[ResultText] = field(default_factory=list)
    user: dict[Key, int] = field(default_factory=dict)
    context: dict[Key, int] = field(default_factory=dict)
    arguments: dict[Key, int] = field(default_factory=dict)
    texts: list[tuple[int, str]] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    is_truncated: bool = False
    _numbers: list[float] = field(default_factory=list)
    _numbers_of: int = 0
    _fields: int = 0
    _folded: list[tuple[int, str]] = field(default_factory=list)

    def add_result(self, place: int, message: Message, tool: str | None, asked: set[Key]) -> None:
        """Read one tool result: the message at a place of the transcript, its tool and what that was asked with."""
        payload = read_payload(message.content or "", len(self.results), MAX_FIELDS - self._fields)
        self._fields += len(payload.leaves)
        self.is_truncated |= payload.truncated
        first = len(self.values)
        fresh = sum(key not in self.index for key in payload.own)
        self.values.extend(payload.values)
        for key, places in payload.index.items():
            entries = self.index.get(key)
            if entries is None:
                self.index[key] = [first + position for position in places]
            else:
                entries.extend([first + position for position in places])
        self.counts.update(length for length in payload.lists.values() if 1 < length <= MAX_COUNT)
        if len(self.names) < MAX_NAMES:
            for name in payload.names:
                if len(self.names) < MAX_NAMES:
                    self.names[name] = None
        values = range(first, len(self.values))
        self.results.append(ResultText(place, message.call_id, tool, message.is_error, asked, payload, values, fresh))

    def add_words(self, into: dict[Key, int], message: int, text: str) -> None:
        """Read what somebody said."""
        self.texts.append((message, text))
        for mention in value_mentions(text):
            if mention.is_weak:
                into.setdefault(weak_key(mention), message)
                self.counts.add(mention.value)
                continue
            for key in spread(mention):
                into.setdefault(key, message)

    def add_arguments(self, message: int, arguments: Any) -> set[Key]:
        """Read a call's arguments; return the keys of their values."""
        taken: set[Key] = set()
        for leaf in _leaves_of(arguments):
            if isinstance(leaf, str):
                taken.update(key for mention in value_mentions(leaf) for key in spread(mention))
                taken.add(identifier_key(leaf[:MAX_TEXT]))
            else:
                taken.add(leaf)
        for key in taken:
            self.arguments.setdefault(key, message)
        return taken

    def folded_texts(self) -> Sequence[tuple[int, str]]:
        """Return what was said, by message, without case and with single spaces."""
        done = len(self._folded)
        self._folded.extend((message, " ".join(text.casefold().split())) for message, text in self.texts[done:])
        return self._folded

    def near(self, entry: int, distance: int) -> Iterator[FieldValue]:
        """Yield the values of the same result around a value, in order."""
        values = self.results[self.values[entry].result].values
        yield from self.values[max(values.start, entry - distance) : min(values.stop, entry + distance)]

    def beside(self, entry: int, distance: int) -> Iterator[FieldValue]:
        """Yield those of the values `near` a value that its own object or list holds."""
        value = self.values[entry]
        result = self.results[value.result]
        first = result.values.start
        places = result.payload.contained[value.container]
        place = entry - first
        for other in places[bisect_left(places, place - distance) : bisect_left(places, place + distance)]:
            yield self.values[first + other]

    def results_with(self, keys: Iterable[Key]) -> set[int]:
        """Return the places of the results that hold one of the keys, as more than a small number."""
        return {
            self.values[entry].result
            for key in keys
            if not isinstance(key, int | float) or abs(key) > MAX_COUNT
            for entry in self.index.get(key, ())
        }

    def numbers_near(self, value: float, tolerance: float) -> Iterator[float]:
        """Yield the results' numbers that differ by at most `tolerance`, at most eight, ascending."""
        if self._numbers_of != len(self.values):
            self._numbers = sorted(key for key in self.index if isinstance(key, int | float))
            self._numbers_of = len(self.values)
        place = bisect_left(self._numbers, value - tolerance)
        for number in self._numbers[place : place + 8]:
            if number <= value + tolerance:
                yield number


def _leaves_of(document: Any) -> Iterable[int | float | str]:
    waiting: list[Any] = [document]
    found: list[int | float | str] = []
    while waiting and len(found) < 1_000:
        node = waiting.pop()
        if isinstance(node, dict):
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, str) or (isinstance(node, int | float) and not isinstance(node, bool)):
            found.append(node)
    return found
