"""Find personal data in text: e-mail addresses, phone numbers, payment cards and IBANs.

Each finder yields places in a text. A number counts only where it is one by its own check: Luhn's digit and an issuer's
range for cards, ISO 7064 (mod 97) and the country's length for IBANs, a form of writing for phones. Ids, dates, times
and versions are not numbers of people. All patterns are bounded, so that time grows with the length of the text alone.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Final, Literal

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
