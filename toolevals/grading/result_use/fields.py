"""What the name of a result's field says about its value."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from toolevals.grading.result_use.lexicon import (
    CURRENCY_CODES,
    DOLLARS,
    MINOR_WORDS,
    MONEY_WORDS,
    STOP_WORDS,
    SYNONYMS,
    UNIT_HINTS,
    YENS,
)
from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.values import ClaimKind, Key

_PART = re.compile(r"[A-Z]?[a-z]+\d?|[A-Z]+(?![a-z])|[^\W\d_A-Za-z]+")
_STEM = 6
# Whose names on a field say that it is in no other unit.
_EXCLUSIVE_UNITS = frozenset({"s", "min", "h", "d", "TB", "GB", "MB"})


class FieldValue(NamedTuple):
    """One value in a result: a number, or a value inside a text. Several may share a pointer.

    `currency` is that of the object that it is in. `is_lower_currency` says that the object writes its currency in
    lower case, as payment providers do whose amounts are in cents. `before` precedes a value in a line of free text.
    """

    result: int
    pointer: str
    kind: ClaimKind
    key: Key
    unit: str = ""
    currency: str = ""
    is_lower_currency: bool = False
    is_text: bool = False
    zone: int | None = None
    before: str = ""

    @property
    def labels(self) -> frozenset[str]:
        """The stems that name the field: of its pointer, or of the words before the value in a line of text."""
        return stems_of(_PART.findall(self.before)[-4:]) if self.before else label_words(self.pointer)

    @property
    def written(self) -> str:
        """The value in words."""
        key = self.key
        if isinstance(key, tuple):
            if len(key) == 1:
                return f"{key[0] // 60:02}:{key[0] % 60:02}"
            return "-".join(f"{part:02}" for part in key if part > 0)
        return f"“{key}”" if isinstance(key, str) else f"{key:,}" if abs(key) >= 10_000 else str(key)

    @property
    def container(self) -> str:
        """The pointer of the object or list that holds the field."""
        return container_of(self.pointer)

    @property
    def name(self) -> str:
        """The field's own name; for an element of a list the list's."""
        return field_name(self.pointer)

    @property
    def is_minor(self) -> bool:
        """Whether the number counts hundredths of a currency unit."""
        if self.is_text:
            return self.unit == "cents"
        if _names_minor(self.pointer):
            return True
        return self.is_lower_currency and isinstance(self.key, int) and self.is_money

    @property
    def is_money(self) -> bool:
        """Whether the number is an amount of money."""
        return self.kind == "amount" or (self.kind == "number" and not self.is_text and _names_money(self.pointer))

    @property
    def money_code(self) -> str:
        """The ISO 4217 code, empty where nothing says it."""
        if self.kind == "amount" and self.unit not in {"", "cents"}:
            return self.unit
        return _named_code(self.pointer) or (self.currency if self.is_money else "")


@lru_cache(maxsize=8192)
def container_of(pointer: str) -> str:
    """Return the pointer of the object or list that holds a field."""
    return pointer.rpartition("/")[0]


@lru_cache(maxsize=8192)
def _names_minor(pointer: str) -> bool:
    return not raw_words(pointer).isdisjoint(MINOR_WORDS)


@lru_cache(maxsize=8192)
def _names_money(pointer: str) -> bool:
    return not raw_words(pointer).isdisjoint(MONEY_WORDS)


@lru_cache(maxsize=8192)
def _named_code(pointer: str) -> str:
    """Return the currency that a field is named after, the first by alphabet of several."""
    return min({word.upper() for word in raw_words(pointer)} & CURRENCY_CODES, default="")


@lru_cache(maxsize=8192)
def field_name(pointer: str) -> str:
    """Return the last part of a pointer that is no position in a list."""
    return next((part for part in reversed(pointer.split("/")) if part and not part.isdigit()), "")


@lru_cache(maxsize=8192)
def raw_words(pointer: str) -> frozenset[str]:
    """Return the words of the last two names in a pointer, in lower case."""
    names = [part for part in pointer.split("/") if part and not part.isdigit()][-2:]
    return frozenset(word.lower() for name in names for word in _PART.findall(name[:80]) if word != "_")


@lru_cache(maxsize=8192)
def label_words(pointer: str) -> frozenset[str]:
    """Return the stems that name a field: of its own name, and of the one above where its own says nothing."""
    names = [part for part in pointer.split("/") if part and not part.isdigit()]
    for name in reversed(names[-2:]):
        if stems := stems_of(_PART.findall(name[:80])):
            return stems
    return frozenset()


def stems_of(words: list[str]) -> frozenset[str]:
    """Return the stems of words that name something; words of one meaning have one stem."""
    return frozenset(filter(None, map(_stem, words)))


@lru_cache(maxsize=16384)
def _stem(word: str) -> str:
    """Return a word's stem, empty where it names nothing."""
    lowered = word.lower().strip("_")
    lowered = SYNONYMS.get(lowered, lowered)
    if lowered in STOP_WORDS or lowered.isdigit() or len(lowered) < 2:
        return ""
    return lowered.removesuffix("s")[:_STEM]


def admits(mention: Mention, value: FieldValue) -> bool:
    """Whether the field's number, equal to the mention's, can be what the mention says: unit, currency, scale."""
    if mention.kind == "amount":
        if mention.unit == "cents":
            return value.is_minor or not value.is_money
        return same_currency(mention.unit, value.money_code) and not certainly_minor(value)
    if mention.kind == "percent":
        number: Any = value.key
        return not (
            value.kind == "number" and 0 < abs(number) < 1 and raw_words(value.pointer).isdisjoint({"pct", "percent"})
        )
    if mention.kind == "number" and not mention.unit:
        return True
    if mention.unit in UNIT_HINTS and value.kind in {"number", "duration"}:
        return unit_fits(mention.unit, value)
    return True


def certainly_minor(value: FieldValue) -> bool:
    """Whether the field is surely in hundredths: its name says so."""
    return value.is_minor and not (value.is_lower_currency and raw_words(value.pointer).isdisjoint(MINOR_WORDS))


def unit_fits(unit: str, value: FieldValue) -> bool:
    """Whether a field may be in this unit: its value or name says so, or neither says another."""
    if value.unit:
        return value.unit == unit or {value.unit, unit} == {"C", "deg"} or {value.unit, unit} == {"F", "deg"}
    hinted = hinted_units(value.pointer)
    return unit in hinted or hinted.isdisjoint(_EXCLUSIVE_UNITS)


def has_unit(unit: str, value: FieldValue) -> bool:
    """Whether the field says that it is in this unit."""
    return value.unit == unit if value.unit else unit in hinted_units(value.pointer)


def units_of(value: FieldValue) -> frozenset[str]:
    """Return the units that the field says it is in, or may be by its name."""
    return frozenset({value.unit}) if value.unit else hinted_units(value.pointer)


@lru_cache(maxsize=8192)
def hinted_units(pointer: str) -> frozenset[str]:
    """Return the units that a field may be in by its name."""
    words = raw_words(pointer)
    return frozenset(unit for unit, hints in UNIT_HINTS.items() if not words.isdisjoint(hints))


def same_currency(left: str, right: str) -> bool:
    """Whether two codes may be one currency; `$` and `¥` stand for several."""
    if not left or not right or left == right:
        return True
    return ("USD" in {left, right} and {left, right} <= DOLLARS) or {left, right} <= YENS
