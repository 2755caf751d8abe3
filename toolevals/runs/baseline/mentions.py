"""Tell what a text mentions that could be an argument: numbers, dates, codes, addresses, quotations, names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Any


class Kind(Enum):
    """The sort of thing that is mentioned."""

    QUOTED = "quoted"
    EMAIL = "email"
    URL = "url"
    DATE = "date"
    CODE = "code"
    NUMBER = "number"
    PERCENT = "percent"
    COUNT = "count"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Mention:
    """One thing in a text, from character `start` to `end`."""

    kind: Kind
    value: Any
    start: int
    end: int


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_WORD = r"[A-Z](?:[\w'’-]|\.(?=\w))*"
_SMALL = "two three four five six seven eight nine ten"
_COUNTS = {word: count for count, word in enumerate(_SMALL.split(), 2)}
# Words that open a sentence or address someone are capitals without being names.
_OPENINGS = (
    "i can could would will what when where which who how why please find calculate get give show tell book order "
    "create make set send check the a an my is are do does add update cancel play search help hi hello thanks and"
)
_NOT_NAMES = frozenset(_OPENINGS.split())


def _quoted(match: re.Match[str]) -> str:
    return match[1]


def _date(match: re.Match[str]) -> date | None:
    """Return the day that is meant, or None where there is no such day."""
    month = match["month"]
    number = int(month) if month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
    try:
        return date(int(match["year"]), number, int(match["day"]))
    except ValueError:
        return None


def _code(match: re.Match[str]) -> str | None:
    """Return what has a digit, such as `ORD-9182` or `2019-2020`; "5-day" is a number and a word."""
    return match[0] if re.search(r"\d", match[0]) and not re.fullmatch(r"\d+-[a-z]+", match[0]) else None


def _number(match: re.Match[str]) -> int | float:
    text = match[0].rstrip(" %").replace(",", "")
    return float(text) if "." in text else int(text)


def _count(match: re.Match[str]) -> int:
    return _COUNTS[match[0].lower()]


def _name(match: re.Match[str]) -> str | None:
    """Return capitalised words; one that only opens a sentence is no name."""
    text = match[0]
    first, _, rest = text.partition(" ")
    opens = not match.string[: match.start()].rstrip() or match.string[: match.start()].rstrip()[-1] in ".?!:"
    if first.lower().partition("'")[0] in _NOT_NAMES or (opens and not rest):
        text = rest
    return text or None


# In order: what an earlier line took, a later one leaves alone.
_FORMS: tuple[tuple[Kind, re.Pattern[str], Callable[[re.Match[str]], Any]], ...] = (
    (Kind.QUOTED, re.compile(r"\"([^\"\n]{1,200})\"|“([^”\n]{1,200})”"), lambda match: match[1] or match[2]),
    (Kind.QUOTED, re.compile(r"(?<!\w)'([^'\n]{1,200})'(?!\w)"), _quoted),
    (Kind.EMAIL, re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"), lambda match: match[0]),
    (Kind.URL, re.compile(r"https?://[^\s<>\"']{1,500}[^\s<>\"'.,;:!?)]"), lambda match: match[0]),
    (Kind.DATE, re.compile(rf"\b{_YEAR}[-/](?P<month>\d{{1,2}})[-/](?P<day>\d{{1,2}})\b"), _date),
    (Kind.DATE, re.compile(rf"\b(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}})/{_YEAR}\b"), _date),
    (Kind.DATE, re.compile(rf"\b{_MONTH} {_DAY},? {_YEAR}\b", re.IGNORECASE), _date),
    (Kind.DATE, re.compile(rf"\b{_DAY}(?: of)? {_MONTH},? {_YEAR}\b", re.IGNORECASE), _date),
    (Kind.CODE, re.compile(r"\b[A-Za-z0-9]+(?:[-_#][A-Za-z0-9]+)+\b|\b[A-Za-z]+\d\w*\b|#\w*\d\w*"), _code),
    (Kind.PERCENT, re.compile(r"(?<![\w.])-?\d+(?:\.\d+)? ?%"), _number),
    (Kind.NUMBER, re.compile(r"(?<![\w.])(?:(?<!-)-)?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"), _number),
    (Kind.COUNT, re.compile(rf"\b(?:{'|'.join(_COUNTS)})\b", re.IGNORECASE), _count),
    (Kind.NAME, re.compile(rf"\b{_WORD}(?:(?:,? | of | de ){_WORD}){{0,5}}"), _name),
)


def mentions(text: str) -> list[Mention]:
    """Return everything that `text` mentions, in order; no two overlap."""
    taken = bytearray(len(text))
    return sorted(
        (mention for form in _FORMS for mention in _found(text, taken, *form)), key=lambda mention: mention.start
    )


def _found(
    text: str, taken: bytearray, kind: Kind, pattern: re.Pattern[str], read: Callable[[re.Match[str]], Any]
) -> Iterator[Mention]:
    for match in pattern.finditer(text):
        start, end = match.span()
        if any(taken[start:end]) or (value := read(match)) is None:
            continue
        taken[start:end] = b"\1" * (end - start)
        yield Mention(kind, value, start, end)
