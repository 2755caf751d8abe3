"""Every value in a text, found in one pass from left to right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from operator import itemgetter

from toolevals.grading.patterns import compile_pattern
from toolevals.grading.result_use.lexicon import MONTHS, NUMBER_WORDS
from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.moments import dates_after_month, moment_at, short_date_at
from toolevals.grading.result_use.quantities import quantity_at
from toolevals.grading.result_use.values import Key

# Longer texts are read as far as this.
MAX_TEXT = 100_000
# An identifier is no longer than this, counted to either side of its first digit.
MAX_WORD = 256
_SHORT_TEXT = 80

_DIGIT = re.compile(r"[0-9]")
_JOINED = "_-./:@#%&=?+~"
_WORD = re.compile(rf"[^\W_](?:\w|[-./:@#%&=?+~](?=[^\W_])){{0,{MAX_WORD}}}")
_HEX = "[0-9a-fA-F]"
_UUID = re.compile(rf"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}(?!\w)")
_PHONE = re.compile(r"\+?\(?\d{2,3}\)?[ -]\d{3}[ -]\d{4}(?!\d)|\+\d{1,3}(?:[ -]?\(?\d{1,5}\)?){2,5}(?!\d)")
_URL = re.compile(r"https?://[^\s<>\"'`)\]}|\\^]{1,2000}")
_DOMAIN = re.compile(r"@[^\W_][\w-]{0,62}(?:\.[^\W_][\w-]{0,62}){1,6}")
# Whether there is any at all is found out much sooner than where.
_NUMBER_WORD = compile_pattern(rf"(?i)\b(?:{'|'.join(NUMBER_WORDS)})\b")
# A word as long as the names of small numbers are.
_LETTERS = re.compile(r"\b[^\W\d_]{3,6}\b")
_LIST_MARK = re.compile(r"\d{1,3}[.)](?=\s|$)")
# How what may be a month's name ends.
_MONTH_ENDS = frozenset(letter for name in MONTHS for letter in (name[-1], name[-1].upper())) | {"."}
_TYPOGRAPHY = tuple(zip("\u2010\u2011\u2212\u00a0\u2009\u202f", "---   ", strict=True))
_place = itemgetter(0, 1)
MAX_DAY = 31
# Groups of digits that make one identifier: digits in all, characters of one.
MIN_GROUPED = 8
MAX_GROUP = 8
MAX_SHORT = 4
MAX_GAP = 6
_RANGE_WORDS = frozenset({"-", "–", "to", "or", "bis", "à"})
_DIGITS = re.compile(r"\d+")


def plain(text: str, most: int = MAX_TEXT) -> str:
    """Return the part of a text that is read, with typographic hyphens and spaces made plain, one for one."""
    text = text[:most]
    if not text.isascii():
        for typographic, simple in _TYPOGRAPHY:
            text = text.replace(typographic, simple)
    return text


def mentions_in(text: str, most: int = MAX_TEXT) -> list[Mention]:
    """Return the values of a text, in order, none inside another but for values inside quotations.

    Reading ends after the first `most` of those that are no addresses.
    """
    text = plain(text)
    found = _addresses(text)
    found.sort(key=_place)
    addresses, passed = list(found), 0
    place = 0
    most += len(found)
    while len(found) <= most and (digit := _DIGIT.search(text, place)):
        start = digit.start()
        while passed < len(addresses) and addresses[passed].end <= start:
            passed += 1
        if passed < len(addresses) and addresses[passed].start <= start:
            place = addresses[passed].end
            continue
        mentions, place = _at_digit(text, start, place)
        found.extend(mentions)
    found.sort(key=_place)
    for at in range(len(found) - 1):
        if found[at + 1].unit and found[at].kind == "number":
            found[at] = _with_unit_of_next(text, found[at], found[at + 1])
    return found


def replies_mentions(text: str, most: int = MAX_TEXT) -> list[Mention]:
    """Return the first values of a reply: those of `mentions_in`, and counts in words."""
    found = mentions_in(text, most)
    text = plain(text)
    found.extend(_counts_in_words(text))
    found.sort(key=_place)
    return _grouped(text, _with_days(text, found[:most]))


def _grouped(text: str, mentions: list[Mention]) -> list[Mention]:
    """Return the values with three or more groups of digits as one identifier: "DE02 1203 0000", "0664 555 0198"."""
    grouped: list[Mention] = []
    place = 0
    while place < len(mentions):
        end = place
        while end + 1 < len(mentions) and _is_group(mentions[end]) and _is_group(mentions[end + 1]):
            if text[mentions[end].end : mentions[end + 1].start] != " ":
                break
            end += 1
        whole = text[mentions[place].start : mentions[end].end]
        if end - place >= 2 and sum(letter.isdigit() for letter in whole) >= MIN_GROUPED:
            grouped.append(_identifier(mentions[place].start, mentions[end].end, whole))
        else:
            grouped.extend(mentions[place : end + 1])
        place = end + 1
    return grouped


def _is_group(mention: Mention) -> bool:
    return mention.kind in {"number", "identifier"} and not mention.unit and mention.end - mention.start <= MAX_GROUP


def _counts_in_words(text: str) -> Iterator[Mention]:
    if text.isascii() and _NUMBER_WORD.search(text) is None:
        return
    for word in _LETTERS.finditer(text):
        number = NUMBER_WORDS.get(word[0].lower())
        if number is not None:
            start, end = word.span()
            if text[start - 1 : start] != "-" and text[end : end + 1] != "-":
                yield Mention(start, end, "number", (number,), is_weak=True)


def _with_days(text: str, mentions: list[Mention]) -> list[Mention]:
    """Return the values with the days of "May 22, 23 or 24" as dates."""
    for place in range(1, len(mentions)):
        date, mention = mentions[place - 1 : place + 1]
        key, number = date.keys[0], mention.keys[0]
        if date.kind != "date" or mention.kind != "number" or mention.unit or not isinstance(number, int):
            continue
        if isinstance(key, tuple) and len(key) == 3 and key[2] < number <= MAX_DAY:
            gap = text[date.end : mention.start]
            if len(gap) <= MAX_GAP and gap.strip(" ,-–/") in {"", "and", "or"}:
                mentions[place] = mention._replace(kind="date", keys=((*key[:2], number),), is_weak=False)
    return mentions


def _with_unit_of_next(text: str, mention: Mention, following: Mention) -> Mention:
    """Return the first of "5 to 10 days" with the unit of the second."""
    if mention.unit or following.is_weak:
        return mention
    if text[mention.end : following.start].strip(" ").lower() not in _RANGE_WORDS:
        return mention
    return mention._replace(kind=following.kind, unit=following.unit, is_weak=False)


@lru_cache(maxsize=8192)
def short_mentions(text: str) -> tuple[Mention, ...]:
    """Return the values of a short text; the same ones come again and again in results."""
    return tuple(mentions_in(text))


@lru_cache(maxsize=16)
def _long_mentions(text: str) -> tuple[Mention, ...]:
    return tuple(mentions_in(text))


def value_mentions(text: str) -> tuple[Mention, ...]:
    """Return the values of a field or an instruction, kept where the same text is likely to come again."""
    if len(text) <= _SHORT_TEXT:
        return short_mentions(text)
    return _long_mentions(text) if len(text) > 2_000 else tuple(mentions_in(text))


def identifier_key(text: str) -> str:
    """Return the form in which identifiers compare: case and a leading `#` do not matter."""
    return text.lstrip("#").casefold()


def _addresses(text: str) -> list[Mention]:
    """Return URLs and e-mail addresses."""
    found: list[Mention] = []
    if "://" in text:
        for url in _URL.finditer(text):
            address = url[0].rstrip(".,;:!?*_")
            found.append(_identifier(url.start(), url.start() + len(address), address))
    place = text.find("@") if "@" in text else -1
    while place >= 0:
        domain = _DOMAIN.match(text, place)
        start = _walk_left(text, place, max(place - 64, 0), "._+-")
        if domain and start < place:
            found.append(_identifier(start, domain.end(), text[start : domain.end()]))
        place = text.find("@", domain.end() if domain else place + 1)
    return found


def _walk_left(text: str, place: int, floor: int, joined: str) -> int:
    while place > floor and (text[place - 1].isalnum() or text[place - 1] in joined):
        place -= 1
    while text[place : place + 1] in joined and text[place : place + 1]:
        place += 1
    return place


def _at_digit(text: str, start: int, floor: int) -> tuple[list[Mention], int]:
    """Return what stands at the first unread digit, and where to read on."""
    before = text[start - 1] if start > floor else " "
    if before.isalnum() or before in "_#./:@-":
        word_start = _walk_left(text, start, max(floor, start - MAX_WORD), _JOINED)
        if word_start < start:
            return _word(text, word_start)
    if before == " " and text[start - 2 : start - 1] in _MONTH_ENDS and (dates := _with_month(text, start, floor)):
        return dates, dates[-1].end
    if (mark := _LIST_MARK.match(text, start)) and at_line_start(text, start):
        return [], mark.end()
    mention = (
        (_phone(text, start, floor) if before in "+(" or _PHONE.match(text, start) else None)
        or moment_at(text, start)
        or _code(text, start)
        or quantity_at(text, start, floor)
    )
    if mention is None:
        return _word(text, start)
    mention = _settled(text, mention, start)
    return [mention], max(mention.end, start + 1)


def at_line_start(text: str, start: int) -> bool:
    """Whether only marks of a list or of emphasis stand between the line's start and here."""
    line = text.rfind("\n", max(0, start - 12), start) + 1
    if line == 0 and start > 12:
        return False
    return not text[line:start].strip(" \t*#->_(")


def _settled(text: str, mention: Mention, start: int) -> Mention:
    """Return `5/27` as a date only where both parts can be, and the numbers after "option" as weak."""
    if mention.kind == "number" and text[mention.end : mention.end + 1] == "/" and not mention.unit:
        return short_date_at(text, start) or mention
    return mention


def _with_month(text: str, start: int, floor: int) -> list[Mention]:
    """Return the date that a month's name before the digit makes."""
    end = start - 1
    if text[end - 1 : end] == ".":
        end -= 1
    first = end
    while first > floor and end - first < 11 and text[first - 1].isalpha():
        first -= 1
    month = MONTHS.get(text[first:end].lower()) if end - first >= 3 else None
    return dates_after_month(text, start, first, month) if month else []


def _phone(text: str, start: int, floor: int) -> Mention | None:
    begin = start
    while begin > floor and text[begin - 1] in "+(":
        begin -= 1
    if (found := _PHONE.match(text, begin)) is None:
        return None
    digits = "".join(_DIGITS.findall(found[0]))
    return Mention(begin, found.end(), "identifier", (f"+{digits}",)) if len(digits) >= 9 else None


def _code(text: str, start: int) -> Mention | None:
    """Return the identifier that begins with a digit: a UUID, or digits joined by hyphens that are no range."""
    follower = text[start : start + 9]
    if "-" not in follower:
        return None
    if uuid := _UUID.match(text, start):
        return _identifier(start, uuid.end(), uuid[0])
    word = _WORD.match(text, start)
    parts = word[0].split("-") if word else []
    if word is None or len(parts) < 2 or not all(parts):
        return None
    if len(parts) == 2 and (not parts[1].isdecimal() or _is_range(*parts)):
        return None
    return _identifier(start, word.end(), word[0]) if max(map(len, parts)) > 2 else None


def _is_range(first: str, last: str) -> bool:
    """Whether two parts are a short number and a larger one, or the days of `4/19-25`."""
    return len(first) <= MAX_SHORT and (not first.isdecimal() or int(last[:9]) > int(first))


def _word(text: str, start: int) -> tuple[list[Mention], int]:
    found = _WORD.match(text, start)
    if found is None:
        return [], start + 1
    word = found[0][:MAX_WORD]
    return [_identifier(start, start + len(word), word)], found.end()


def _identifier(start: int, end: int, text: str) -> Mention:
    keys: tuple[Key, ...] = (identifier_key(text),)
    return Mention(start, end, "identifier", keys)
