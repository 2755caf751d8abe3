"""What a reply can stand on: the fields of earlier results, and what was said before."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from toolevals.grading.documents import load_json
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.result_use.fields import FieldValue, label_words, raw_words
from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.scanner import MAX_TEXT, identifier_key, value_mentions
from toolevals.grading.result_use.values import Key

# Fields of all results of a transcript; further ones are not read.
MAX_FIELDS = 20_000
# A list of so many may be a number of passengers, nights or pieces.
MAX_COUNT = 12
# Text that may be repeated whole.
MAX_NAME = 120
# Lists of a result whose lengths are compared with what replies say.
MAX_COUNTED = 64
# Names of a transcript's results that are looked for in replies.
MAX_NAMES = 200
_NAMING = frozenset({"name", "title", "symbol", "code", "city", "id", "flight", "sku"})
_TIME_WORDS = frozenset(
    {"at", "time", "timestamp", "created", "updated", "date", "epoch", "ts", "expires", "start", "end", "due"}
)
# Where times are kept in UTC: beyond the minutes of a day.
UTC_BASE = 10_000


_MEASURE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)-?[a-z\"]{1,6}")


class Leaf(NamedTuple):
    """A field with a value that text can show."""

    pointer: str
    value: int | float | str


@dataclass(slots=True)
class ResultText:
    """One tool result, read.

    `values` are the places of its values among all, `lists` its lists' lengths by pointer. `fresh` counts the values
    that no earlier result held, `asked` are the keys of its call's arguments.
    """

    message: int
    call_id: str | None
    tool: str | None
    is_error: bool
    is_text: bool = False
    fresh: int = 0
    asked: set[Key] = field(default_factory=set)
    leaves: list[Leaf] = field(default_factory=list)
    lists: dict[str, int] = field(default_factory=dict)
    counted: list[tuple[str, int, frozenset[str]]] = field(default_factory=list)
    values: range = range(0)


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

    def add_result(self, result: ResultText, content: str) -> None:
        """Read one tool result: JSON where it is JSON, else lines of text."""
        place = len(self.results)
        self.results.append(result)
        first = len(self.values)
        if len(content) > MAX_TEXT * 10:
            self.is_truncated = True
            content = content[: MAX_TEXT * 10]
        document, result.is_text = _document(content)
        self._flatten(document, "", place, result, ("", False))
        result.counted = [
            (pointer, length, label_words(pointer))
            for pointer, length in result.lists.items()
            if pointer.count("/") == 1
        ][:MAX_COUNTED]
        self.counts.update(length for length in result.lists.values() if 1 < length <= MAX_COUNT)
        result.values = range(first, len(self.values))

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

    def near(self, entry: int, distance: int) -> Iterator[FieldValue]:
        """Yield the values of the same result around a value, in order."""
        values = self.results[self.values[entry].result].values
        for place in range(max(values.start, entry - distance), min(values.stop, entry + distance)):
            yield self.values[place]

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

    def _flatten(self, node: Any, pointer: str, place: int, result: ResultText, money: tuple[str, bool]) -> None:
        if isinstance(node, dict):
            code = node.get("currency")
            if isinstance(code, str) and len(code) == 3:
                money = (code.upper(), code.islower())
            for key, child in node.items():
                if child is not None and child is not True and child is not False and child != "":
                    name = key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key
                    self._flatten(child, f"{pointer}/{name}", place, result, money)
        elif isinstance(node, list):
            if not result.is_text:
                result.lists[pointer] = len(node)
            for position, child in enumerate(node):
                if child is not None and child is not True and child is not False and child != "":
                    self._flatten(child, f"{pointer}/{position}", place, result, money)
        elif self._fields >= MAX_FIELDS:
            self.is_truncated = True
        else:
            self._fields += 1
            result.leaves.append(Leaf(pointer, node))
            self._add_leaf(node, pointer, place, money)

    def _add_leaf(self, node: int | float | str, pointer: str, place: int, money: tuple[str, bool]) -> None:
        if isinstance(node, str):
            mentions = value_mentions(node)
            is_line = self.results[place].is_text
            for mention in mentions:
                before = node[max(0, mention.start - 40) : mention.start] if is_line else ""
                self._add_mention(mention, pointer, place, money[0], before)
            if not mentions:
                key = identifier_key(node) if len(node) <= MAX_NAME else ""
                self._add(key, FieldValue(place, pointer, "quote", key, is_text=True))
            if 3 <= len(node) <= 40 and len(self.names) < MAX_NAMES and not raw_words(pointer).isdisjoint(_NAMING):
                self.names[node] = None
            return
        number = node if isinstance(node, int) else round(node, 6)
        self._add(number, FieldValue(place, pointer, "number", number, "", money[0], money[1]))
        if 1e9 < number < 4e9 and not raw_words(pointer).isdisjoint(_TIME_WORDS):
            moment = datetime.fromtimestamp(int(number), UTC)
            keys: tuple[Key, ...] = ((moment.year, moment.month, moment.day), (moment.hour * 60 + moment.minute,))
            self._add_mention(Mention(0, 0, "date", keys, zone=0), pointer, place, "")

    def _add_mention(self, mention: Mention, pointer: str, place: int, currency: str, before: str = "") -> None:
        for key in mention.keys:
            kind = "time" if isinstance(key, tuple) and len(key) == 1 else mention.kind
            value = FieldValue(place, pointer, kind, key, mention.unit, currency, False, True, mention.zone, before)
            self._add(key, value)
            entry = len(self.values) - 1
            for other in _forms(key, mention.zone):
                self.index.setdefault(other, []).append(entry)
        if mention.zone and len(mention.keys) == 2:
            self._add_shifted(mention, pointer, place)
        if mention.kind == "identifier":
            for other in _digit_runs(str(mention.keys[0])):
                self.index.setdefault(other, []).append(len(self.values) - 1)

    def _add_shifted(self, mention: Mention, pointer: str, place: int) -> None:
        """A moment with a zone also has a date in UTC, which may be the day before or after."""
        date, minute = mention.keys
        if not (isinstance(date, tuple) and len(date) == 3 and isinstance(minute, tuple) and mention.zone):
            return
        shift = (minute[0] - mention.zone) // 1440
        if shift:
            try:
                day = datetime(*date, tzinfo=UTC).toordinal() + shift
                moved = datetime.fromordinal(day)
            except (ValueError, OverflowError):
                return
            key = (moved.year, moved.month, moved.day)
            self._add(key, FieldValue(place, pointer, "date", key, is_text=True, zone=0))
            for other in _forms(key, None):
                self.index.setdefault(other, []).append(len(self.values) - 1)

    def _add(self, key: Key, value: FieldValue) -> None:
        places = self.index.get(key)
        if places is None:
            self.results[value.result].fresh += 1
            self.index[key] = [len(self.values)]
        else:
            places.append(len(self.values))
        self.values.append(value)


def weak_key(mention: Mention) -> str:
    """Return the key of a bare small number that somebody said: it supports no amount and nothing with a unit."""
    return f"#{mention.value:g}"


def spread(mention: Mention) -> Iterator[Key]:
    """Yield every key under which somebody may repeat a value."""
    for key in mention.keys:
        yield key
        yield from _forms(key, mention.zone)
    if mention.kind == "identifier":
        yield from _digit_runs(str(mention.keys[0]))


def _forms(key: Key, zone: int | None) -> Iterator[Key]:
    """Yield a moment's other keys: without its year (-1 for a date that has none), its month, its year; in UTC."""
    if not isinstance(key, tuple):
        return
    if len(key) == 1:
        if zone is not None:
            yield (UTC_BASE + (key[0] - zone) % 1440,)
        return
    year, month, day = key
    if year:
        yield (year, month, 0)
        yield (year, 0, 0)
        if day:
            yield (0, month, day)
    else:
        yield (-1, month, day)


def _digit_runs(identifier: str) -> Iterator[Key]:
    """Yield an identifier's last digits, whole and the last four, and the number of a measure."""
    digits = identifier[len(identifier.rstrip("0123456789")) :]
    if len(digits) >= 4:
        yield f"~{digits}"
        yield f"~{digits[-4:]}"
    # "30ml" is also said "30 ml".
    if (measure := _MEASURE.fullmatch(identifier)) is not None:
        yield float(measure[1])


def _document(content: str) -> tuple[Any, bool]:
    """Return the document, and whether it is lines of text and no JSON."""
    if content[:1] in '{["-0123456789' or content[:1].isspace():
        try:
            return load_json(content), False
        except InvalidDocument:
            pass
    return content.splitlines() or [content], True


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
