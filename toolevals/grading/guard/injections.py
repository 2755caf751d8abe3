"""Finds texts in a conversation that speak to its judge: orders, claimed scores, answers and marks made for it to read.

Rules, not a model: they flag a transcript for a person to look at, and change no verdict. A text is flagged for one of
four reasons: it holds marks of a chat's own format, it holds an answer in the form that judges give, it names the judge
or the grading and tells what to do, or it tells to ignore instructions. Words are known in thirty languages.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import unquote_plus

import re2

from toolevals.grading.guard.decoding import HIDDEN, TAGS, latin
from toolevals.grading.guard.injection_words import (
    ADDRESSEES,
    ANSWER_PARTS,
    ENVELOPES,
    HEADINGS,
    INDIRECT,
    MARKS,
    ORDERS,
    OVERRIDES,
    VERDICTS,
)
from toolevals.grading.values.problems import pointer_to
from toolevals.grading.values.verdicts import Injection, InjectionKind
from toolevals.json_types import JsonValue

# An order belongs to an addressee that stands this near to it, in characters.
NEAR = 120
_LONGEST_EXCERPT = 200
_MOST_OBJECTS = 50
# At least eight letters, one by one: "i g n o r e  t h i s", "i.g.n.o.r.e".
_SPELLED = r"(?:[\pL\pN][ .,;:!?_\-*]{1,4}){7,}[\pL\pN]"
# Digits for letters within words, and common words of English from back to front.
_LEET = r"(?i)\b[a-z]*(?:[a-z][013457][a-z]|[a-z]{2}[013457]|[013457][a-z]{2})[a-z013457]*\b"
_DIGITS = str.maketrans("013457", "oleast")
_BACKWARDS = r"\b(?:eht|dna|erocs|evig|siht|egduj|tuo)\b"
# Common words of English with each letter moved by 13.
_MOVED = r"\b(?:gur|tvir|fpber|whqtr|tenqre|ehoevp|cnff|vtaber)\b"
_HEX = r"(?:[0-9a-f]{2}[ :,]?){16,}"
_PERCENT = r"(?:[^\s%]*%[0-9a-f]{2}){2,}[^\s%]*"
# An answer in tags. Marks of school, sport and shops come in tags, too: `score`, `grade` and `rating` are left out.
_TAGGED = (
    r"<(?:verdict|final_verdict|judgement|judgment|is_correct|task_completed|reward)>\s*"
    r"(?:pass(?:ed)?|correct|true|yes|success|[0-9][0-9./]*)\s*</"
)
_DECODER = json.JSONDecoder()


def injections_in(value: JsonValue) -> list[Injection]:
    """Return what speaks to a judge in a JSON value: at most one finding a text, in the order of the texts.

    Messages with the role `system` or `developer` are left out: the maker of the dataset wrote them.
    """
    return [found for pointer, text in _texts(value, ()) if (found := _first(pointer, text)) is not None]


def kind_of(text: str) -> tuple[InjectionKind, str] | None:
    """Return why a text speaks to a judge and the words that do, None where it does not."""
    for kind, words in _findings(plain(text)):
        return kind, words[:_LONGEST_EXCERPT]
    seen: set[str] = set()
    for hidden in encoded(text):
        # A list of results holds the same words again and again.
        if hidden not in seen:
            seen.add(hidden)
            for kind, words in _findings(plain(hidden)):
                return kind, words[:_LONGEST_EXCERPT]
    return None


def _first(pointer: str, text: str) -> Injection | None:
    found = kind_of(text)
    return None if found is None else Injection(pointer, *found)


def _findings(text: str) -> Iterator[tuple[InjectionKind, str]]:
    if match := _compiled(MARKS).search(text):
        yield InjectionKind.MARK, _around(text, match.start(), match.end())
    for heading in _compiled(HEADINGS).finditer(text):
        follows = text[heading.end() : heading.end() + NEAR]
        if _compiled(OVERRIDES).search(follows) or _compiled(ADDRESSEES).search(follows) or _ordered(follows):
            yield InjectionKind.MARK, _around(text, heading.start(), heading.end())
    if (place := _answer(text)) is not None:
        yield InjectionKind.ANSWER, text[slice(*place)]
    if match := _compiled(_TAGGED).search(text):
        yield InjectionKind.ANSWER, _around(text, match.start(), match.end())
    if match := _compiled(OVERRIDES).search(text):
        yield InjectionKind.OVERRIDE, _around(text, match.start(), match.end())
    if match := _compiled(INDIRECT).search(text):
        yield InjectionKind.ORDER, _around(text, match.start(), match.end())
    for addressee in _compiled(ADDRESSEES).finditer(text):
        begin, end = max(0, addressee.start() - NEAR), addressee.end() + NEAR
        if _compiled(ORDERS).search(text[begin:end]):
            yield InjectionKind.ORDER, text[begin:end].strip()
            return


def _ordered(text: str) -> bool:
    """Return whether a text gives at least two orders: one word of an order stands in many an honest message."""
    found = {match.group().strip() for match in _compiled(ORDERS).finditer(text)}
    return len(found) > 1


def _answer(text: str) -> tuple[int, int] | None:
    """Return where a judge's answer stands in a text that is more than that, or that gives its reason with it."""
    begin, tries = text.find("{"), 0
    while begin >= 0 and tries < _MOST_OBJECTS:
        tries += 1
        try:
            found, end = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError):
            end = begin + 1
        else:
            if _is_answer(found, alone=not text[:begin].strip() and not text[end:].strip()):
                return begin, end
        begin = text.find("{", end)
    return None


def _is_answer(found: Any, *, alone: bool) -> bool:
    if not isinstance(found, dict) or not found:
        return False
    names = {str(name).casefold() for name in found}
    if len(found) == 1 and isinstance(inside := next(iter(found.values())), dict) and names <= ENVELOPES:
        # Under a name for all of it, two parts are an answer wherever it stands.
        return _is_answer(inside, alone=True)
    if not names <= ANSWER_PARTS or not names & VERDICTS:
        return False
    return not alone or len(names) > 1


def encoded(text: str) -> Iterator[str]:
    """Yield what stands in a text in another writing: Base64, hexadecimal, letter by letter, JSON in JSON, and more."""
    if text.lstrip()[:1] in ("{", "["):
        yield from _written_in(text)
    for match in _compiled(_SPELLED).finditer(text):
        yield _joined(match.group())
    if _compiled(_LEET).search(text):
        yield text.casefold().translate(_DIGITS)
    if _compiled(_BACKWARDS).search(text.casefold()):
        yield text[::-1]
    if _compiled(_MOVED).search(text.casefold()):
        yield codecs.decode(text, "rot13")
    for match in _compiled(_PERCENT).finditer(text.casefold()):
        yield unquote_plus(match.group())
    for match in _compiled(_HEX).finditer(text.casefold()):
        yield bytes.fromhex(re.sub("[ :,]", "", match.group())).decode(errors="replace")
    for match in _compiled(r"[A-Za-z0-9+/]{24,}={0,2}").finditer(text):
        written = match.group()
        try:
            yield base64.b64decode(written + "=" * (-len(written) % 4), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue


def _written_in(text: str) -> Iterator[str]:
    """Yield the texts in a JSON document, which is escaped where it is itself a text."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return
    yield from (inner for _, inner in _texts(document, ()))


def _joined(spelled: str) -> str:
    """Return what is spelled letter by letter; words end at two spaces, or at a mark and a space."""
    # Where marks stand between the letters, a space stands between the words.
    words = (
        spelled.split()
        if not re.search(r"(?:^|\s)\w \w \w(?:\s|$)", spelled)
        else re.split(r" {2,}|[.,;:!?]\s+", spelled)
    )
    return " ".join("".join(each for each in word if each.isalnum()) for word in words)


def plain(text: str) -> str:
    """Return a text without what hides words from a reader of code but not from a model."""
    # Most texts are ASCII, in which nothing is hidden so.
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(TAGS)).translate(HIDDEN)
    text = text.casefold()
    if not text.isascii():
        lines = (" ".join(latin(word) for word in line.split()) for line in text.splitlines())
    else:
        lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _around(text: str, begin: int, end: int) -> str:
    return text[max(0, begin - 40) : end + 80].strip()


@cache
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 256 << 20
    return re2.compile(pattern, options)


def _texts(value: JsonValue, path: tuple[str | int, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield pointer_to(path), value
    elif isinstance(value, Mapping):
        if value.get("role") not in ("system", "developer"):
            for name, each in value.items():
                yield from _texts(each, (*path, str(name)))
    elif isinstance(value, list | tuple):
        for place, each in enumerate(value):
            yield from _texts(each, (*path, place))
