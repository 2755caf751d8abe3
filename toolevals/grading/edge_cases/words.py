"""Tell what a parameter is about, by its name, format and description."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_IDENTIFIER_WORDS = """
    account city code contact customer email handle id identifier key login name nickname person place recipient ref
    reference sender sku slug street surname symbol tag user username
"""
_TIME_WORDS = """
    arrival at date datetime day deadline departure due end expires expiry since start time timestamp until when
"""
_MONEY_WORDS = """
    amount balance bill budget cents charge cost currency deposit discount eur expense fare fee gbp income invoice jpy
    money payment price refund rent revenue salary subtotal tax tip total usd wage
"""
_IDENTIFIERS = frozenset(_IDENTIFIER_WORDS.split())
_TIMES = frozenset(_TIME_WORDS.split())
_MONEY = frozenset(_MONEY_WORDS.split())
# Beside these a word of money counts something else: `total_pages`, `invoice_id`.
_COUNTS = frozenset({"count", "id", "items", "name", "nights", "number", "pages", "people", "quantity", "type"})
_MINOR = frozenset({"cents", "pence", "minor"})
_MONEY_TEXT = re.compile(r"\b(?:USD|EUR|GBP|JPY|CHF|dollars?|euros?|cents?|pounds sterling|currency)\b|[$€£¥]")
_TIME_TEXT = re.compile(r"\bISO[ -]?8601\b|\bRFC[ -]?3339\b|\btime ?zone\b|\bUTC\b", re.IGNORECASE)
_TIME_FORMATS = frozenset({"date-time", "date", "time"})
_NAME_FORMATS = frozenset({"email", "idn-email", "hostname", "idn-hostname", "uri", "iri"})
_LONGEST_DESCRIPTION = 2_000


@lru_cache(maxsize=1024)
def words_of(name: str) -> frozenset[str]:
    """Return the words of a name in snake, kebab or camel case, in lower case."""
    return frozenset(word.lower() for word in _WORD.findall(name))


def is_identifier(name: str, schema: dict[str, Any]) -> bool:
    """Tell whether a parameter holds what something is called or known by."""
    return not _IDENTIFIERS.isdisjoint(words_of(name)) or schema.get("format") in _NAME_FORMATS


def is_time(name: str, schema: dict[str, Any]) -> bool:
    """Tell whether a parameter holds a date or a time."""
    if isinstance(schema.get("format"), str):
        return schema["format"] in _TIME_FORMATS
    return not _TIMES.isdisjoint(words_of(name)) or bool(_TIME_TEXT.search(_description(schema)))


def is_money(name: str, schema: dict[str, Any]) -> bool:
    """Tell whether a parameter holds an amount of money or its currency."""
    words = words_of(name)
    if not _COUNTS.isdisjoint(words):
        return False
    return not _MONEY.isdisjoint(words) or bool(_MONEY_TEXT.search(_description(schema)))


def is_currency(name: str) -> bool:
    """Tell whether a parameter says in which currency or unit the amounts are."""
    return "currency" in words_of(name)


def is_minor(name: str) -> bool:
    """Tell whether a parameter holds an amount in the currency's hundredths."""
    return not _MINOR.isdisjoint(words_of(name))


def _description(schema: dict[str, Any]) -> str:
    text = schema.get("description")
    return text[:_LONGEST_DESCRIPTION] if isinstance(text, str) else ""
