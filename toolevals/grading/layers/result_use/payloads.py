"""Reads one result's text: JSON (also inside a text), tables, or lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from toolevals.grading.layers.result_use.scanner import MAX_TEXT, mentions_in, short_mentions
from toolevals.grading.layers.result_use.units import Measure, measure_of, minor_unit, name_words, unit_named
from toolevals.grading.layers.result_use.values import ClaimKind, Key
from toolevals.grading.layers.result_use.words import CURRENCY_CODES, STOP_WORDS, SYNONYMS
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

# Fields of a result; further ones are not read.
MAX_FIELDS = 20_000
MAX_COLUMNS = 64
# What one is worth where an object says the exponent of its amounts.
EXPONENT_SCALES = {"2": 0.01, "3": 0.001, "4": 0.0001}
# Text that is likely to come again.
_SHORT_TEXT = 80
_CURRENCY_KEYS = ("currency", "ccy", "curr", "currency_code", "valuta", "moneda", "devise", "waehrung", "currencyCode")
_UNIT_KEYS = ("unit", "units", "uom", "einheit")
_VALUE_NAMES = frozenset({"value", "values", "amount", "reading", "readings", "result", "total", "level", "quantity"})
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
    def number(self) -> float:
        """The number as people say it, 0 for what is none."""
        return 0.0 if isinstance(self.key, str | tuple) else round(self.key * self.measure.scale, 6)

    @property
    def labels(self) -> frozenset[str]:
        """The stems that name the field."""
        return stems(self.before) if self.before else label_stems(self.path)

    @property
    def written(self) -> str:
        """The value in words."""
        return written(self.key)


def written(key: Key) -> str:
    """Return a value in words."""
    if isinstance(key, tuple):
        return f"{key[0] // 60:02}:{key[0] % 60:02}" if len(key) == 1 else "-".join(f"{n:02}" for n in key if n > 0)
    return f"“{key}”" if isinstance(key, str) else f"{key:,}" if abs(key) >= 10_000 else str(key)


class Leaf(NamedTuple):
    """A field with a value that text can show, or a boolean."""

    pointer: str
    path: str
    value: int | float | str | bool | None


@lru_cache(maxsize=8192)
def _names(path: str) -> tuple[str, str]:
    """Return the last two parts of a path that are no positions in a list, the last first."""
    names = [part for part in reversed(path.split("/")) if part and not part.isdigit()]
    return (names[0] if names else "", names[1] if len(names) > 1 else "")


def field_name(path: str) -> str:
    """Return the last part of a path that is no position in a list."""
    return _names(path)[0]


@lru_cache(maxsize=8192)
def label_stems(path: str) -> frozenset[str]:
    """Return the stems of a field's own name, and of the one above where its own says only a unit or "value"."""
    for name in _names(path):
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


class _Scope(NamedTuple):
    """The scope of a field, from the objects around it: currency and unit.

    `is_lower` is a currency in lower case; `scale` is what one is worth where the object says its exponent.
    """

    currency: str = ""
    unit: str = ""
    is_lower: bool = False
    scale: float = 1.0


class Payload:
    """The text of the result at a place among the results, of which `room` fields are read.

    `lists` are the lists' lengths by path.
    """

    def __init__(self, place: int, content: str, room: int = MAX_FIELDS) -> None:
        self.place, self._room = place, room
        self.leaves: list[Leaf] = []
        self.values: list[FieldValue] = []
        self.lists: dict[str, int] = {}
        self._read(content[: MAX_TEXT * 10], "", "", _Scope())
        self.is_full = len(content) > MAX_TEXT * 10 or len(self.leaves) >= room

    def _read(self, text: str, pointer: str, path: str, scope: _Scope) -> None:
        """Read a text that is JSON, a table or lines."""
        document = _json(text)
        if document is not None:
            self._node(document, pointer, path, scope)
            return
        lines = text.splitlines() or [text]
        columns, mark = _columns(lines)
        if columns:
            self.lists[path] = len(lines) - 1
        for number, line in enumerate(lines):
            here, at = f"{path}/{number}", pointer or f"/{number}"
            cells = line.split(mark) if columns else []
            if not columns or len(cells) != len(columns):
                self._leaf(line, at, here, scope, is_line=True)
            for name, cell in zip(columns, cells, strict=False) if number and len(cells) == len(columns) else ():
                self._leaf(_cell(cell), at, f"{here}/{name}", scope)

    def _node(self, node: Any, pointer: str, path: str, scope: _Scope) -> None:
        if len(self.leaves) >= self._room:
            return
        if isinstance(node, dict | list):
            children = node.items() if isinstance(node, dict) else enumerate(node)
            if isinstance(node, dict):
                scope = _scoped(node, scope)
            else:
                self.lists[path] = len(node)
            for key, child in children:
                name = str(key).replace("~", "~0").replace("/", "~1")
                self._node(child, f"{pointer}/{name}" if pointer == path else pointer, f"{path}/{name}", scope)
        elif isinstance(node, str) and node[:1] in "{[" and len(node) > 2 and _json(node) is not None:
            self._read(node, pointer, f"{path}/", scope)
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
            number = node if isinstance(node, int) else round(node, 6)
            self.values.append(FieldValue(self.place, pointer, path, "number", number, measure))
            return
        for mention in short_mentions(node) if len(node) <= _SHORT_TEXT else mentions_in(node):
            before = node[max(0, mention.start - 40) : mention.start] if is_line else ""
            said = _said_measure(mention.unit) if mention.unit or mention.kind != "number" or is_line else measure
            for key in mention.keys:
                kind = "time" if isinstance(key, tuple) and len(key) == 1 else mention.kind
                self.values.append(FieldValue(self.place, pointer, path, kind, key, said, mention.zone, before))


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
        if not 2 <= len(names) <= MAX_COLUMNS or len(lines) < 2 or ":" in lines[0]:
            continue
        if (
            all(0 < len(name) < 40 and not name[0].isdigit() for name in names)
            and lines[1].count(mark) == len(names) - 1
        ):
            return names, mark
    return [], ""


def _cell(text: str) -> int | float | str:
    """Return a table's cell: a number where all of it is one."""
    plain = text.strip()
    if _NUMBER.fullmatch(plain) is None:
        return plain
    return float(plain) if "." in plain else int(plain)


def _scoped(node: Mapping[str, Any], scope: _Scope) -> _Scope:
    currency = next((node[key] for key in _CURRENCY_KEYS if key in node), None)
    if isinstance(currency, str) and currency.upper() in CURRENCY_CODES:
        scale = EXPONENT_SCALES.get(str(node.get("exponent")), 1.0)
        scope = scope._replace(currency=currency.upper(), is_lower=currency.islower(), scale=scale)
    unit = next((node[key] for key in _UNIT_KEYS if key in node), None)
    if isinstance(unit, str) and len(unit) <= 12:
        scope = scope._replace(unit=unit_named(unit))
    return scope


def _measure(path: str, scope: _Scope) -> Measure:
    """Return what a field's name, the one above it, and the objects around it say of its number."""
    measure = _said_of(path, scope)
    if measure.currency and measure.scale == 0.01:
        return measure._replace(scale=minor_unit(measure.currency))
    return measure._replace(scale=scope.scale) if measure.is_money and measure.scale == 1.0 else measure


def _said_of(path: str, scope: _Scope) -> Measure:
    name, above = _names(path)
    own, outer = measure_of(name), measure_of(above)
    if own.unit or own.currency or own.scale not in {1.0, 0.01, 1e-6}:
        return own
    if own.scale == 1.0 and (outer.unit or outer.currency or outer.scale != 1.0):
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
