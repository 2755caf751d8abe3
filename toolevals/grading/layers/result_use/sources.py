"""Tell what a reply can stand on: the fields of earlier results, and what was said before."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import islice
from typing import Any, NamedTuple

from toolevals.grading.layers.result_use.payloads import MAX_FIELDS, FieldValue, Payload, label_stems
from toolevals.grading.layers.result_use.scanner import MAX_TEXT, identifier_key, plain, replies_mentions
from toolevals.grading.layers.result_use.units import minor_unit, suits, unit_called
from toolevals.grading.layers.result_use.values import FindingKind, Key, Mention, SourceKind
from toolevals.grading.layers.result_use.words import MONTHS, WEEKDAYS
from toolevals.grading.layers.troubles import trouble_in
from toolevals.grading.values import Message, ToolCall

# Fields that may hold one claim; further ones are not looked at.
MAX_MATCHES = 16
# So few fields that chance hardly brings one near a claim.
FEW = 24
# Parts of a call's arguments that are read.
MAX_ARGUMENTS = 1_000
# Yes-or-no fields whose names are looked for in sentences.
MAX_FLAGS = 100
# Where times are kept on twelve hours, and in UTC: beyond the minutes of a day.
TWELVE_HOURS = 100_000
IN_UTC = 200_000
# A number that may be an identifier.
LONG = 1_000_000
NUMERIC = frozenset({"number", "amount", "percent", "duration"})
_WORD = re.compile(r"[^\W\d_]+")


class Suspicion(NamedTuple):
    """The likely meaning of a claim, and the place of the field that it gives wrongly; `truth` is the right value."""

    kind: FindingKind
    field: int
    truth: str


class ResultText(NamedTuple):
    """One tool result, read.

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
    arguments say to (kind of source, message), `words` likewise from every word. `units` are those that anything
    before names, `flags` the stems of the names of yes-or-no fields, `dated` the months and weekdays of results'
    dates, `years` those of results' dates and of today.
    """

    values: list[FieldValue] = field(default_factory=list)
    results: list[ResultText] = field(default_factory=list)
    index: dict[Key, list[int]] = field(default_factory=dict)
    said: dict[Key, tuple[SourceKind, int]] = field(default_factory=dict)
    words: dict[str, tuple[SourceKind, int]] = field(default_factory=dict)
    units: set[str] = field(default_factory=set)
    flags: set[frozenset[str]] = field(default_factory=set)
    dated: dict[str, tuple[SourceKind, int]] = field(default_factory=dict)
    today: tuple[int, int, int] | None = None
    newest_date: int | None = None
    years: set[int] = field(default_factory=set)
    is_truncated: bool = False
    _named: set[tuple[int | None, int]] = field(default_factory=set)
    _fields: int = 0
    _readings: dict[str, list[tuple[float, int, str]]] = field(default_factory=dict)

    def add_result(self, place: int, message: Message, call: ToolCall | None) -> None:
        """Read one tool result: the message at a place of the transcript, and the call that it answers."""
        content = plain(message.content or "", MAX_TEXT * 10)
        payload = Payload(len(self.results), content, MAX_FIELDS - self._fields)
        self._fields += len(payload.leaves)
        self.is_truncated |= payload.is_full
        trouble = trouble_in(content, is_error=message.is_error, call=call)
        is_trouble = trouble is not None and trouble.is_error
        for position, value in enumerate(payload.values, len(self.values)):
            for key in forms(value.key, value.zone):
                self.index.setdefault(key, []).append(position)
            if isinstance(value.key, tuple) and len(value.key) == 3:
                self.newest_date = position
                self.years.add(value.key[0])
                self._take_date(*value.key, place)
            self.units.add(value.measure.name)
            for dimension, reading, rule in _readings_of(value):
                self._readings.setdefault(dimension, []).append((reading, position, rule))
        for readings in self._readings.values():
            readings.sort()
        flags = (label_stems(leaf.path) for leaf in payload.leaves if isinstance(leaf.value, bool))
        self.flags.update(islice(filter(None, flags), MAX_FLAGS - len(self.flags)))
        values = range(len(self.values), len(self.values) + len(payload.values))
        self.values += payload.values
        self._take_text(content, ("result", place))
        tool = call.name if call else None
        self.results.append(ResultText(place, message.call_id, tool, payload, values, is_trouble))

    def add_words(self, source: SourceKind, message: int, text: str) -> None:
        """Read what a user or an instruction said."""
        for mention in self._take_words(text, (source, message)):
            key = mention.keys[0]
            if source == "context" and isinstance(key, tuple) and len(key) == 3 and key[0] and key[2]:
                self.today = self.today or key
                self.years.add(self.today[0])

    def add_arguments(self, message: int, arguments: Any) -> Iterator[Key]:
        """Read a call's arguments; yield the keys of their values."""
        waiting: list[Any] = [arguments]
        for node in waiting:
            if isinstance(node, dict | list) and len(waiting) < MAX_ARGUMENTS:
                waiting.extend(node.values() if isinstance(node, dict) else node)
            elif isinstance(node, str):
                text = node[:MAX_TEXT]
                for mention in self._take_words(text, ("arguments", message)):
                    yield from mention.keys
                self.said.setdefault(identifier_key(text), ("arguments", message))
                yield identifier_key(text)
            elif isinstance(node, int | float) and not isinstance(node, bool):
                self.said.setdefault(node, ("arguments", message))
                yield node

    def holder_of(self, name: str) -> tuple[SourceKind, int] | None:
        """Return what first said every part of a name; a weekday or month is also said by a date of it."""
        parts = _WORD.findall(name.casefold().removesuffix("'s").removesuffix("’s"))
        if parts and all(part in self.words for part in parts):
            return self.words[parts[0]]
        return self.dated.get(name.casefold())

    def fields_of(self, mention: Mention, tolerance: float) -> list[tuple[int, str]]:
        """Return the places of the fields whose number can be the claim's, exact ones first, with the rule."""
        unit, scale = ("", 0.01) if mention.unit == "cents" else (mention.unit, 1.0)
        readings = [(key * scale, tolerance * scale if key == mention.value else 0.0) for key in mention.numbers]
        # People say MB for MiB.
        names = ("C", "F") if unit == "deg" else (unit, f"{unit[:1].upper()}iB" if unit[1:] == "B" else "")
        found = []
        for number, slack in readings:
            found += self._near("", number, slack, unit)
            for name in names:
                known = unit_called(name)
                if known is not None:
                    base = number * known.factor + known.offset
                    found += self._near(known.dimension, base, slack * known.factor, name)
        found.sort()
        return [(position, rule) for _, position, rule in found]

    def equal_numbers(self, value: float) -> list[int]:
        """Return the places of the fields with exactly this number, whatever their unit."""
        return [position for _, position, _ in self._near("", value, 1e-9, "")]

    @property
    def is_small(self) -> bool:
        """Return whether the results hold so few fields that one is hardly near a claim by chance."""
        return self._fields <= FEW

    def _near(self, dimension: str, value: float, tolerance: float, unit: str) -> list[tuple[float, int, str]]:
        readings = self._readings.get(dimension, [])
        found: list[tuple[float, int, str]] = []
        margin = tolerance + abs(value) * 1e-9
        for place in range(bisect_left(readings, (value - margin,)), len(readings)):
            reading, position, rule = readings[place]
            if reading > value + margin or len(found) == MAX_MATCHES * 4:
                break
            if dimension or suits(unit, self.values[position].measure, rule):
                gap = abs(reading - value)
                is_exact = gap <= abs(value) * 1e-9
                found.append((gap, -position, ("converted" if dimension else rule) if is_exact else "rounded"))
        found.sort()
        return [(gap, -position, rule) for gap, position, rule in found[:MAX_MATCHES]]

    def _take_words(self, text: str, source: tuple[SourceKind, int]) -> tuple[Mention, ...]:
        text = plain(text)
        mentions = replies_mentions(text)
        for mention in mentions:
            for key in mention.keys:
                for form in forms(key, mention.zone):
                    self.said.setdefault(form, source)
        self.units.update(mention.unit for mention in mentions)
        self._take_text(text, source)
        return mentions

    def _take_date(self, year: int, month: int, day: int, message: int) -> None:
        """Keep the names of a date's month and weekday."""
        for number, names in ((month, MONTHS), (weekday_of(year, month, day), WEEKDAYS)):
            for name in () if (number, len(names)) in self._named else names:
                if names[name] == number:
                    self.dated.setdefault(name, ("result", message))
            self._named.add((number, len(names)))

    def _take_text(self, text: str, source: tuple[SourceKind, int]) -> None:
        for word in _WORD.findall(text[:MAX_TEXT].casefold()):
            self.words.setdefault(word, source)


def _readings_of(value: FieldValue) -> Iterator[tuple[str, float, str]]:
    """Yield (dimension, number, rule) under which a claim may give a field's number; "" is the number as it is said."""
    number, measure = value.key, value.measure
    if isinstance(number, str | tuple):
        return
    major = round(number * measure.scale, 9)
    yield "", major, "equal" if measure.scale == 1.0 else "minor_units"
    minor = minor_unit(measure.currency)
    if measure.is_minor and isinstance(number, int) and measure.scale == 1.0 and minor < 1:
        yield "", number * minor, "minor_units"
    if measure.unit in {"", "%"} and not measure.currency and abs(number) <= 1.5 and not isinstance(number, int):
        yield "", round(number * 100, 9), "fraction"
    unit = unit_called(measure.unit)
    if unit is not None:
        yield unit.dimension, major * unit.factor + unit.offset, "converted"


def forms(key: Key, zone: int | None) -> Iterator[Key]:
    """Yield every key under which someone may repeat a value: dates without their year, times on twelve hours.

    Identifiers are also kept without what is between letters and digits, and by their last digits.
    """
    yield key
    if isinstance(key, int) and key >= LONG:
        yield f"={key}"
    elif isinstance(key, str):
        yield from _identifier_forms(key)
    elif isinstance(key, tuple) and len(key) == 1:
        yield (key[0] % 720 + TWELVE_HOURS,)
        if zone is not None:
            yield ((key[0] - zone) % 1440 + IN_UTC,)
    elif isinstance(key, tuple):
        year, month, day = key
        if day:
            yield (0 if year else -2, month, day)
        if year and month:
            yield (year, month, 0)
            yield (year, 0, 0)


def _identifier_forms(key: str) -> Iterator[Key]:
    bare = folded(key)
    if len(bare) > 2:
        yield f"={bare}"
    # A phone number, which people also give without its country's code.
    for length in range(1, 4) if key.startswith("+") and len(bare) > 8 else ():
        yield f"={bare[length:]}"
        yield f"=0{bare[length:]}"
    digits = bare[len(bare.rstrip("0123456789")) :]
    if len(digits) >= 4:
        yield f"~{digits[-4:]}"
        yield f"~{digits}"


def lookups(mention: Mention) -> Iterator[Key]:
    """Yield the keys under which a claim is looked for: its own, an identifier's letters and digits."""
    for key in mention.keys:
        yield key
        if isinstance(key, str):
            yield f"={folded(key)}"
        elif isinstance(key, int) and not mention.unit and key > 999:
            yield f"={key}"
            yield f"~{key}"
        elif isinstance(key, tuple) and len(key) == 1:
            if mention.zone is not None:
                yield ((key[0] - mention.zone) % 1440 + IN_UTC,)
            yield (key[0] % 720 + TWELVE_HOURS,)
        elif isinstance(key, tuple) and key[0] and key[2]:
            # Someone may have said the date without its year.
            yield (-2, *key[1:])


def folded(identifier: str) -> str:
    """Return an identifier's letters and digits alone, without case."""
    return "".join(letter for letter in identifier.casefold() if letter.isalnum())


def weekday_of(year: int, month: int, day: int) -> int | None:
    """Return the day of the week, Monday 0; None for a date that does not exist."""
    try:
        return date(year, month, day).weekday()
    except ValueError:
        return None
