"""What a reply can stand on: the fields of earlier results, and what was said before."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from toolevals.grading.result_use.forms import forms, readings_of, suits
from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.payloads import MAX_FIELDS, FieldValue, Payload, read_payload
from toolevals.grading.result_use.scanner import MAX_TEXT, identifier_key, plain, replies_mentions
from toolevals.grading.result_use.units import UNITS, unit_called
from toolevals.grading.result_use.values import Key, SourceKind
from toolevals.grading.troubles import trouble_in
from toolevals.grading.values import Message, ToolCall

# Fields that may hold one claim; further ones are not looked at.
MAX_MATCHES = 16
# Fields of one name that are compared with a claim; and so few values that chance hardly brings one near.
MAX_LABELLED = 64
FEW = 24
# Numbers somebody said that may be parts of what a reply derives.
MAX_SAID = 40
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class ResultText:
    """One tool result, read. `values` are the places of its values among all.

    What an error holds (`is_trouble`) supports claims and speaks against none.
    """

    message: int
    call_id: str | None
    tool: str | None
    payload: Payload
    values: range
    is_trouble: bool = False


@dataclass(slots=True)
class Sources:
    """Everything before the reply that is being read; it only grows.

    `index` leads from an identifier, date or time to the places of values; `said` from what users, instructions and
    arguments say to (kind of source, message). `numbers` are those that users and instructions said.
    """

    values: list[FieldValue] = field(default_factory=list)
    results: list[ResultText] = field(default_factory=list)
    index: dict[Key, list[int]] = field(default_factory=dict)
    said: dict[Key, tuple[SourceKind, int]] = field(default_factory=dict)
    numbers: list[float] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    today: tuple[int, int, int] | None = None
    is_truncated: bool = False
    _fields: int = 0
    _readings: dict[str, list[tuple[float, int, str]]] = field(default_factory=dict)
    _sorted: int = 0
    _labels: dict[str, list[int]] = field(default_factory=dict)
    _labelled: int = 0

    def add_result(self, place: int, message: Message, call: ToolCall | None) -> None:
        """Read one tool result: the message at a place of the transcript, and the call that it answers."""
        content = plain(message.content or "", MAX_TEXT * 10)
        payload = read_payload(content, len(self.results), MAX_FIELDS - self._fields)
        self._fields += len(payload.leaves)
        self.is_truncated |= payload.is_full
        first = len(self.values)
        self.values.extend(payload.values)
        for position in range(first, len(self.values)):
            for key in forms(self.values[position].key, self.values[position].zone):
                self.index.setdefault(key, []).append(position)
        self._take_tokens(content)
        trouble = trouble_in(content, is_error=message.is_error, call=call)
        tool, values = call.name if call else None, range(first, len(self.values))
        is_trouble = trouble is not None and trouble.is_error
        self.results.append(ResultText(place, message.call_id, tool, payload, values, is_trouble))

    def add_words(self, source: SourceKind, message: int, text: str) -> None:
        """Read what a user or an instruction said."""
        text = plain(text)
        for mention in replies_mentions(text):
            for key in mention.keys:
                for form in forms(key, mention.zone):
                    self.said.setdefault(form, (source, message))
                if isinstance(key, tuple) and len(key) == 3 and key[0] and key[2] and source == "context":
                    self.today = self.today or key
            if mention.kind in {"number", "amount", "percent", "duration"} and len(self.numbers) < MAX_SAID:
                self.numbers.append(mention.value)
        self._take_tokens(text)

    def add_arguments(self, message: int, arguments: Any) -> set[Key]:
        """Read a call's arguments; return the keys of their values."""
        taken: set[Key] = set()
        for leaf in _leaves_of(arguments):
            if isinstance(leaf, str):
                for mention in replies_mentions(leaf[:MAX_TEXT]):
                    taken.update(form for key in mention.keys for form in forms(key, mention.zone))
                taken.add(identifier_key(leaf[:MAX_TEXT]))
                self._take_tokens(leaf[:MAX_TEXT])
            else:
                taken.add(leaf)
                self.tokens.add(str(leaf))
        for key in taken:
            self.said.setdefault(key, ("arguments", message))
        return taken

    def holds_token(self, written: str) -> bool:
        """Whether the digits of a claim stand in some text exactly so."""
        digits = _DIGITS.search(written)
        return digits is not None and (digits[0] in self.tokens or digits[0].replace(",", "") in self.tokens)

    def fields_of(self, mention: Mention, tolerance: float) -> Iterator[tuple[int, str]]:
        """Yield the places of the fields whose number can be the claim's, exact ones first, with the rule."""
        self._sort()
        unit, value = mention.unit, mention.value
        if unit == "cents":
            unit, value, tolerance = "", value / 100, tolerance / 100
        found = []
        for number in dict.fromkeys((value, *(key for key in mention.keys[1:] if isinstance(key, int | float)))):
            found += self._near("", number, tolerance, unit)
        known = unit_called(unit) if unit != "deg" else None
        if known is not None:
            for name in (unit, {"KB": "KiB", "MB": "MiB", "GB": "GiB", "TB": "TiB"}.get(unit, "")):
                measured = unit_called(name)
                if measured is not None:
                    base = value * measured.factor + measured.offset
                    found += self._near(measured.dimension, base, tolerance * measured.factor, unit)
        if unit == "deg":
            for scale in ("C", "F"):
                base = value * UNITS[scale].factor + UNITS[scale].offset
                found += self._near("temperature", base, tolerance * UNITS[scale].factor, scale)
        found.sort()
        for _, position, rule in found:
            yield position, rule

    def equal_numbers(self, value: float) -> Iterator[int]:
        """Yield the places of the fields with exactly this number, whatever their unit."""
        self._sort()
        for _, position, _ in self._near("", value, 1e-9, ""):
            yield position

    @property
    def is_small(self) -> bool:
        """Whether the results hold so few values that one is hardly near a claim by chance."""
        return len(self.values) <= FEW

    def labelled(self, words: Iterable[str]) -> list[int]:
        """Return the places of the fields whose name begins like one of some stems; none where they are many."""
        for position in range(self._labelled, len(self.values)):
            value = self.values[position]
            if not self.results[value.result].is_trouble:
                for label in value.labels:
                    self._labels.setdefault(label[:4], []).append(position)
        self._labelled = len(self.values)
        found = {position for word in words for position in self._labels.get(word[:4], ())[:MAX_LABELLED]}
        return sorted(found) if len(found) < MAX_LABELLED else []

    def _near(self, dimension: str, value: float, tolerance: float, unit: str) -> list[tuple[float, int, str]]:
        readings = self._readings.get(dimension, [])
        found: list[tuple[float, int, str]] = []
        margin = tolerance + abs(value) * 1e-9
        place = bisect_left(readings, (value - margin,))
        while place < len(readings) and readings[place][0] <= value + margin and len(found) < MAX_MATCHES * 4:
            reading, position, rule = readings[place]
            if dimension or suits(unit, self.values[position], rule):
                gap = abs(reading - value)
                is_exact = gap <= abs(value) * 1e-9
                found.append((gap, -position, ("converted" if dimension else rule) if is_exact else "rounded"))
            place += 1
        found.sort()
        return [(gap, -position, rule) for gap, position, rule in found[:MAX_MATCHES]]

    def _sort(self) -> None:
        if self._sorted == len(self.values):
            return
        for position in range(self._sorted, len(self.values)):
            for dimension, reading, rule in readings_of(self.values[position]):
                self._readings.setdefault(dimension, []).append((reading, position, rule))
        for readings in self._readings.values():
            readings.sort()
        self._sorted = len(self.values)

    def _take_tokens(self, text: str) -> None:
        for digits in _DIGITS.findall(text[:MAX_TEXT]):
            self.tokens.add(digits)
            self.tokens.add(digits.replace(",", ""))


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
