"""Reads amounts of money as arguments hold them: `45`, `"$45.00"`, `"45 USD"`, `"4,500 cents"`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from toolevals.grading.values.matchers import decimal_value, is_finite

MAX_LENGTH = 40
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


def read_amount(value: Any) -> Amount | None:
    """Return the amount that a value is; None where it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return Amount(decimal_value(value)) if is_finite(value) else None
    if not isinstance(value, str) or len(value) > MAX_LENGTH or not _DIGIT.search(value):
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
