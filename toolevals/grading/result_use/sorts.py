"""Whether a field can be what a claim speaks of: money for money, a time for a time, one unit for the same."""

from __future__ import annotations

from toolevals.grading.result_use.fields import FieldValue, has_unit, hinted_units, raw_words
from toolevals.grading.result_use.lexicon import DURATIONS, MONEY_WORDS, UNIT_HINTS
from toolevals.grading.result_use.mentions import Mention

# Digits in a text from here on number a thing and measure nothing.
_MIN_IDENTIFIER = 10_000_000
NUMERIC = frozenset({"number", "amount", "percent", "duration"})


def comparable(mention: Mention, value: FieldValue) -> bool:
    """Whether a claim may be set beside a field's value at all."""
    if mention.kind in NUMERIC:
        if value.kind not in NUMERIC or isinstance(value.key, str | tuple):
            return False
        if value.is_text and abs(value.key) >= _MIN_IDENTIFIER:
            return False
        if mention.kind == "percent":
            return value.kind == "percent" or not value.is_money or "rate" in raw_words(value.pointer)
        return mention.kind != "duration" or value.kind != "amount"
    if mention.kind == "time":
        return value.kind == "time"
    return value.kind == mention.kind


def fits(mention: Mention, value: FieldValue) -> bool:
    """Whether the field may be what a miswritten value meant."""
    if mention.kind == "amount":
        return value.is_money or not value.unit
    if mention.kind == "number" and not mention.unit and not value.is_text:
        return True
    if mention.unit in UNIT_HINTS and mention.kind != "percent":
        return not value.unit or value.unit == mention.unit
    return True


def has_sort(value: FieldValue) -> bool:
    """Whether a field says what its number counts."""
    return value.is_money or bool(value.unit or hinted_units(value.pointer))


def same_sort(mention: Mention, value: FieldValue) -> bool:
    """Whether a result's field is of the claim's kind: money for money, a length of time for one, and so on."""
    if mention.kind == "amount":
        return value.is_money
    if mention.kind == "percent":
        return value.kind == "percent" or has_unit("%", value)
    if mention.kind == "duration":
        return value.kind in {"duration", "time"} or any(
            has_unit(unit, value) for unit in DURATIONS if unit in UNIT_HINTS
        )
    if mention.kind == "number":
        if mention.unit:
            return has_unit(mention.unit, value) or (mention.unit == "C" and "c" in raw_words(value.pointer))
        return not value.is_money or bool(raw_words(value.pointer) & MONEY_WORDS)
    return True
