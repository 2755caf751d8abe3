"""Reading one result's text: JSON (also inside a text), tables, XML, or lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from toolevals.grading.documents import load_json
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.result_use.lexicon import CURRENCY_CODES, STOP_WORDS, SYNONYMS
from toolevals.grading.result_use.scanner import MAX_TEXT, identifier_key, value_mentions
from toolevals.grading.result_use.units import Measure, measure_of, name_words, unit_named
from toolevals.grading.result_use.values import ClaimKind, Key

# Fields of a result; further ones are not read.
MAX_FIELDS = 20_000
MAX_COLUMNS = 64
# Text that may be repeated whole.
MAX_NAME = 120
_CURRENCY_KEYS = ("currency", "ccy", "curr", "currency_code", "valuta", "moneda", "devise", "waehrung", "currencyCode")
_UNIT_KEYS = ("unit", "units", "uom", "einheit")
_VALUE_NAMES = frozenset({"value", "values", "amount", "reading", "readings", "result", "total", "level", "quantity"})
_TAG = re.compile(r"<(\w{1,40})\b([^<>]{0,400})>([^<>\n]{0,400})")
_ATTRIBUTE = re.compile(r"([\w-]{1,40})=\"([^\"\n]{0,400})\"")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?")
_WORD = re.compile(r"[^\W_]+")


class FieldValue(NamedTuple):
    """One value of a result. `pointer` leads to the field; `path` also names what a table or a text inside it holds.

    `before` are the words before a value inside a text.
    """

    result: int
    pointer: str
    path: str
    kind: ClaimKind
    key: Key
    measure: Measure = Measure()
    zone: int | None = None
    before: str = ""

    @property
    def container(self) -> str:
        """The path of the object or row that holds the field."""
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The field's own name; for an element of a list the list's."""
        return field_name(self.path)

    @property
    def labels(self) -> frozenset[str]:
        """The stems that name the field."""
        return stems(self.before) if self.before else label_stems(self.path)

    @property
    def written(self) -> str:
        """The value in words."""
        key = self.key
        if isinstance(key, tuple):
            if len(key) == 1:
                return f"{key[0] // 60:02}:{key[0] % 60:02}"
            return "-".join(f"{part:02}" for part in key if part > 0)
        return f"“{key}”" if isinstance(key, str) else f"{key:,}" if abs(key) >= 10_000 else str(key)


class Leaf(NamedTuple):
    """A field with a value that text can show, or a boolean."""

    pointer: str
    path: str
    value: int | float | str | bool | None


@dataclass(frozen=True, eq=False)
class Payload:
    """What the text of the result at a place among the results holds; `lists` are the lists' lengths by path."""

    place: int
    leaves: list[Leaf] = field(default_factory=list)
    values: list[FieldValue] = field(default_factory=list)
    lists: dict[str, int] = field(default_factory=dict)
    is_full: bool = False


@lru_cache(maxsize=8192)
def field_name(path: str) -> str:
    """Return the last part of a path that is no position in a list."""
    return next((part for part in reversed(path.split("/")) if part and not part.isdigit()), "")


@lru_cache(maxsize=8192)
def label_stems(path: str) -> frozenset[str]:
    """Return the stems of a field's own name, and of the one above where its own says only a unit or "value"."""
    names = [part for part in path.split("/") if part and not part.isdigit()]
    for name in reversed(names[-2:]):
        words = frozenset(word for word in map(stem, name_words(name)) if word and not measure_of(word).unit)
        if words:
            return words
    return frozenset()


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Return a word's stem, empty where it names nothing; words of one meaning have one stem."""
    lowered = SYNONYMS.get(word.lower(), word.lower())
    if lowered in STOP_WORDS or lowered.isdigit() or len(lowered) < 2 or lowered.upper() in CURRENCY_CODES:
        return ""
    return lowered[:-1] if lowered.endswith("s") and len(lowered) > 3 and not lowered.endswith("ss") else lowered


@lru_cache(maxsize=8192)
def stems(text: str) -> frozenset[str]:
    """Return the stems of the words of a text."""
    return frozenset(filter(None, map(stem, _WORD.findall(text))))


def read_payload(content: str, place: int, room: int = MAX_FIELDS) -> Payload:
    """Return what a result's text holds, of which `room` fields are read."""
    reader = _Reader(place, room)
    reader.read(content[: MAX_TEXT * 10], "", "", _Scope())
    return Payload(
        place, reader.leaves, reader.values, reader.lists, len(content) > MAX_TEXT * 10 or len(reader.leaves) >= room
    )


class _Scope(NamedTuple):
    """What the objects around a field say of it: currency and unit. `is_lower` is a currency in lower case."""

    currency: str = ""
    unit: str = ""
    is_lower: bool = False


class _Reader:
    def __init__(self, place: int, room: int) -> None:
        self.place = place
        self.leaves: list[Leaf] = []
        self.values: list[FieldValue] = []
        self.lists: dict[str, int] = {}
        self._room = room

    def read(self, text: str, pointer: str, path: str, scope: _Scope) -> None:
        """Read a text that is JSON, a table, XML or lines."""
        document = _json(text)
        if document is not None:
            self._node(document, pointer, path, scope)
            return
        lines = text.splitlines() or [text]
        columns, mark = _columns(lines)
        for number, line in enumerate(lines):
            here = f"{path}/{number}"
            at = pointer or f"{pointer}/{number}"
            cells = line.split(mark) if columns else []
            if columns and number and len(cells) == len(columns):
                self.lists[path] = number
                for name, cell in zip(columns, cells, strict=True):
                    self._leaf(_cell(cell), at, f"{here}/{name}", scope)
            elif "<" in line and (found := list(_markup(line))):
                for name, value in found:
                    self._leaf(_cell(value), at, f"{here}/{name}", scope)
            elif not (columns and number == 0):
                self._leaf(line, at, here, scope, is_line=True)

    def _node(self, node: Any, pointer: str, path: str, scope: _Scope) -> None:
        if len(self.leaves) >= self._room:
            return
        if isinstance(node, dict):
            scope = _scoped(node, scope)
            for key, child in node.items():
                name = key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key
                at = f"{pointer}/{name}" if pointer == path else pointer
                self._node(child, at, f"{path}/{name}", scope)
        elif isinstance(node, list):
            self.lists[path] = len(node)
            for position, child in enumerate(node):
                self._node(child, f"{pointer}/{position}" if pointer == path else pointer, f"{path}/{position}", scope)
        elif isinstance(node, str) and node[:1] in "{[" and len(node) > 2 and _json(node) is not None:
            self.read(node, pointer, f"{path}/", scope)
        else:
            self._leaf(node, pointer, path, scope)

    def _leaf(
        self, node: int | float | str | bool | None, pointer: str, path: str, scope: _Scope, *, is_line: bool = False
    ) -> None:
        if len(self.leaves) >= self._room or node is None or node == "":
            return
        self.leaves.append(Leaf(pointer, path, node))
        if isinstance(node, bool):
            return
        measure = _measure(path, scope)
        if not isinstance(node, str):
            self._add(FieldValue(self.place, pointer, path, "number", _plain(node), measure))
            return
        mentions = value_mentions(node)
        for mention in mentions:
            before = node[max(0, mention.start - 40) : mention.start] if is_line else ""
            unit = _said_measure(mention.unit)
            if mention.kind == "number" and not mention.unit and not is_line:
                unit = measure
            for key in mention.keys:
                kind = "time" if isinstance(key, tuple) and len(key) == 1 else mention.kind
                self._add(FieldValue(self.place, pointer, path, kind, key, unit, mention.zone, before))
        if len(node) <= MAX_NAME and not is_line:
            self._add(FieldValue(self.place, pointer, path, "quote", identifier_key(node)))

    def _add(self, value: FieldValue) -> None:
        self.values.append(value)


def _json(text: str) -> Any:
    if text[:1] in '{["-0123456789' or text[:1].isspace():
        try:
            return load_json(text)
        except InvalidDocument:
            return None
    return None


def _columns(lines: list[str]) -> tuple[list[str], str]:
    """Return the names of a table's columns and what separates them; none where the lines are no table."""
    for mark in "|\t;,":
        names = [name.strip() for name in lines[0].split(mark)]
        if 2 <= len(names) <= MAX_COLUMNS and all(name and len(name) < 40 for name in names) and len(lines) > 1:
            is_named = not any(name[0].isdigit() for name in names) and ":" not in lines[0]
            if is_named and len(lines[1].split(mark)) == len(names):
                return names, mark
    return [], ""


def _markup(line: str) -> Iterator[tuple[str, str]]:
    for tag in _TAG.finditer(line):
        for attribute in _ATTRIBUTE.finditer(tag[2]):
            yield f"{tag[1]}/{attribute[1]}", attribute[2]
        if tag[3].strip():
            yield tag[1], tag[3].strip()


def _cell(text: str) -> int | float | str:
    """Return a table's cell: a number where all of it is one."""
    plain = text.strip()
    if _NUMBER.fullmatch(plain) is None:
        return plain
    return float(plain) if "." in plain else int(plain)


def _plain(number: int | float) -> int | float:
    return number if isinstance(number, int) else round(number, 6)


def _scoped(node: Mapping[str, Any], scope: _Scope) -> _Scope:
    currency = next((node[key] for key in _CURRENCY_KEYS if key in node), None)
    if isinstance(currency, str) and len(currency) == 3 and currency.upper() in CURRENCY_CODES:
        scope = scope._replace(currency=currency.upper(), is_lower=currency.islower())
    unit = next((node[key] for key in _UNIT_KEYS if key in node), None)
    if isinstance(unit, str) and len(unit) <= 12:
        scope = scope._replace(unit=unit_named(unit))
    return scope


def _measure(path: str, scope: _Scope) -> Measure:
    """Return what a field's name, the one above it, and the objects around it say of its number."""
    name = field_name(path)
    own = measure_of(name)
    if own.unit or own.currency or own.scale not in {1.0, 0.01, 1e-6}:
        return own
    above = [part for part in path.split("/") if part and not part.isdigit()][-2:-1]
    if own.scale == 1.0 and above and (outer := measure_of(above[0])) != Measure(is_money=outer.is_money):
        currency = outer.currency or own.currency or scope.currency * outer.is_money
        return outer._replace(currency=currency, is_money=outer.is_money or own.is_money)
    if scope.unit and name.lower() in _VALUE_NAMES:
        return own._replace(unit=scope.unit, is_money=False)
    if scope.currency:
        is_money = own.is_money or name.lower() in _VALUE_NAMES or own.scale != 1.0
        return own._replace(currency=scope.currency, is_money=is_money, is_minor=scope.is_lower and own.scale == 1.0)
    return own


def _said_measure(unit: str) -> Measure:
    if unit == "cents":
        return Measure("", "", 0.01, is_money=True)
    if unit in CURRENCY_CODES:
        return Measure("", unit, 1.0, is_money=True)
    return Measure(unit)
