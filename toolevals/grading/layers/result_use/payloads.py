"""Reads one result's text: JSON (also inside a text), or lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from toolevals.grading.layers.result_use.scanner import MAX_TEXT, Key, mentions_in
from toolevals.grading.layers.result_use.units import CURRENCIES, Measure, measure_of, minor_unit, unit_named, words_of
from toolevals.grading.layers.result_use.values import ClaimKind
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

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

    def _node(self, node: Any, pointer: str, path: str, scope: _Scope) -> None:
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


def _scoped(node: Mapping[str, Any], scope: _Scope) -> _Scope:
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
