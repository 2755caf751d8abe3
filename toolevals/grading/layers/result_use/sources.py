"""Tell what a reply can stand on: the fields of earlier results, and what was said before.

Reads one result's text: JSON (also inside a text), or lines.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from toolevals.grading.layers.result_use.scanner import (
    MAX_TEXT,
    Key,
    Mention,
    folded,
    mentions_in,
    plain,
    replies_mentions,
)
from toolevals.grading.layers.result_use.values import (
    CURRENCIES,
    UNGROUNDED,
    Attribution,
    ClaimKind,
    Measure,
    SourceKind,
    measure_of,
    minor_unit,
    suits,
    unit_called,
    unit_named,
    words_of,
)
from toolevals.grading.layers.troubles import trouble_in
from toolevals.grading.values import Message, ToolCall
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonValue

# Fields of a result; further ones are not read. Fields that make one sum.
MAX_FIELDS = 20_000
MAX_ADDED = 200
# The measure of what is counted, which no claim's unit suits.
_COUNTED = Measure("#")
_CURRENCY_KEYS = ("currency", "ccy", "curr", "currency_code", "currencyCode", "valuta", "moneda", "devise", "waehrung")
_UNIT_KEYS = ("unit", "units", "uom", "einheit")
_VALUE_NAMES = words_of("value values amount reading readings result total level quantity")


class FieldValue(NamedTuple):
    """One value of a result, or a number that follows from `fields` by a `rule`: "count" or "sum".

    `pointer` leads to the field; `path` also names what a text inside it holds.
    """

    result: int
    pointer: str
    path: str
    kind: ClaimKind
    key: Key
    measure: Measure = Measure()
    rule: str = "equal"
    fields: tuple[str, ...] = ()

    @property
    def number(self) -> float:
        """The number as people say it, 0 for what is none."""
        return 0.0 if isinstance(self.key, str | tuple) else round(self.key * self.measure.scale, 9)

    @property
    def written(self) -> str:
        """The value in words."""
        if isinstance(self.key, str | tuple):
            return f"“{self.key}”"
        return f"{self.number:,.10g} {self.measure.unit or self.measure.currency}".rstrip()


class _Scope(NamedTuple):
    """The currency and unit that the objects around a field name."""

    currency: str = ""
    unit: str = ""


class Payload:
    """The text of the result at a place among the results, of which `room` fields are read.

    `leaves` are (pointer, value); `has_flags` says whether there is a yes or no.
    """

    def __init__(self, place: int, content: str, room: int = MAX_FIELDS) -> None:
        self._place, self._room = place, room
        self.leaves: list[tuple[str, int | float | str]] = []
        self.values: list[FieldValue] = []
        self.has_flags = False
        self._lists: dict[str, tuple[str, int]] = {}
        self._read(content[: MAX_TEXT * 10], "", "", _Scope())
        self.is_full = len(content) > MAX_TEXT * 10 or len(self.leaves) >= room
        self.values += [*self._counts(), *self._sums()]

    def _read(self, text: str, pointer: str, path: str, scope: _Scope) -> None:
        """Read a text that is JSON or lines."""
        document = _json(text)
        if document is not None:
            self._node(document, pointer, path, scope)
            return
        for number, line in enumerate(text.splitlines()):
            self._leaf(line, pointer or f"/{number}", f"{path}/{number}", scope)

    def _node(self, node: JsonValue, pointer: str, path: str, scope: _Scope) -> None:
        if isinstance(node, dict | list):
            children = node.items() if isinstance(node, dict) else enumerate(node)
            if isinstance(node, dict):
                scope = _scoped(node, scope)
            elif len(self._lists) < MAX_FIELDS:
                self._lists[path] = (pointer, len(node))
            for key, child in children if len(self.leaves) < self._room else ():
                name = str(key).replace("~", "~0").replace("/", "~1")
                self._node(child, f"{pointer}/{name}" if pointer == path else pointer, f"{path}/{name}", scope)
        elif isinstance(node, str) and node[:1] in "{[" and len(node) > 2 and _json(node) is not None:
            self._read(node, pointer, f"{path}/", scope)
        elif isinstance(node, bool):
            self.has_flags = True
        elif node is not None and node != "":
            self._leaf(node, pointer, path, scope)

    def _leaf(self, node: int | float | str, pointer: str, path: str, scope: _Scope) -> None:
        if len(self.leaves) >= self._room:
            return
        self.leaves.append((pointer, node))
        measure = _measure(path, scope)
        if not isinstance(node, str):
            self.values.append(FieldValue(self._place, pointer, path, "number", node, measure))
            return
        for mention in mentions_in(node):
            said = measure if mention.kind == "number" and not mention.unit else _said_measure(mention.unit)
            for key in mention.keys:
                kind = "time" if isinstance(key, tuple) and len(key) == 1 else mention.kind
                self.values.append(FieldValue(self._place, pointer, path, kind, key, said))

    def _counts(self) -> Iterator[FieldValue]:
        for path, (pointer, length) in self._lists.items():
            yield FieldValue(self._place, pointer, path, "number", length, _COUNTED, "count", (pointer,))

    def _sums(self) -> Iterator[FieldValue]:
        """Yield the sums of numbers of one unit: of a column of a list, a list, an object."""
        groups: dict[tuple[str, str, Measure], list[FieldValue]] = {}
        for value in self.values:
            if isinstance(value.key, int | float) and (value.measure.unit or value.measure.is_money):
                head, _, last = value.path.rpartition("/")
                outer, _, row = head.rpartition("/")
                groups.setdefault((head, "", value.measure), []).append(value)
                if row.isdigit() and outer in self._lists:
                    groups.setdefault((outer, last, value.measure), []).append(value)
        for values in groups.values():
            if 1 < len(values) <= MAX_ADDED:
                total = sum(each.key for each in values if isinstance(each.key, int | float))
                yield values[0]._replace(key=total, rule="sum", fields=tuple(each.pointer for each in values))


def _json(text: str) -> Any:
    if text[:1] in '{["-0123456789' or text[:1].isspace():
        try:
            return load_json(text)
        except InvalidDocument:
            return None
    return None


def _scoped(node: JsonMapping, scope: _Scope) -> _Scope:
    currency = next((node[key] for key in _CURRENCY_KEYS if key in node), None)
    if isinstance(currency, str) and currency.upper() in CURRENCIES:
        scope = scope._replace(currency=currency.upper())
    unit = next((node[key] for key in _UNIT_KEYS if key in node), None)
    return scope._replace(unit=unit_named(unit)) if isinstance(unit, str) and len(unit) <= 12 else scope


def _measure(path: str, scope: _Scope) -> Measure:
    """Return what a field's name, of an element its list's, and the objects around it say of its number."""
    name = next((part for part in reversed(path.split("/")) if part and not part.isdigit()), "")
    measure, is_value = measure_of(name), name.lower() in _VALUE_NAMES
    if measure.scale == 0.01:
        currency = measure.currency or scope.currency
        return measure._replace(currency=currency, scale=minor_unit(currency))
    if measure.unit or measure.currency or measure.scale > 1:
        return measure
    if scope.unit and is_value:
        return measure._replace(unit=scope.unit, is_money=False)
    is_money = measure.is_money or (is_value and bool(scope.currency))
    return measure._replace(currency=scope.currency * is_money, is_money=is_money)


def _said_measure(unit: str) -> Measure:
    return Measure("", unit, is_money=True) if unit in CURRENCIES else Measure(unit)


# Fields that may hold one claim; further ones are not looked at.
MAX_MATCHES = 16
# Parts of a call's arguments that are read.
MAX_ARGUMENTS = 1_000
_WORD = re.compile(r"[^\W\d_]+")
# A number, what comes first among equal ones, the field, and the rule by which the field gives it.
_Number: TypeAlias = tuple[float, tuple[bool, int], FieldValue, str]


class ResultText(NamedTuple):
    """One tool result, read.

    What an error holds (`is_trouble`) supports claims and speaks against none.
    """

    message: int
    call_id: str | None
    tool: str | None
    payload: Payload
    is_trouble: bool = False


@dataclass(slots=True)
class Sources:
    """Everything before the reply that is being read; it only grows.

    `said` leads from what users, instructions and arguments say to (kind of source, message), `words` likewise from
    every word. `passed_on` are the places of the results of which a call took a value.
    """

    results: list[ResultText] = field(default_factory=list)
    passed_on: set[int] = field(default_factory=set)
    is_truncated: bool = False
    fields: int = 0
    has_flags: bool = False
    said: dict[Key, tuple[SourceKind, int]] = field(default_factory=dict)
    words: dict[str, tuple[SourceKind, int]] = field(default_factory=dict)
    _index: dict[Key, list[FieldValue]] = field(default_factory=dict)
    # By dimension, "" for numbers as they are said.
    _readings: dict[str, list[_Number]] = field(default_factory=dict)
    _order: int = 0
    # The values of one kind and measure in one result, and those that follow by one rule.
    _alike: dict[tuple[int, str, Measure, str], set[Key]] = field(default_factory=dict)

    def add_result(self, place: int, message: Message, call: ToolCall | None) -> None:
        """Read one tool result: the message at a place of the transcript, and the call that it answers."""
        content = plain(message.content or "", MAX_TEXT * 10)
        payload = Payload(len(self.results), content, MAX_FIELDS - self.fields)
        self.fields += len(payload.leaves)
        self.is_truncated |= payload.is_full
        self.has_flags |= payload.has_flags
        trouble = trouble_in(content, is_error=message.is_error, call=call)
        for value in payload.values:
            self._order += 1
            self._alike.setdefault((value.result, value.kind, value.measure, value.rule), set()).add(value.key)
            for key in _forms(value.key) if not value.fields else ():
                self._index.setdefault(key, []).append(value)
            for dimension, number, rule in _readings_of(value):
                # The newest field first, and one that holds the number before what follows from several.
                rank = (bool(value.fields), -self._order)
                self._readings.setdefault(dimension, []).append((number, rank, value, rule))
        for readings in self._readings.values():
            readings.sort()
        self._take_text(content, ("result", place))
        is_trouble = trouble is not None and trouble.is_error
        self.results.append(ResultText(place, message.call_id, call.name if call else None, payload, is_trouble))

    def add_words(self, source: SourceKind, message: int, text: str) -> tuple[Mention, ...]:
        """Read what a user, an instruction or an argument said."""
        text = plain(text)
        mentions = replies_mentions(text)
        for form in (form for mention in mentions for key in mention.keys for form in _forms(key)):
            self.said.setdefault(form, (source, message))
        self._take_text(text, (source, message))
        return mentions

    def add_arguments(self, message: int, arguments: object) -> None:
        """Read a call's arguments."""
        waiting: list[Any] = [arguments]
        for node in waiting:
            keys: list[Key] = []
            if isinstance(node, dict | list) and len(waiting) < MAX_ARGUMENTS:
                waiting.extend(node.values() if isinstance(node, dict) else node)
            elif isinstance(node, str):
                keys = [folded(node[:MAX_TEXT])]
                keys += [key for mention in self.add_words("arguments", message, node) for key in mention.keys]
            elif isinstance(node, int | float) and not isinstance(node, bool):
                keys = [node]
            for key in keys:
                self.said.setdefault(key, ("arguments", message))
                if not isinstance(key, int | float) or abs(key) > 12:
                    self.passed_on.update(value.result for value in self._index.get(key, ()))

    def attribute(self, mention: Mention) -> tuple[Attribution, list[FieldValue]]:
        """Return what holds a claim, and the fields that do."""
        found = self.held(mention, mention.step * 0.5)
        if found:
            value, rule = found[0]
            result = self.results[value.result]
            source: SourceKind = "derived" if value.fields else "result"
            attribution = Attribution(source, result.message, value.pointer, result.call_id, rule, value.fields)
            return attribution, [each for each, other in found if other == rule]
        for key in mention.keys:
            if key in self.said:
                source, message = self.said[key]
                return Attribution(source, message, rule="equal"), []
        return UNGROUNDED, []

    def attribute_name(self, name: str) -> Attribution:
        """Return what first said every part of a name."""
        parts = _WORD.findall(name.casefold())
        if not parts or any(part not in self.words for part in parts):
            return UNGROUNDED
        source, message = self.words[parts[0]]
        return Attribution(source, message, rule="equal")

    def held(self, mention: Mention, slack: float = 0.0) -> list[tuple[FieldValue, str]]:
        """Return the fields that can hold a claim, the nearest first, with the rule."""
        if not mention.numbers:
            return [(value, "equal") for key in mention.keys for value in self._index.get(key, ())[-MAX_MATCHES:][::-1]]
        found = []
        for number in mention.numbers:
            rounding = slack if number == mention.keys[0] else 0.0
            found += self._near("", number, rounding, mention.unit)
            known = unit_called(mention.unit)
            if known is not None:
                base = number * known.factor + known.offset
                found += self._near(known.dimension, base, rounding * known.factor, mention.unit)
        return [(value, rule) for _, _, value, rule in sorted(found)]

    def equal_numbers(self, number: float) -> list[FieldValue]:
        """Return the fields with exactly this number, whatever their unit."""
        return [value for _, _, value, _ in self._near("", number, 0.0, "") if not value.fields]

    def is_meant(self, value: FieldValue, unit: str) -> bool:
        """Return whether a claim can mean a field, or what follows from several, alone.

        It names the unit that the claim says, and its result has no other value of its kind and measure.
        """
        is_named = not unit or unit in CURRENCIES or bool(value.measure.unit)
        return is_named and len(self._alike[value.result, value.kind, value.measure, value.rule]) < 2

    def _near(self, dimension: str, number: float, slack: float, unit: str) -> list[_Number]:
        readings = self._readings.get(dimension, [])
        found: list[_Number] = []
        margin = slack + abs(number) * 1e-9
        for place in range(bisect_left(readings, (number - margin,)), len(readings)):
            reading, rank, value, rule = readings[place]
            if reading > number + margin or len(found) == MAX_MATCHES * 4:
                break
            if dimension or (unit in {"%", ""} if rule == "fraction" else suits(unit, value.measure)):
                gap = abs(reading - number)
                found.append((gap, rank, value, rule) if gap <= abs(number) * 1e-9 else (gap, rank, value, "rounded"))
        return sorted(found)[:MAX_MATCHES]

    def _take_text(self, text: str, source: tuple[SourceKind, int]) -> None:
        for word in _WORD.findall(text[:MAX_TEXT].casefold()):
            self.words.setdefault(word, source)


def _readings_of(value: FieldValue) -> Iterator[tuple[str, float, str]]:
    """Yield (dimension, number, rule) under which a claim may give a field's number; "" is the number as it is said."""
    measure, key = value.measure, value.key
    if isinstance(key, str | tuple):
        return
    is_minor = measure.scale != 1 and not value.fields
    yield "", value.number, "minor_units" if is_minor else value.rule
    if measure.unit in {"", "%"} and not measure.currency and isinstance(key, float) and abs(key) <= 1.5:
        yield "", round(key * 100, 9), "fraction"
    unit = unit_called(measure.unit)
    if unit is not None:
        yield unit.dimension, value.number * unit.factor + unit.offset, value.rule if value.fields else "converted"


def _forms(key: Key) -> Iterator[Key]:
    """Yield every key under which someone may repeat a value: dates also without their year or day."""
    yield key
    if isinstance(key, tuple) and len(key) == 3 and key[2]:
        yield (0, *key[1:])
        yield (*key[:2], 0)
