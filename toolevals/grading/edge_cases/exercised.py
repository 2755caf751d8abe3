"""Finds the edge cases that a call's arguments exercise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from toolevals.grading.edge_cases.coercion import has_time, is_code, is_literal, read_amount
from toolevals.grading.edge_cases.parameters import EdgeCase, applicable_kinds, is_currency, is_minor
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import pointer_to

_DEEPEST = 50
Path = tuple[str, ...]
# The same few tools are asked about call after call.
_admitted = lru_cache(maxsize=1024)(applicable_kinds)


def edge_case_kinds(tool: ToolSpec | None, arguments: Mapping[str, Any]) -> frozenset[EdgeCase]:
    """Return the edge cases that a call's arguments exercise, gold or actual ones.

    Without a tool, only null, empty lists, times with a zone, amounts with a currency and literals in text are seen.
    """
    kinds = _admitted(tool) if tool is not None else {}
    names = [path[-1] for path, _ in _values(arguments)]
    knows_currency = any(is_currency(name) for name in names)
    edge_cases: set[EdgeCase] = set()
    for path, value in _values(arguments):
        edge_cases |= set(
            _kinds_of(path, value, kinds.get(pointer_to(path), frozenset()), knows_currency=knows_currency)
        )
    return frozenset(edge_cases)


def _values(arguments: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    waiting: list[tuple[Path, Any]] = [((name,), value) for name, value in arguments.items()]
    while waiting:
        path, value = waiting.pop()
        yield path, value
        if len(path) < _DEEPEST and isinstance(value, dict):
            waiting.extend(((*path, name), inside) for name, inside in value.items())
        elif len(path) < _DEEPEST and isinstance(value, list):
            waiting.extend(((*path, "*"), inside) for inside in value)


def _kinds_of(path: Path, value: Any, admitted: frozenset[EdgeCase], *, knows_currency: bool) -> Iterator[EdgeCase]:
    if value is None:
        yield EdgeCase.NULL_OPTIONAL
    elif value == [] and isinstance(value, list):
        yield EdgeCase.EMPTY_ARRAY
    if not path[-1].isascii():
        yield EdgeCase.UNICODE_IDENTIFIER
    if _is_money(path, value, admitted, knows_currency=knows_currency):
        yield EdgeCase.CURRENCY
    if isinstance(value, str):
        yield from _kinds_of_text(value, admitted)


def _kinds_of_text(text: str, admitted: frozenset[EdgeCase]) -> Iterator[EdgeCase]:
    if not text.isascii() and EdgeCase.UNICODE_IDENTIFIER in admitted:
        yield EdgeCase.UNICODE_IDENTIFIER
    if has_time(text) or (EdgeCase.TIME_ZONE in admitted and _ZONE_NAME.fullmatch(text)):
        yield EdgeCase.TIME_ZONE
    if is_literal(text):
        yield EdgeCase.TYPE_COERCION


_ZONE_NAME = re.compile(r"[A-Z][A-Za-z_]{1,30}/[A-Z][A-Za-z_/+-]{1,40}")


def _is_money(path: Path, value: Any, admitted: frozenset[EdgeCase], *, knows_currency: bool) -> bool:
    amount = read_amount(value)
    if amount is None:
        return isinstance(value, str) and is_currency(path[-1]) and is_code(value)
    if isinstance(value, str) and amount.is_marked:
        return True
    return EdgeCase.CURRENCY in admitted and (knows_currency or is_minor(path[-1]))
