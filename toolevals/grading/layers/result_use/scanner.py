"""Finds what a text asserts: numbers, dates, times and identifiers in one pass from left to right, names, sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from math import log10
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from toolevals.grading.layers.result_use.values import CURRENCIES, CURRENCY_WORDS, UNITS, WRITTEN, ClaimKind, unit_named

# A value in the form in which it is looked up: a number; letters and digits of an identifier; (year, month, day) with 0
# for what is not said; (minute of the day,).
Key: TypeAlias = int | float | str | tuple[int, int, int] | tuple[int]

# Longer texts are read as far as this; so long are words, to either side of a digit; so long is text that comes again.
MAX_TEXT = 100_000
MAX_WORD = 256
_SHORT_TEXT = 80
# Beyond it a number is an identifier.
_MAX_DIGITS = 24

_MONTHS = {
    word: month
    for row in (
        "january february march april may june july august september october november december",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "januar februar märz april mai juni juli august sept oktober november dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "januari februari maart april mei juni juli augustus september okt november dez",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    )
    for month, word in enumerate(row.split(), 1)
}
_WEEKDAYS = {
    word: day
    for row in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "mon tue wed thu fri sat sun",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "lunes martes miércoles jueves viernes sábado domingo",
        "lunedì martedì mercoledì giovedì venerdì sabato domenica",
        "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    )
    for day, word in enumerate(row.split())
}
_COUNTS = {
    word: count
    for row in (
        "two three four five six seven eight nine ten eleven twelve",
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "deux trois quatre cinq six sept huit neuf dix onze douze",
        "dos tres cuatro cinco seis siete ocho nueve diez once doce",
        "twee drie vier vijf zes zeven acht negen tien elf twaalf",
    )
    for count, word in enumerate(row.split(), 2)
} | {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
_MULTIPLIERS: Mapping[str, int] = {
    **dict.fromkeys(("k", "thousand", "tausend", "mille"), 10**3),
    **dict.fromkeys(("m", "mn", "mio", "million", "millions", "millionen"), 10**6),
    **dict.fromkeys(("b", "bn", "mrd", "billion", "billions", "milliarden"), 10**9),
}


def _any_of(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_DIGIT = re.compile(r"[0-9]")
_JOINED = "_-./:@#%&=?+~"
_WORD = re.compile(rf"[^\W_](?:\w|(?::/)?[{re.escape(_JOINED)}](?=[^\W_])){{0,{MAX_WORD}}}")
_LIST_MARK = re.compile(r"\d{1,3}[.)](?=\s|$)")
# Groups of digits that make one identifier; not those of thousands.
_CODE = re.compile(
    r"\d+(?:-\w+){2,}|(?!\d{1,3}(?: \d{3})+(?![ \d]))(?=(?:\d[ -]?){8})\d{1,7}(?:[ -]\d{2,7}){1,7}(?!\d)"
)
_MERIDIEM = r"(?:\s?([AaPp])(?:[Mm]\b|\.\s?[Mm]\.))"
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?!\d)(?:[T ](\d\d):(\d\d)(?::\d\d(?:[.,]\d{1,9})?)?(?:Z\b|[+-]\d\d:?\d\d)?)?")
_CLOCK = re.compile(rf"(\d{{1,2}})(?::(\d\d)(?::\d\d)?(?![\d:]){_MERIDIEM}?|{_MERIDIEM})")
_NUMERIC = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?![\d./-]*\d)")
_DAY_MONTH = re.compile(
    rf"(\d{{1,2}})(?:st|nd|rd|th|\.|º|er)?\s(?:of\s|de\s)?({_any_of(_MONTHS)})\b\.?"
    r"(?:,?\s(?:de\s|of\s)?((?:19|20)\d\d)\b)?",
    re.IGNORECASE,
)
_MONTH_BEFORE = re.compile(r"([^\W\d_]{3,10})\.? $")
_AFTER_MONTH = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th)?(?!\w|:\d|[.,]\d)(?:,?\s((?:19|20)\d\d)(?!\d|:\d|-\d))?|((?:19|20)\d\d)\b"
)
_WEEKDAY = re.compile(rf"(?<!\w)({_any_of(_WEEKDAYS)})[ ,(]*(?:(?:the|den) )?$", re.IGNORECASE)
_NUMBER = re.compile(
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}"
    r"|\d{1,3}(?:[ ']\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?"
)
_BEFORE = re.compile(
    rf"(?:(?:(?<![^\s(:|*~])([+−-]))?(?:US)?([$€£¥₹]) ?|({_any_of(CURRENCIES)}) )?(?:(?<![^\s(:|*~$€£])([+−-]))?\Z"
)
_SCALE = re.compile(rf"[ -]?({_any_of(_MULTIPLIERS)})\b\.?", re.IGNORECASE)
_UNIT = re.compile(
    rf"[ -]?(?:([$€£¥₹](?!\d)|(?:{_any_of(filter(str.islower, CURRENCY_WORDS))})\b)"
    rf"|((?:{_any_of(WRITTEN)})(?!\w)(/[a-z0-9]{{1,3}}\b)?))",
    re.IGNORECASE,
)
# What follows makes no number of the digits, unless it is the end of an ordinal.
_GOES_ON = re.compile(r"(?!(?:st|nd|rd|th)(?![^\W_]))\w", re.IGNORECASE)
# Words of letters, also joined as in `m.castellano`; and what ends a sentence, a line, a cell or a heading.
_LETTERS = re.compile(r"[^\W\d_]+(?:[._@-][^\W\d_]+)*")
_STARTS = re.compile(r"(?:[.!?:](?=[\s*\"”])|[\n|•]|\A)[\s*_#>|\"“„'(\[\d.)-]*\Z")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"”*_)]*\s|\n")
_TYPOGRAPHY = tuple(zip("\u2010\u2011\u2212\u00a0\u2009\u202f", "---   ", strict=True))
_place = itemgetter(0, 1)


class Mention(NamedTuple):
    """One value in a text, at `start` to `end`, under each key that it may be looked up by, the likeliest first.

    `unit` is a name of `units.UNITS` or an ISO 4217 code, empty where none is said. `step` is what one of the last
    digit that is written is worth. `weekday` is the one said before a date, Monday 0.
    """

    start: int
    end: int
    kind: ClaimKind
    keys: tuple[Key, ...]
    unit: str = ""
    step: float = 1.0
    weekday: int | None = None

    @property
    def numbers(self) -> tuple[float, ...]:
        """The numbers that it may be."""
        return tuple(key for key in self.keys if isinstance(key, int | float))

    @property
    def written(self) -> str:
        """A number's digits as it is written, without separators and sign: `4310`, `18.30`."""
        decimals = max(0, round(-log10(self.step))) if self.step < 1 else 0
        return f"{abs(self.numbers[0]):.{decimals}f}"

    @property
    def digits(self) -> int:
        """The number of digits, without zeros at the ends."""
        return len(self.written.replace(".", "").strip("0"))


def plain(text: str, most: int = MAX_TEXT) -> str:
    """Return the part of a text that is read, with typographic hyphens and spaces made plain, one for one."""
    text = text[:most]
    if not text.isascii():
        for typographic, simple in _TYPOGRAPHY:
            text = text.replace(typographic, simple)
    return text


def folded(identifier: str) -> str:
    """Return an identifier's letters and digits alone, without case: the form in which identifiers compare."""
    return "".join(letter for letter in identifier.casefold() if letter.isalnum())


def mentions_in(text: str, most: int = MAX_TEXT) -> Sequence[Mention]:
    """Return the first values of a text with digits, in order, none inside another."""
    return _short_mentions(text) if len(text) <= _SHORT_TEXT else _mentions(plain(text), most)


@lru_cache(maxsize=64)
def replies_mentions(text: str, most: int = MAX_TEXT) -> tuple[Mention, ...]:
    """Return the first values of what someone says: those of `mentions_in`, and counts in words."""
    text = plain(text)
    found = _mentions(text, most)
    for word in _LETTERS.finditer(text):
        if word[0].lower() in _COUNTS:
            found.append(Mention(*word.span(), "number", (_COUNTS[word[0].lower()],)))
    return tuple(sorted(found, key=_place)[:most])


def names_in(text: str, mentions: Sequence[Mention]) -> Iterator[tuple[int, int]]:
    """Yield where the names of a text stand; the words of values are none.

    Names are words with a capital inside a sentence, joined words, and those in scripts without capitals.
    """
    taken = iter(mentions)
    mention = next(taken, None)
    for word in _LETTERS.finditer(text):
        while mention is not None and mention.end <= word.start():
            mention = next(taken, None)
        if len(word[0]) == 1 or (mention is not None and mention.start < word.end()):
            continue
        is_joined = len(word[0]) > 4 and not {".", "_", "@"}.isdisjoint(word[0])
        if is_joined or not (word[0][0].islower() or _starts_sentence(text, word.start(), word[0][0])):
            yield word.span()


def _starts_sentence(text: str, start: int, first: str) -> bool:
    return first.isupper() and _STARTS.search(text[max(0, start - 40) : start]) is not None


def sentences(text: str, held: Sequence[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    """Yield the sentences that are no questions, and whether they hold a value or name at these places."""
    start, place = 0, 0
    ends = [*((found.start(), found.end()) for found in _SENTENCE_END.finditer(text)), (len(text), len(text))]
    for end, following in ends:
        while place < len(held) and held[place][1] <= start:
            place += 1
        sentence = text[start:end].strip()
        if _LETTERS.search(sentence) and not sentence.rstrip('"”*_)').endswith("?"):
            yield sentence, place < len(held) and held[place][0] < end
        start = following


def weekday_of(year: int, month: int, day: int) -> int | None:
    """Return the day of the week, Monday 0; None for a date that does not exist."""
    try:
        return date(year, month, day).weekday()
    except ValueError:
        return None


@lru_cache(maxsize=8192)
def _short_mentions(text: str) -> tuple[Mention, ...]:
    return tuple(_mentions(plain(text), MAX_TEXT))


def _mentions(text: str, most: int) -> list[Mention]:
    mentions: list[Mention] = []
    place = 0
    while len(mentions) < most and (digit := _DIGIT.search(text, place)):
        mention, place = _at_digit(text, digit.start(), place)
        if mention is not None:
            mentions.append(mention)
            place = max(place, mention.end)
    return mentions


def _at_digit(text: str, start: int, floor: int) -> tuple[Mention | None, int]:
    """Return what stands at the first unread digit, and where to read on."""
    first = start
    while first > max(floor, start - MAX_WORD) and (text[first - 1].isalnum() or text[first - 1] in _JOINED):
        first -= 1
    while text[first] in _JOINED:
        first += 1
    if first < start:
        return _word(text, first)
    line = text.rfind("\n", max(0, start - 12), start) + 1
    if (line or start <= 12) and not text[line:start].strip(" \t*#->_(") and (mark := _LIST_MARK.match(text, start)):
        return None, mark.end()
    moment = _after_month(text, start, floor) or _moment(text, start)
    if moment is not None:
        return _with_weekday(text, moment, floor), moment.end
    if code := _CODE.match(text, start):
        return _identifier(code), code.end()
    mention = _quantity(text, start, floor)
    return (mention, mention.end) if mention else _word(text, start)


def _word(text: str, start: int) -> tuple[Mention | None, int]:
    found = _WORD.match(text, start)
    return (_identifier(found), found.end()) if found else (None, start + 1)


def _identifier(found: re.Match[str]) -> Mention:
    return Mention(*found.span(), "identifier", (folded(found[0]),))


def _after_month(text: str, start: int, floor: int) -> Mention | None:
    """Return the date of a month's name and the day or year at `start`."""
    name = _MONTH_BEFORE.search(text, max(floor, start - 12), start)
    month = _MONTHS.get(name[1].lower()) if name else None
    found = _AFTER_MONTH.match(text, start) if month else None
    if name is None or month is None or found is None:
        return None
    keys = ((int(found[3]), month, 0),) if found[3] else _dates(int(found[2] or 0), month, int(found[1]))
    return _date(name.start(), found.end(), keys)


def _moment(text: str, start: int) -> Mention | None:
    """Return the date or time that begins with the digit at `start`, None where none does."""
    if found := _ISO.match(text, start):
        keys: tuple[Key, ...] = _dates(int(found[1]), int(found[2]), int(found[3]))
        time = ((int(found[4]) * 60 + int(found[5]),),) if keys and found[4] else ()
        return _date(start, found.end(), (*keys, *time))
    if found := _CLOCK.match(text, start):
        hour, minute, meridiem = int(found[1]), int(found[2] or 0), found[3] or found[4]
        if hour > 24 or minute > 59 or (meridiem and not 1 <= hour <= 12):
            return None
        hour = hour % 12 + 12 * (meridiem in "pP") if meridiem else hour % 24
        return Mention(start, found.end(), "time", ((hour * 60 + minute,),))
    if found := _NUMERIC.match(text, start):
        first, second, year = int(found[1]), int(found[3]), int(found[4]) + 2000 * (len(found[4]) == 2)
        either = () if found[2] == "." else _dates(year, first, second)
        return _date(start, found.end(), tuple(dict.fromkeys((*either, *_dates(year, second, first)))))
    if found := _DAY_MONTH.match(text, start):
        return _date(start, found.end(), _dates(int(found[3] or 0), _MONTHS[found[2].lower()], int(found[1])))
    return None


def _dates(year: int, month: int, day: int) -> tuple[tuple[int, int, int], ...]:
    return ((year, month, day),) if 1 <= month <= 12 and 1 <= day <= 31 else ()


def _date(start: int, end: int, keys: tuple[Key, ...]) -> Mention | None:
    return Mention(start, end, "date", keys) if keys else None


def _with_weekday(text: str, mention: Mention, floor: int) -> Mention:
    """Return a moment; a date with the weekday that stands before it."""
    head = max(floor, mention.start - 24)
    found = _WEEKDAY.search(text[head : mention.start]) if mention.kind == "date" else None
    if found is None:
        return mention
    return mention._replace(start=head + found.start(), weekday=_WEEKDAYS[found[1].lower()])


def _quantity(text: str, start: int, floor: int) -> Mention | None:
    """Return the number whose first digit is at `start`, None where the digits go on as something else.

    `floor` is where the text before it was already read.
    """
    found = _NUMBER.match(text, start)
    if found is None or len(found[0]) > _MAX_DIGITS:
        return None
    begin, end, (values, step) = start, found.end(), _read(found[0])
    unit, is_negative = "", False
    before = _BEFORE.search(text[max(0, start - 8) : start])
    if before is not None and start - len(before[0]) >= floor:
        begin, unit = start - len(before[0]), CURRENCY_WORDS.get(before[2] or "", before[3] or "")
        is_negative = not {before[1], before[4]}.isdisjoint("-−")
    scale = _SCALE.match(text, end)
    # A letter that is a unit too, metres or bytes, says millions of money alone.
    if scale and (unit or scale[1].lower() not in {"m", "b"}):
        factor = _MULTIPLIERS[scale[1].lower()]
        values, step, end = (_exact(values[0] * factor),), step * factor, scale.end()
    unit, end = (unit, end) if unit else _unit(text, end)
    if _GOES_ON.match(text, end):
        return None
    if unit in CURRENCIES and len(values) > 1:
        # No one writes money with three decimals.
        values, step = (max(values),), 1.0
    return Mention(begin, end, _kind(unit), tuple(-value for value in values) if is_negative else values, unit, step)


def _kind(unit: str) -> ClaimKind:
    if unit in CURRENCIES:
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
        return CURRENCY_WORDS[found[1].lower()], found.end()
    base, slash, _ = found[2].lower().partition("/")
    if slash and (quotient := unit_named(found[2])):
        return quotient, found.end()
    return WRITTEN[base], found.start(3) if slash else found.end()


def _read(written: str) -> tuple[tuple[float, ...], float]:
    """Return the readings of a written number, the likeliest first, and what one of its last digit is worth.

    Three digits after a dot alone are decimals, or thousands where people write a comma for decimals; after a comma
    alone they are thousands or decimals.
    """
    digits_only = "".join(letter for letter in written if letter.isdigit() or letter in ".,")
    digits = int(digits_only.replace(",", "").replace(".", ""))
    place = max(digits_only.rfind(","), digits_only.rfind("."))
    decimals, is_mixed = len(digits_only) - place - 1, "," in digits_only and "." in digits_only
    is_alone = digits_only.count(",") + digits_only.count(".") == 1
    is_either = is_alone and decimals == 3 and digits_only[0] != "0"
    if not is_mixed and not (is_alone and (digits_only[place] == "." or not is_either)):
        return ((digits, _exact(digits / 1000)) if is_either else (digits,)), 1.0
    value, step = _exact(digits / 10**decimals), 10.0**-decimals
    return ((value, digits) if is_either else (value,)), step


def _exact(value: float) -> float:
    """Return the value without the noise of binary fractions; an int where it is whole."""
    rounded = round(value, 6)
    return int(rounded) if rounded == int(rounded) else rounded
