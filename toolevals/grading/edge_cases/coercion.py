"""Tells whether values are equal after a change of type.

Reads amounts of money as arguments hold them: `45`, `"$45.00"`, `"45 USD"`, `"4,500 cents"`.

Tells whether dates and times differ in their time zone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from toolevals.grading.values.dates import MAX_LENGTH, Moment, read_moment
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.matchers import decimal_value, is_finite
from toolevals.grading.values.problems import InvalidDocument

_LONGEST_AMOUNT = 40
_SIGNS = {"$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW"}
_WORDS = {
    "dollar": "USD",
    "dollars": "USD",
    "euro": "EUR",
    "euros": "EUR",
    "pound": "GBP",
    "pounds": "GBP",
    "yen": "JPY",
    "rupees": "INR",
    "francs": "CHF",
}
_MINOR = {"c", "ct", "¢", "cent", "cents", "p", "pence"}
_CODE_LIST = """
    AED AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF IDR ILS INR JPY KRW KWD MXN MYR NOK NZD PHP PLN RON RUB SAR SEK SGD
    THB TRY TWD UAH USD VND ZAR
"""
_CODES = frozenset(_CODE_LIST.split())
_DIGIT = re.compile(r"[0-9]")
_AMOUNT = re.compile(
    r"(?P<minus>-?)(?P<before>US\$|[$€£¥₹₩]|[A-Z]{3})? ?"
    r"(?P<number>[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?) ?(?P<after>[$€£¥₹₩¢]|[A-Za-z]{1,7})?"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of some unit: the currency's code, "" where none is said, and whether hundredths are counted."""

    number: Fraction
    currency: str = ""
    minor: bool = False

    @property
    def is_marked(self) -> bool:
        """Return whether a currency or unit is said."""
        return bool(self.currency) or self.minor


def read_amount(value: object) -> Amount | None:
    """Return the amount that a value is; None where it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return Amount(decimal_value(value)) if is_finite(value) else None
    if not isinstance(value, str) or len(value) > _LONGEST_AMOUNT or not _DIGIT.search(value):
        return None
    if not (found := _AMOUNT.fullmatch(value.strip())):
        return None
    before, after = _unit(found["before"]), _unit(found["after"])
    if before is None or after is None:
        return None
    number = Fraction(found["number"].replace(",", ""))
    minor = after == _HUNDREDTHS
    return Amount(-number if found["minus"] else number, before or ("" if minor else after), minor)


_HUNDREDTHS = "hundredths"


def _unit(text: str | None) -> str | None:
    """Return a currency's code, `_HUNDREDTHS`, "" where nothing is said, None where it is no currency."""
    if not text:
        return ""
    if text.lower() in _MINOR:
        return _HUNDREDTHS
    known = _SIGNS.get(text) or _WORDS.get(text.lower())
    return known or (text.upper() if text.upper() in _CODES else None)


def is_code(text: str) -> bool:
    """Tell whether text is a currency: its code, sign or name."""
    return bool(_unit(text.strip()))


_DAY = 86_400 * 1_000_000_000
# A zone by name, as ISO 9557 writes it in brackets, or by its abbreviation.
_NAMED = re.compile(r" ?\[[A-Za-z_/+-]{1,40}\]$| [A-Z][A-Za-z_]{1,30}/[A-Z][A-Za-z_/+-]{1,40}$| [A-Z]{3,4}$")


def has_time(text: str) -> bool:
    """Tell whether text is a time, alone or after a date."""
    found = _read(text)
    return found is not None and _shows_time(found[0], text)


def differ_in_zone(one: str, other: str) -> bool:
    """Tell whether two unequal texts are the same instant, or the same time on the clock, with other or no zones."""
    first = _read(one)
    second = None if first is None else _read(other)
    if first is None or second is None:
        return False
    (left, left_zone), (right, right_zone) = first, second
    if not (_shows_time(left, one) or _shows_time(right, other)):
        return False
    if left.offset == right.offset and left_zone == right_zone:
        return False
    same_instant = left.offset is not None and left.instant == right.instant
    return same_instant or left.wall == right.wall


def _shows_time(moment: Moment, text: str) -> bool:
    return moment.offset is not None or bool(moment.wall % _DAY) or ":" in text


def _read(text: str) -> tuple[Moment, str] | None:
    """Return the moment that text is, and the zone's name where it has one; a time alone is one of a day long ago."""
    if len(text) > 2 * MAX_LENGTH:
        return None
    text = text.strip()
    if text and "[" not in text and not _DIGIT.search(text):
        # Most texts are no times, and show it at once.
        return None
    moment = _moment(text)
    if moment is not None:
        return moment, ""
    named = _NAMED.search(text)
    if named is None:
        return None
    moment = _moment(text[: named.start()])
    return None if moment is None else (moment, named.group().strip(" []"))


def _moment(text: str) -> Moment | None:
    return read_moment(text) or read_moment(f"2000-01-01 {text}")


_LITERALS = {"true": True, "false": False, "yes": True, "no": False, "null": None, "none": None}
_NUMBER = re.compile(r"[+-]?[0-9]{1,300}(?:\.[0-9]{1,300})?")
_LONGEST_TEXT = 10_000


def is_literal(text: str) -> bool:
    """Tell whether text reads as a number, a boolean or null."""
    return text.strip().lower() in _LITERALS or bool(_NUMBER.fullmatch(text.strip()))


def equal_after_coercion(one: object, other: object) -> bool:
    """Tell whether two unequal values of different types are equal once one takes the other's type.

    Text and what it is in JSON or Python (`"5"`, `"true"`, `"None"`, `"[1]"`); 1 and 0 and the booleans; a value and
    the list of it alone; a list of texts and its items joined by commas.
    """
    return _becomes(one, other) or _becomes(other, one)


def _becomes(one: object, other: object) -> bool:
    if isinstance(one, bool):
        return isinstance(other, int | float) and not isinstance(other, bool) and one == other
    if isinstance(one, list) and not isinstance(other, list):
        return len(one) == 1 and (_same(one[0], other) or _becomes(one[0], other) or _becomes(other, one[0]))
    if isinstance(one, str) and not isinstance(other, str):
        return _text_becomes(one, other)
    return False


def _text_becomes(text: str, value: object) -> bool:
    if len(text) > _LONGEST_TEXT:
        return False
    word = text.strip().lower()
    if value is None or isinstance(value, bool):
        return word in _LITERALS and _LITERALS[word] is value
    if isinstance(value, int | float):
        said, meant = read_amount(text.strip().removeprefix("+")), read_amount(value)
        return said is not None and meant is not None and not said.is_marked and said.number == meant.number
    if isinstance(value, list) and all(isinstance(item, str) for item in value) and "," in text:
        return [part.strip() for part in text.split(",")] == value
    try:
        return _same(load_json(text), value)
    except InvalidDocument:
        return False


def _same(one: object, other: object) -> bool:
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)
