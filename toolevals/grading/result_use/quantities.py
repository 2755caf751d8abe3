"""Numbers in text, with scale, unit and currency."""

from __future__ import annotations

import re

from toolevals.grading.result_use.lexicon import (
    AFTER_CURRENCY_ONLY,
    CURRENCY_CODES,
    CURRENCY_SYMBOLS,
    CURRENCY_WORDS,
    MULTIPLIERS,
)
from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.units import UNITS, WRITTEN, unit_named
from toolevals.grading.result_use.values import ClaimKind

# Beyond it a number is an identifier.
MAX_DIGITS = 18
# A bare count up to this may be a way of speaking.
MAX_WEAK = 12

_SPACES = " \u00a0\u202f"
_NUMBER = re.compile(
    rf"(\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d{{1,3}}(?:\.\d{{3}})+,\d+|\d{{1,3}}(?:\.\d{{3}}){{2,}}"
    rf"|\d{{1,3}}(?:[{_SPACES}']\d{{3}})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?)"
)


def _words(words: object) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))  # type: ignore[call-overload]


_SCALE = re.compile(rf"[{_SPACES}-]?({_words(MULTIPLIERS)})\b\.?", re.IGNORECASE)
_UNIT = re.compile(
    rf"[{_SPACES}-]?(?:([$€£¥₹])|({_words(CURRENCY_CODES)})\b|({_words(CURRENCY_WORDS)})\b"
    rf"|((?:{_words(WRITTEN)})(?!\w))|({_words(CURRENCY_CODES).lower()})\b)",
    re.IGNORECASE,
)
_PER = re.compile(r"/[a-z0-9]{1,3}\b", re.IGNORECASE)
_MORE = re.compile(r"(?:,|\sand)?\s?(\d{1,2})\s?-?(minutes|minute|mins|min|m)\b", re.IGNORECASE)


def quantity_at(text: str, start: int, floor: int) -> Mention | None:
    """Return the number whose first digit is at `start`, None where the digits go on as something else.

    `floor` is where the text before it was already read.
    """
    found = _NUMBER.match(text, start)
    if found is None or len(found[1]) > MAX_DIGITS + 6:
        return None
    written, end = found[1], found.end()
    begin, currency = _before(text, start, floor)
    value, step = _read(written)
    scale = _SCALE.match(text, end) if end < len(text) else None
    if scale and (currency or scale[1].lower() not in AFTER_CURRENCY_ONLY):
        factor = MULTIPLIERS[scale[1].lower()]
        value, step, end = _exact(value * factor), step * factor, scale.end()
    unit, end = (currency, end) if currency else _unit(text, end)
    if end < len(text) and (text[end].isalnum() or text[end] == "_") and not _is_ordinal(text, end):
        return None
    if unit in CURRENCY_CODES:
        currency = unit
    if unit == "h" and (more := _MORE.match(text, end)):
        return Mention(begin, more.end(), "duration", (_exact(value * 60 + int(more[1])),), "min", 1.0)
    negative = begin < start and text[begin] in "-−"
    keys = (value, *_other_readings(written)) if step <= 1 else (value,)
    if currency and len(keys) > 1 and not written.startswith("0"):
        # Nobody writes money with three decimals.
        keys, step = keys[::-1], 1.0
    if negative:
        keys = tuple(-key for key in keys)
    is_weak = not unit and value == int(value) and 0 <= value <= MAX_WEAK and step == 1 and len(written) <= 2
    return Mention(begin, end, _kind(unit, currency), keys, unit, step, None, is_weak)


def _kind(unit: str, currency: str) -> ClaimKind:
    if currency or unit == "cents":
        return "amount"
    if unit == "%":
        return "percent"
    return "duration" if unit in UNITS and UNITS[unit].dimension in {"time", "months"} else "number"


def _before(text: str, start: int, floor: int) -> tuple[int, str]:
    """Return where the number begins with its currency and sign, and the currency."""
    begin, currency = start, ""
    gap = 1 if begin > floor and text[begin - 1] in _SPACES else 0
    if begin - gap > floor and text[begin - gap - 1] in CURRENCY_SYMBOLS:
        currency = CURRENCY_SYMBOLS[text[begin - gap - 1]]
        begin -= gap + 1
        if text[max(floor, begin - 2) : begin] == "US":
            begin -= 2
    elif begin - 4 >= floor and text[begin - 1] in _SPACES and text[begin - 4 : begin - 1] in CURRENCY_CODES:
        currency = text[begin - 4 : begin - 1]
        begin -= 4
    if begin > floor and text[begin - 1] in "+-−" and (begin - 2 < 0 or text[begin - 2] in " \t\n(:|*~$€£"):
        begin -= 1
        if begin > floor and text[begin - 1] in CURRENCY_SYMBOLS:
            begin -= 1
    return begin, currency


def _unit(text: str, end: int) -> tuple[str, int]:
    if end >= len(text) or (found := _UNIT.match(text, end)) is None:
        return "", end
    if found[1]:
        # A sign that stands before the next number is that number's.
        if text[found.end() : found.end() + 1].isdigit():
            return "", end
        return CURRENCY_SYMBOLS[found[1]], found.end()
    if found[2] or found[5]:
        return (found[2] or found[5]).upper(), found.end()
    if found[3]:
        return CURRENCY_WORDS[found[3].lower()], found.end()
    quotient = _PER.match(text, found.end())
    if quotient and (unit := unit_named(found[4].lower() + quotient[0])):
        return unit, quotient.end()
    return WRITTEN[found[4].lower()], found.end()


def _read(written: str) -> tuple[float, float]:
    """Return the likeliest reading of a written number and what one of its last digit is worth."""
    plain = written
    for space in (*_SPACES, "'"):
        plain = plain.replace(space, "")
    comma, dot = plain.rfind(","), plain.rfind(".")
    if (
        comma > dot >= 0
        or (dot < 0 <= comma and plain[0] == "0")
        or (dot < 0 <= comma and not (plain[comma + 1 :].isdigit() and len(plain) - comma == 4))
    ):
        plain = plain.replace(".", "").replace(",", ".")
    else:
        plain = plain.replace(",", "")
    if plain.count(".") > 1:
        plain = plain.replace(".", "")
    if "." not in plain:
        return int(plain), 1.0
    return _exact(float(plain)), 10.0 ** -(len(plain) - plain.index(".") - 1)


def _other_readings(written: str) -> tuple[float, ...]:
    """Return what three digits after one dot are as well: thousands, where people write a comma for decimals."""
    if len(written) < 5 or written[-4] != "." or written.count(".") > 1 or written.startswith("0"):
        return ()
    digits = written[:-4] + written[-3:]
    return (int(digits),) if digits.isdigit() else ()


def _exact(value: float) -> float:
    """Return the value without the noise of binary fractions; an int where it is whole."""
    rounded = round(value, 6)
    return int(rounded) if rounded == int(rounded) else rounded


def _is_ordinal(text: str, end: int) -> bool:
    return text[end : end + 2].lower() in {"st", "nd", "rd", "th"} and not text[end + 2 : end + 3].isalnum()
