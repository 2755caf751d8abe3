"""Reads numbers in text, with scale, unit and currency."""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolevals.grading.layers.result_use.units import UNITS, WRITTEN, unit_named
from toolevals.grading.layers.result_use.values import ClaimKind, Mention
from toolevals.grading.layers.result_use.words import (
    AFTER_CURRENCY_ONLY,
    CURRENCY_CODES,
    CURRENCY_SYMBOLS,
    CURRENCY_WORDS,
    MULTIPLIERS,
)

# Beyond it a number is an identifier.
MAX_DIGITS = 18
# A bare count up to this may be a way of speaking.
_WEAK = range(13)

_NUMBER = re.compile(
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}"
    r"|\d{1,3}(?:[ ']\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?"
)


def _any_of(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True) if word)


_BEFORE = re.compile(
    rf"(?:(?:(?<![^\s(:|*~])([+−-]))?(?:US)?([$€£¥₹]) ?|({_any_of(CURRENCY_CODES)}) )?"
    r"(?:(?<![^\s(:|*~$€£])([+−-]))?\Z"
)
_SCALE = re.compile(rf"[ -]?({_any_of(MULTIPLIERS)})\b\.?", re.IGNORECASE)
_UNIT = re.compile(
    rf"[ -]?(?:([$€£¥₹])(?!\d)|({_any_of(CURRENCY_CODES)})\b|({_any_of(CURRENCY_WORDS)})\b"
    rf"|((?:{_any_of(WRITTEN)})(?!\w)(/[a-z0-9]{{1,3}}\b)?))",
    re.IGNORECASE,
)
_MORE = re.compile(r"(?:,|\sand)?\s?(\d{1,2})\s?-?(minutes|minute|mins|min|m)\b", re.IGNORECASE)
# What follows makes no number of the digits, unless it is the end of an ordinal.
_GOES_ON = re.compile(r"(?!(?:st|nd|rd|th)(?![^\W_]))\w", re.IGNORECASE)


def quantity_at(text: str, start: int, floor: int) -> Mention | None:
    """Return the number whose first digit is at `start`, None where the digits go on as something else.

    `floor` is where the text before it was already read.
    """
    found = _NUMBER.match(text, start)
    if found is None or len(found[0]) > MAX_DIGITS + 6:
        return None
    end, (values, step) = found.end(), _read(found[0])
    before = _BEFORE.search(text[max(0, start - 8) : start])
    if before is None or start - len(before[0]) < floor:
        begin, currency, is_negative = start, "", False
    else:
        begin, currency = start - len(before[0]), CURRENCY_SYMBOLS.get(before[2] or "", before[3] or "")
        is_negative = not {before[1], before[4]}.isdisjoint("-−")
    scale = _SCALE.match(text, end)
    if scale and (currency or scale[1].lower() not in AFTER_CURRENCY_ONLY):
        factor = MULTIPLIERS[scale[1].lower()]
        values, step, end = (_exact(values[0] * factor),), step * factor, scale.end()
    unit, end = (currency, end) if currency else _unit(text, end)
    if _GOES_ON.match(text, end):
        return None
    if unit == "h" and (more := _MORE.match(text, end)):
        return Mention(begin, more.end(), "duration", (_exact(values[0] * 60 + int(more[1])),), "min")
    kind = _kind(unit)
    if kind == "amount" and len(values) > 1:
        # No one writes money with three decimals.
        values, step = (max(values),), 1.0
    if is_negative:
        values = tuple(-value for value in values)
    is_weak = not unit and values[0] in _WEAK and step == 1 and len(found[0]) <= 2
    return Mention(begin, end, kind, values, unit, step, None, is_weak)


def _kind(unit: str) -> ClaimKind:
    if unit in CURRENCY_CODES or unit == "cents":
        return "amount"
    if unit == "%":
        return "percent"
    return "duration" if unit in UNITS and UNITS[unit].dimension in {"time", "months"} else "number"


def _unit(text: str, end: int) -> tuple[str, int]:
    """Return the unit or currency after a number, and where it ends."""
    found = _UNIT.match(text, end)
    if found is None:
        return "", end
    if found[1]:
        return CURRENCY_SYMBOLS[found[1]], found.end()
    if found[2]:
        return found[2].upper(), found.end()
    if found[3]:
        return CURRENCY_WORDS[found[3].lower()], found.end()
    base, slash, _ = found[4].lower().partition("/")
    if slash and (quotient := unit_named(found[4])):
        return quotient, found.end()
    return WRITTEN[base], found.start(5) if slash else found.end()


def _read(written: str) -> tuple[tuple[float, ...], float]:
    """Return the readings of a written number, the likeliest first, and what one of its last digit is worth.

    Three digits after a dot alone are decimals, or thousands where people write a comma for decimals; after a comma
    alone they are thousands or decimals.
    """
    plain = "".join(letter for letter in written if letter.isdigit() or letter in ".,")
    digits = int(plain.replace(",", "").replace(".", ""))
    place = max(plain.rfind(","), plain.rfind("."))
    decimals, is_mixed = len(plain) - place - 1, "," in plain and "." in plain
    is_alone = plain.count(",") + plain.count(".") == 1
    if not is_mixed and not (is_alone and (plain[place] == "." or decimals != 3 or plain[0] == "0")):
        is_either = is_alone and plain[0] != "0"
        return ((digits, _exact(digits / 1000)) if is_either else (digits,)), 1.0
    value, step = _exact(digits / 10**decimals), 10.0**-decimals
    return ((value, digits) if is_alone and decimals == 3 and plain[0] != "0" else (value,)), step


def _exact(value: float) -> float:
    """Return the value without the noise of binary fractions; an int where it is whole."""
    rounded = round(value, 6)
    return int(rounded) if rounded == int(rounded) else rounded
