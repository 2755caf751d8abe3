"""Finds every value in a text in one pass from left to right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter

from toolevals.grading.layers.result_use.moments import date_after_month, moment_at
from toolevals.grading.layers.result_use.quantities import quantity_at
from toolevals.grading.layers.result_use.values import Mention
from toolevals.grading.layers.result_use.words import MONTHS, NUMBER_WORDS
from toolevals.grading.values.patterns import compile_pattern

# Longer texts are read as far as this.
MAX_TEXT = 100_000
# An identifier is no longer than this, counted to either side of its first digit.
MAX_WORD = 256
MAX_DAY = 31

_DIGIT = re.compile(r"[0-9]")
_WORD = re.compile(rf"[^\W_](?:\w|[-./:@#%&=?+~](?=[^\W_])){{0,{MAX_WORD}}}")
_JOINED = "_-./:@#%&=?+~"
_MONTH_BEFORE = re.compile(r"([^\W\d_]{3,10})\.? $")
# How what may be a month's name ends.
_MONTH_ENDS = frozenset(letter for name in MONTHS for letter in (name[-1], name[-1].upper())) | {"."}
_HEX = "[0-9a-fA-F]"
_UUID = re.compile(rf"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}(?!\w)")
_PHONE = re.compile(r"\+?\(?\d{2,3}\)?[ -]\d{3}[ -]\d{4}(?!\d)|\+\d{1,3}(?:[ -]?\(?\d{1,5}\)?){2,5}(?!\d)")
_ADDRESS = re.compile(
    r"https?://[^\s<>\"'`)\]}|\\^]{0,2000}[^\s<>\"'`)\]}|\\^.,;:!?*_]"
    r"|(?<![\w+-])[^\W_][\w.+-]{0,63}@[^\W_][\w-]{0,62}(?:\.[^\W_][\w-]{0,62}){1,6}"
)
# Whether there is any at all is found out much sooner than where.
_NUMBER_WORD = compile_pattern(rf"(?i)\b(?:{'|'.join(NUMBER_WORDS)})\b")
# A word as long as the names of small numbers are.
_LETTERS = re.compile(r"(?<![\w-])[^\W\d_]{3,6}(?![\w-])")
_LIST_MARK = re.compile(r"\d{1,3}[.)](?=\s|$)")
_TYPOGRAPHY = tuple(zip("\u2010\u2011\u2212\u00a0\u2009\u202f", "---   ", strict=True))
# Groups of digits that make one identifier: digits in all, characters of one.
MIN_GROUPED = 8
MAX_GROUP = 8
MAX_SHORT = 4
MAX_GAP = 6
_RANGE_WORDS = frozenset({"-", "–", "to", "or", "bis", "à"})
_place = itemgetter(0, 1)


def plain(text: str, most: int = MAX_TEXT) -> str:
    """Return the part of a text that is read, with typographic hyphens and spaces made plain, one for one."""
    text = text[:most]
    if not text.isascii():
        for typographic, simple in _TYPOGRAPHY:
            text = text.replace(typographic, simple)
    return text


def mentions_in(text: str, most: int = MAX_TEXT) -> list[Mention]:
    """Return the values of a text, in order, none inside another.

    Reading ends after the first `most` of those that are no addresses.
    """
    text = plain(text)
    mentions: list[Mention] = []
    if "@" in text or "://" in text:
        mentions = [_identifier(address.start(), address[0]) for address in _ADDRESS.finditer(text)]
    addresses, place = mentions[::-1], 0
    most += len(mentions)
    while len(mentions) <= most and (digit := _DIGIT.search(text, place)):
        start = digit.start()
        while addresses and addresses[-1].end <= start:
            addresses.pop()
        if addresses and addresses[-1].start <= start:
            place = addresses[-1].end
            continue
        mention, place = _at_digit(text, start, place)
        if mention is not None:
            mentions.append(mention)
    mentions.sort(key=_place)
    for at, (first, second) in enumerate(pairwise(mentions)):
        # "5 to 10 days" are both days.
        is_bare = first.kind == "number" and not first.unit and second.unit and first.value < second.value
        if is_bare and text[first.end : second.start].strip(" ").lower() in _RANGE_WORDS:
            mentions[at] = first._replace(kind=second.kind, unit=second.unit, is_weak=False)
    return list(_grouped(text, mentions))


@lru_cache(maxsize=8192)
def short_mentions(text: str) -> tuple[Mention, ...]:
    """Return the values of a short text; the same ones come again and again in results."""
    return tuple(mentions_in(text))


@lru_cache(maxsize=64)
def replies_mentions(text: str, most: int = MAX_TEXT) -> tuple[Mention, ...]:
    """Return the first values of a reply: those of `mentions_in`, counts in words, days after dates."""
    found = mentions_in(text, most)
    text = plain(text)
    if not text.isascii() or _NUMBER_WORD.search(text) is not None:
        for word in _LETTERS.finditer(text):
            number = NUMBER_WORDS.get(word[0].lower())
            if number is not None:
                found.append(Mention(*word.span(), "number", (number,), is_weak=True))
        found.sort(key=_place)
    return tuple(_with_days(text, found[:most]))


def identifier_key(text: str) -> str:
    """Return the form in which identifiers compare: case and a leading `#` do not matter."""
    return text.lstrip("#").casefold()


def at_line_start(text: str, start: int) -> bool:
    """Return whether only marks of a list or of emphasis stand between the line's start and here."""
    line = text.rfind("\n", max(0, start - 12), start) + 1
    return (line > 0 or start <= 12) and not text[line:start].strip(" \t*#->_(")


def _with_days(text: str, mentions: list[Mention]) -> list[Mention]:
    """Return the values with the days of "May 22-23" and "May 22, 23 or 24" as dates."""
    for place in range(1, len(mentions)):
        date, mention = mentions[place - 1 : place + 1]
        key, number = date.keys[0], mention.keys[0]
        if date.kind != "date" or mention.kind != "number" or mention.unit or not isinstance(number, int):
            continue
        if isinstance(key, tuple) and len(key) == 3 and key[2] < number <= MAX_DAY:
            gap = text[date.end : mention.start]
            if len(gap) <= MAX_GAP and gap.strip(" ,-–/") in {"", "and", "or", "to"}:
                mentions[place] = mention._replace(kind="date", keys=((*key[:2], number),), is_weak=False)
    return mentions


def _grouped(text: str, mentions: list[Mention]) -> Iterator[Mention]:
    """Yield the values with groups of digits as one identifier: "DE02 1203 0000", "030 1234567"."""
    place = 0
    while place < len(mentions):
        end = place
        while end + 1 < len(mentions) and _is_group(mentions[end]) and _is_group(mentions[end + 1]):
            if text[mentions[end].end : mentions[end + 1].start] != " ":
                break
            end += 1
        whole = text[mentions[place].start : mentions[end].end]
        if end > place and sum(letter.isdigit() for letter in whole) >= MIN_GROUPED:
            yield _identifier(mentions[place].start, whole)
        else:
            yield from mentions[place : end + 1]
        place = end + 1


def _is_group(mention: Mention) -> bool:
    return mention.kind in {"number", "identifier"} and not mention.unit and mention.end - mention.start <= MAX_GROUP


def _at_digit(text: str, start: int, floor: int) -> tuple[Mention | None, int]:
    """Return what stands at the first unread digit, and where to read on."""
    before = text[start - 1] if start > floor else " "
    if before.isalnum() or before in "_#./:@-":
        first = start
        while first > max(floor, start - MAX_WORD) and (text[first - 1].isalnum() or text[first - 1] in _JOINED):
            first -= 1
        while text[first] in _JOINED:
            first += 1
        if first < start:
            return _word(text, first)
    if before == " " and text[start - 2 : start - 1] in _MONTH_ENDS:
        name = _MONTH_BEFORE.search(text, max(floor, start - 12), start)
        month = MONTHS.get(name[1].lower()) if name else None
        if name and month and (date := date_after_month(text, start, name.start(), month)):
            return date, date.end
    if (mark := _LIST_MARK.match(text, start)) and at_line_start(text, start):
        return None, mark.end()
    mention = _phone(text, start, floor) or moment_at(text, start) or _code(text, start)
    mention = mention or quantity_at(text, start, floor)
    if mention is None:
        return _word(text, start)
    return mention, max(mention.end, start + 1)


def _phone(text: str, start: int, floor: int) -> Mention | None:
    begin = start
    while begin > floor and text[begin - 1] in "+(":
        begin -= 1
    found = _PHONE.match(text, begin)
    digits = "".join(_DIGIT.findall(found[0])) if found else ""
    return Mention(begin, found.end(), "identifier", (f"+{digits}",)) if found and len(digits) >= 9 else None


def _code(text: str, start: int) -> Mention | None:
    """Return the identifier that begins with a digit: a UUID, or digits joined by hyphens that are no range."""
    if "-" not in text[start : start + 9]:
        return None
    if uuid := _UUID.match(text, start):
        return _identifier(start, uuid[0])
    word = _WORD.match(text, start)
    parts = word[0].split("-") if word else []
    if word is None or len(parts) < 2 or not all(parts) or max(map(len, parts)) < 3:
        return None
    if len(parts) == 2 and (not parts[1].isdecimal() or _is_range(*parts)):
        return None
    return _identifier(start, word[0])


def _is_range(first: str, last: str) -> bool:
    """Return whether two parts are a short number and a larger one, or the days of `4/19-25`."""
    return len(first) <= MAX_SHORT and (not first.isdecimal() or int(last[:9]) > int(first))


def _word(text: str, start: int) -> tuple[Mention | None, int]:
    found = _WORD.match(text, start)
    return (_identifier(start, found[0][:MAX_WORD]), found.end()) if found else (None, start + 1)


def _identifier(start: int, text: str) -> Mention:
    return Mention(start, start + len(text), "identifier", (identifier_key(text),))
