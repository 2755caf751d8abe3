"""Scrub personal data from values and spans: what the rules find is replaced by the rule's name in brackets.

`scrubbed(value, rules)` returns the value without it, and how often each rule found something. JSON inside text is read
as the readers of spans read it, so that a field is known by its name at any depth. A document of OTLP stays one.

Find personal data in text: e-mail addresses, phone numbers, payment cards and IBANs.

Each finder yields places in a text. A number counts only where it is one by its own check: Luhn's digit and an issuer's
range for cards, ISO 7064 (mod 97) and the country's length for IBANs, a form of writing for phones. Ids, dates, times
and versions are not numbers of people. All patterns are bounded, so that time grows with the length of the text alone.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property, lru_cache
from typing import Any, Final, Literal, TypeVar

from toolevals.grading.reading.telemetry.otlp import SpanEvent, TelemetrySpan
from toolevals.grading.values.canonical import MAX_DEPTH, exact
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.matchers import compile_pattern
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject

Place = tuple[int, int]
BuiltIn = Literal["iban", "card", "email", "phone"]

_EMAIL = re.compile(
    r"\w[\w.+'%&~!#$*-]{0,63}(?:@|%40)"
    r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}(?:xn--[a-z0-9-]{2,59}|[^\W\d_]{2,24})(?![\w-]*@)",
    re.IGNORECASE,
)
# Pictures for dense screens: logo@2x.png.
_DENSITY = re.compile(r"@[1-9]x\.(?:png|jpe?g|gif|svg|webp|avif)", re.IGNORECASE)

_CARD = re.compile(
    r"(?<!\w)(?<!\w-)(?<!\d\.)(?=("
    r"\d{13,19}|\d{4}([ -])\d{4}\2\d{4}\2\d{4}(?:\2\d{1,3})?|3\d{3}([ -])\d{6}\3\d{4,5}"
    r")(?!\w|-\w|\.\d))",
    re.ASCII,
)
# Issuers' ranges with the lengths of their numbers.
_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]\d{2}|222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d|9\d)\d{11,16}|(?:6011|64[4-9]\d|65\d{2})\d{12,15}|35(?:2[89]|[3-8]\d)\d{12,15}"
    r"|62\d{14,17}|(?:50|5[6-8]|6[37])\d{11,17}",
    re.ASCII,
)

_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}(?=\d{2})", re.ASCII)
_IBAN_LENGTHS: Mapping[str, int] = {
    country: int(length)
    for length, countries in (
        line.split(":")
        for line in (
            "15:NO", "16:BE", "18:DK FI FK FO GL NL SD", "19:MK SI", "20:AT BA EE KZ LT LU MN XK", "21:CH CR HR LI LV",
            "22:BG BH DE GB GE IE ME RS VA", "23:AE GI IL IQ OM SO TL", "24:AD CZ DZ ES MD PK RO SA SE SK TN VG",
            "25:AO CV GW LY MZ PT ST", "26:IR IS TR", "27:BF BI CF CG CM DJ EG FR GA GR IT MC MG ML MR SM",
            "28:AL AZ BJ BY CI CY DO GT HN HU LB NE NI PL SN SV TG", "29:BR PS QA UA", "30:JO KW MU YE", "31:MT SC",
            "32:LC", "33:RU",
        )
    )
    for country in countries.split()
}  # fmt: skip

_BEFORE, _AFTER = r"(?<![\w+])(?<!\w[-./])", r"(?!\w|[-./:]\d)"
_ALONE = rf"{_BEFORE}(?<!\d )"
_CUE = (
    r"(?i:(?<![a-z])(?:(?:tele)?phone|telefon|t[ée]l[ée]phone|tel|mobile|cell(?:phone)?|fax|whatsapp|sms|handy|m[óo]vil)"
    r"(?:[ _-]?(?:number|no|nr))?[.\"']{0,2}\s{0,3}(?:[:=]|is|was|at|to)?\s{0,3}[\"']?)"
)
_PHONES = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        # +4917012345678; +1 (212) 555-0123; +49 (0) 170 / 123 45 67
        rf"(?<![\w+])(?P<number>\+[1-9]\d{{8,14}}){_AFTER}",
        rf"(?<![\w+])(?P<number>\+1[ .-]?\(?\d{{3}}\)?[ .-]{{0,2}}\d{{3}}[ .-]?\d{{4}}){_AFTER}",
        rf"(?<![\w+])(?P<number>\+(?=[ (]?[2-9])(?:[ ().\-/]{{0,3}}\d){{8,15}}){_AFTER}",
        # 0049 170 1234567
        rf"{_BEFORE}(?P<number>00[1-9]\d{{0,2}}(?:[ /-]\(?\d{{1,8}}\)?){{2,6}}){_AFTER}",
        # (212) 555-0123; 212-555-0123
        rf"{_ALONE}(?P<number>(?:1[ .-])?\([2-9]\d{{2}}\)[ -]?\d{{3}}[ .-]\d{{4}}){_AFTER}(?! \d)",
        rf"{_ALONE}(?P<number>(?:1[ .-])?[2-9]\d{{2}}([ .-])\d{{3}}\2\d{{4}}){_AFTER}(?! \d)",
        # 030 1234567; (0170) 123 45 67; 06 12 34 56 78
        rf"{_ALONE}(?P<number>(?:\(0[1-9]\d{{0,4}}\)|0[1-9]\d{{0,4}})(?:[ ./-]{{1,2}}\d{{2,8}}){{1,5}}){_AFTER}",
        # after the word "phone": 5550123
        rf"{_CUE}(?P<number>\(?\d(?:[ ().\-/]{{0,2}}\d){{6,14}}){_AFTER}",
    )
)
_DATE = re.compile(r"\+?(?:\d{4}([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2(?:\d{4}|\d{2}))(?!\d)", re.ASCII)
_DECIMAL = re.compile(r"\+\d+\.\d+", re.ASCII)
_MOST_OF_NATIONAL = 12
_FEWEST_OF_NATIONAL = 9


def plain(text: str) -> str:
    """Return the text with digits, dashes, spaces and full-width signs as ASCII's, in the same length."""
    return text if text.isascii() else text.translate(_plain_signs())


@cache
def _plain_signs() -> dict[int, str]:
    signs = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    for code in range(128, sys.maxunicode + 1):
        character = chr(code)
        kind = unicodedata.category(character)
        if kind == "Nd":
            signs[code] = str(unicodedata.decimal(character))
        elif kind in ("Pd", "Zs"):
            signs[code] = "-" if kind == "Pd" else " "
    return signs | {0x2212: "-"}


def emails(text: str) -> Iterator[Place]:
    """Yield the places of e-mail addresses, also those that stand in an address of the web."""
    if "@" in text or "%40" in text:
        for found in _EMAIL.finditer(text):
            if not _DENSITY.search(found.group()):
                yield found.span()


def cards(text: str) -> Iterator[Place]:
    """Yield the places of payment card numbers."""
    for found in _CARD.finditer(text):
        written = found.group(1)
        # The last group of 19 digits may be something else that follows a card of 16.
        for length in dict.fromkeys((len(written), 19)):
            if is_card(re.sub("[ -]", "", written[:length])):
                yield found.start(), found.start() + min(length, len(written))
                break


def is_card(digits: str) -> bool:
    """Tell whether digits are a card's number: an issuer's range, its length, and Luhn's last digit."""
    if not _ISSUERS.fullmatch(digits):
        return False
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(each - 9 if each > 9 else each for each in doubled) % 10 == 0


def ibans(text: str) -> Iterator[Place]:
    """Yield the places of IBANs, in one piece or in groups."""
    for found in _IBAN.finditer(text):
        length = _IBAN_LENGTHS.get(found.group().upper())
        if length and (end := _end_of_iban(text, found.start(), length)):
            yield found.start(), end


def _end_of_iban(text: str, start: int, length: int) -> int | None:
    signs, at = "", start
    while len(signs) < length and at < len(text):
        if text[at].isascii() and text[at].isalnum():
            signs += text[at]
        elif text[at] not in " -" or not text[at - 1].isalnum():
            return None
        at += 1
    if len(signs) < length or (at < len(text) and text[at].isalnum()):
        return None
    turned = (signs[4:] + signs[:4]).upper()
    return at if int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1 else None


def phones(text: str) -> Iterator[Place]:
    """Yield the places of phone numbers: with a country's code, in a national form, or after a word such as "phone"."""
    found = (each for pattern in _PHONES for each in pattern.finditer(text))
    yield from sorted({each.span("number") for each in found if _is_phone(each["number"])})


def _is_phone(written: str) -> bool:
    if _DATE.match(written) or _DECIMAL.fullmatch(written):
        return False
    digits = sum(each.isdigit() for each in written)
    is_national = written.lstrip("(").startswith("0") and not written.startswith("00")
    return not is_national or _FEWEST_OF_NATIONAL <= digits <= _MOST_OF_NATIONAL


# In the order in which they count where two find the same place.
FINDERS: Final[Mapping[BuiltIn, Callable[[str], Iterator[Place]]]] = {
    "iban": ibans,
    "card": cards,
    "email": emails,
    "phone": phones,
}
# Text with fewer digits holds none of a kind, so it need not be searched.
FEWEST_DIGITS: Final[Mapping[BuiltIn, int]] = {"iban": 2, "card": 13, "email": 0, "phone": 7}


Value = TypeVar("Value")
FIELD = "field"
_BUILT_IN: tuple[BuiltIn, ...] = tuple(FINDERS)
# So deep is JSON read that stands in text, in JSON and text again; below, text is searched as it is written.
_DEEPEST_TEXT = 100
# Short texts that hold nothing are remembered, since names of keys and attributes come with each span.
_SHORT, _MOST_REMEMBERED = 80, 10_000
# So often is a text searched again: what was taken out may have stood in the way of another find.
_MOST_ROUNDS = 5
_PHONE_FIELDS: Final = frozenset(
    ("phone", "phonenumber", "telephone", "tel", "mobile", "mobilenumber", "fax", "msisdn")
)
_PHONE_VALUE = re.compile(r"\(?\+?[0-9](?:[ ().\-/]{0,2}[0-9]){6,14}", re.ASCII)
_SPAN_IDS: Final = frozenset(
    ("traceId", "spanId", "parentSpanId", "trace_id", "span_id", "parent_id", "parent_span_id")
)
_SPAN_ID = re.compile(r"[0-9a-fA-F]{16}(?:[0-9a-fA-F]{16})?", re.ASCII)
_TIMES: Final = frozenset(("startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "observedTimeUnixNano"))
_SCALARS: Final = frozenset(("stringValue", "intValue", "doubleValue", "boolValue", "bytesValue"))
# What spans say of themselves, not of a conversation.
_UNTOUCHED: Final = frozenset(("trace_id", "span_id", "parent_id", "start", "end", "status", "time", "schema_url"))


@dataclass(frozen=True)
class ScrubbingRules:
    """The rules for personal data. `fields` are names of keys and attributes, `patterns` names with RE2's patterns.

    A field's name is compared without case, `_`, `-` and spaces, and with the last part of an attribute's name.
    """

    email: bool = True
    phone: bool = True
    card: bool = True
    iban: bool = True
    fields: tuple[str, ...] = ()
    patterns: tuple[tuple[str, str], ...] = ()

    @cached_property
    def field_names(self) -> frozenset[str]:
        """Return the fields' names as they are compared."""
        return frozenset(map(compared_name, self.fields))

    @cached_property
    def field_pattern(self) -> re.Pattern[str] | None:
        """Return what finds the fields in text that is no JSON, with their value as group `value`."""
        if not self.fields:
            return None
        names = "|".join("[ _-]?".join(map(re.escape, compared_name(name))) for name in self.fields)
        return re.compile(
            rf"(?<![^\W_])(?:{names})\\{{0,8}}[\"']?\s{{0,8}}[:=]\s{{0,8}}"
            rf"(?P<value>\\{{0,8}}\"(?:[^\"\\]|\\.)*+\"?|\\{{0,8}}'(?:[^'\\]|\\.)*+'?|[\[{{][\s\S]*+|[^\s,;&}}\]\"'\[{{]+)",
            re.IGNORECASE,
        )

    @cached_property
    def remembered(self) -> set[str]:
        """Return short texts in which these rules found nothing, so far."""
        return set()

    def is_field(self, name: str) -> bool:
        """Tell whether a key or an attribute is one of the fields."""
        return bool(self.fields) and not self.field_names.isdisjoint(
            (compared_name(name), compared_name(name.rpartition(".")[2]))
        )


def scrubbed(value: Value, rules: ScrubbingRules) -> tuple[Value, dict[str, int]]:
    """Return the value without what the rules find, and how often each rule found something, by its name.

    A value is JSON's, a span, an event, or a list or tuple of them. What holds no personal data comes back unchanged,
    JSON in text to the letter. Ids and times of spans are never touched. Raises InvalidDocument where a value is nested
    deeper than any that can be kept.
    """
    work = _Scrubbing(rules)
    return work.value(value), dict(work.counts)


class _Scrubbing:
    def __init__(self, rules: ScrubbingRules) -> None:
        self.rules = rules
        self.finders = [(name, FINDERS[name]) for name in _BUILT_IN if getattr(rules, name)]
        self.counts: Counter[str] = Counter()

    def value(self, value: object, depth: int = 0) -> Any:
        if isinstance(value, str):
            return self._text(value, depth)
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, int | float):
            return self._number(value)
        if depth > MAX_DEPTH:
            raise InvalidDocument.at("", f"is nested deeper than {MAX_DEPTH} levels")
        if isinstance(value, Mapping):
            return self._mapping(value, depth + 1)
        if isinstance(value, list | tuple):
            return type(value)(self.value(each, depth + 1) for each in value)
        if isinstance(value, TelemetrySpan | SpanEvent):
            named = [each.name for each in fields(value) if each.name not in _UNTOUCHED]
            return replace(value, **{name: self.value(getattr(value, name), depth) for name in named})
        return value

    def _mapping(self, value: JsonMapping, depth: int) -> JsonObject:
        if isinstance(name := value.get("key"), str) and set(value) == {"key", "value"}:
            return {"key": self._key(name), "value": self._otlp_value(name, value["value"], depth)}
        if len(value) == 1 and not _SCALARS.isdisjoint(value):
            return self._scalar(value, depth)
        made: JsonObject = {}
        for key, inner in value.items():
            name = base = self._key(key)
            number = 2
            while name in made:
                name, number = f"{base} {number}", number + 1
            made[name] = self._entry(key, inner, depth)
        return made

    def _entry(self, key: str, inner: object, depth: int) -> Any:
        if key in _SPAN_IDS and isinstance(inner, str) and _SPAN_ID.fullmatch(inner):
            return inner
        if key in _TIMES and isinstance(inner, int | str) and str(inner).isdecimal():
            return inner
        if (rule := self._rule_for(key, inner)) is not None:
            return self._taken(rule, inner)
        return self.value(inner, depth)

    def _otlp_value(self, name: str, value: object, depth: int) -> Any:
        """Return the value of an attribute of OTLP; it stays one."""
        inner = next(iter(value.values()), None) if isinstance(value, Mapping) else value
        if (rule := self._rule_for(name, inner)) is not None:
            taken = self._taken(rule, inner)
            return {"stringValue": taken} if isinstance(value, Mapping) else taken
        return self.value(value, depth)

    def _scalar(self, value: JsonMapping, depth: int) -> JsonObject:
        (name, inner), *_ = value.items()
        made = self.value(inner, depth)
        return dict(value) if made == inner else {name if name == "bytesValue" else "stringValue": made}

    def _rule_for(self, name: object, value: object) -> str | None:
        """Return the rule that takes the whole value of a key; None where none does."""
        if not isinstance(name, str) or value is None or value in ("", [], {}, {"values": []}):
            return None
        if self.rules.is_field(name):
            return FIELD
        if self.rules.phone and compared_name(name.rpartition(".")[2]) in _PHONE_FIELDS:
            is_number = isinstance(value, int | str) and not isinstance(value, bool)
            return "phone" if is_number and _PHONE_VALUE.fullmatch(plain(str(value)).strip()) else None
        return None

    def _taken(self, rule: str, value: object) -> str:
        word = f"[{rule}]"
        self.counts[rule] += value != word
        return word

    def _key(self, key: object) -> Any:
        return self._searched(key) if isinstance(key, str) else key

    def _number(self, value: float) -> Any:
        written = str(int(value)) if isinstance(value, int) or value.is_integer() else ""
        if self.rules.card and len(written) >= 13 and any(cards(written)):
            return self._taken("card", value)
        return value

    def _text(self, text: str, depth: int) -> str:
        if depth < _DEEPEST_TEXT and text.lstrip()[:1] in ("{", "[", '"'):
            try:
                inner = load_json(text, max_depth=_DEEPEST_TEXT - depth)
            except InvalidDocument:
                return self._searched(text)
            before = self.counts.total()
            made = self.value(inner, depth + 1)
            return text if self.counts.total() == before else exact(made)
        return self._searched(text)

    def _searched(self, text: str) -> str:
        if text in self.rules.remembered:
            return text
        found = [*self._fields(text), *self._built_in(text), *self._own(text)]
        if not found and len(text) <= _SHORT and len(self.rules.remembered) < _MOST_REMEMBERED:
            self.rules.remembered.add(text)
        for _ in range(_MOST_ROUNDS):
            if not found:
                break
            text = self._replaced(text, found)
            found = list(self._built_in(text))
        return text

    def _built_in(self, text: str) -> Iterator[tuple[Place, str]]:
        if len(text) < 5 or not self.finders:
            return
        searched = plain(text)
        digits = sum(map(searched.count, "0123456789"))
        for name, finder in self.finders:
            if digits >= FEWEST_DIGITS[name]:
                yield from ((place, name) for place in finder(searched))

    def _fields(self, text: str) -> Iterator[tuple[Place, str]]:
        if pattern := self.rules.field_pattern:
            for found in pattern.finditer(text):
                if found["value"].strip("\\\"'") not in ("", "null", "None", f"[{FIELD}]"):
                    yield found.span("value"), FIELD

    def _own(self, text: str) -> Iterator[tuple[Place, str]]:
        for name, pattern in self.rules.patterns:
            # One sign for another, so that places stay; RE2 takes no lone surrogates.
            for start, end in _matches(pattern, text.encode("utf-8", "replace").decode()):
                yield (start, end), name

    def _replaced(self, text: str, matches: Iterable[tuple[Place, str]]) -> str:
        """Return the text with each place replaced; of places that overlap the first gives the name to them all."""
        order = {name: place for place, name in enumerate((FIELD, *_BUILT_IN))}
        parts: list[str] = []
        end = 0
        for (start, stop), name in sorted(
            matches, key=lambda each: (each[0][0], order.get(each[1], len(order)), each[1])
        ):
            if start >= end:
                parts += (text[end:start], f"[{name}]")
                self.counts[name] += 1
            end = max(end, stop)
        return "".join((*parts, text[end:]))


def _matches(pattern: str, text: str) -> Iterator[Place]:
    compiled: Any = compile_pattern(pattern)
    return (found.span() for found in compiled.finditer(text) if found.end() > found.start())


@lru_cache(4096)
def compared_name(name: str) -> str:
    """Return the name of a field as it is compared: without case, `_`, `-` and spaces."""
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")
