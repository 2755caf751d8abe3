"""Reads the texts in a JSON value as a model or a tool would: decoded, and without what hides words.

A text is read as it stands, and decoded: JSON in it, at most `DEEPEST_JSON` deep; percent signs once; Base64 once; in
any order. How much is read is bounded, and what is left out is said.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from toolevals.grading.values.canonical import MAX_DEPTH
from toolevals.json_types import JsonValue

MOST_CHARACTERS: Final = 100_000
"""The most characters of a value in which rules look for patterns, and as many again of decoded texts."""
MOST_PARTS: Final = 20_000
"""The most values and names in a value of which rules look at anything."""
LARGEST: Final = 1_000_000
"""The most characters of such a value."""
DEEPEST_JSON: Final = 5
# Numbers of so many digits are read as texts: a card's number may be one.
_LONG_NUMBER = 10**12

HIDDEN: Final = dict.fromkeys((0x00AD, 0x180E, 0x200B, 0x200C, 0x200D, 0x2060, 0x2061, 0x2062, 0x2063, 0xFEFF))
# Those that turn the direction of writing are honest in some languages, where nothing is a command.
_HIDDEN = HIDDEN | dict.fromkeys((0x200E, 0x200F, 0x2064, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))
# Tag characters are invisible; each stands this far behind its ASCII character.
TAGS: Final = {tag: tag - 0xE0000 for tag in range(0xE0020, 0xE007F)}
# Letters of other alphabets that look like Latin ones.
_LOOKALIKES = str.maketrans("аеіорсухјѕԁɡһАВЕІКМНОРСТХ", "aeiopcyxjsdghABEIKMHOPCTX")
_LONGEST_POINTER = 500
_WORD = re.compile(r"[^\W_]+")
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_URL_SAFE = str.maketrans("-_", "+/")


class Text(NamedTuple):
    """One text of a value: a JSON pointer to it in the value, and the text without what hides words.

    A text that stands in another has the pointer of the outer one.
    """

    pointer: str
    text: str


@dataclass
class Texts:
    """The texts of a value. `left_out` is the pointer to the first that was not read whole; None where all were."""

    texts: list[Text] = field(default_factory=list)
    left_out: str | None = None

    @cached_property
    def joined(self) -> str:
        """All texts, each after a NUL: what is in one of them is in this."""
        return "\0".join([text for _, text in self.texts])


class _Waiting(NamedTuple):
    pointer: str
    value: JsonValue
    json_depth: int = 0
    is_inside: bool = False
    percent: bool = True
    base64: bool = True


def texts_of(value: JsonValue, pointer: str = "", keeps: Callable[[str], bool] | None = None) -> Texts:
    """Return the texts of a JSON value: texts, names of fields, long numbers, and what is written in texts.

    `keeps` tells by its pointer whether a text is read; without it all are.
    """
    found = Texts()
    waiting = deque([_Waiting(pointer, value)])
    room = decoded_room = MOST_CHARACTERS
    parts = 0
    while waiting:
        each = waiting.popleft()
        parts += 1
        inside = each.value
        if parts > MOST_PARTS:
            found.left_out = found.left_out or each.pointer
            break
        if isinstance(inside, int) and abs(inside) >= _LONG_NUMBER:
            inside = _written(inside)
        if isinstance(inside, str):
            if keeps is not None and not keeps(each.pointer):
                continue
            left = decoded_room if each.is_inside else room
            if len(inside) > left:
                found.left_out = each.pointer if found.left_out is None else found.left_out
                inside = inside[:left]
            if each.is_inside:
                decoded_room -= len(inside)
            else:
                room -= len(inside)
            found.texts.append(Text(each.pointer, uncovered(inside)))
            waiting.extend(_decoded(each, inside))
        elif isinstance(inside, dict | list | tuple):
            if len(waiting) + len(inside) > MOST_PARTS:
                found.left_out = each.pointer if found.left_out is None else found.left_out
                continue
            waiting.extend(_children(each))
    return found


def is_too_large(value: JsonValue) -> bool:
    """Tell whether a value is too large for any rule to look at: in characters, parts or depth."""
    room, parts, depth = LARGEST, MOST_PARTS, MAX_DEPTH
    level = [value]
    while level and depth >= 0:
        inside: list[Any] = []
        for each in level:
            if isinstance(each, str):
                room -= len(each)
            elif isinstance(each, dict):
                parts -= 2 * len(each)
                if parts >= 0:
                    inside.extend(each)
                    inside.extend(each.values())
            elif isinstance(each, list | tuple):
                parts -= len(each)
                if parts >= 0:
                    inside.extend(each)
        if room < 0 or parts < 0:
            return True
        level, depth = inside, depth - 1
    return bool(level)


def uncovered(text: str) -> str:
    """Return a text without what hides words from a reader of code but not from a model; ASCII stays as it is."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text.translate(TAGS)).translate(_HIDDEN)
    text = _WORD.sub(lambda word: latin(word.group()), text)
    # RE2 takes no lone surrogates.
    return text.encode("utf-8", "replace").decode()


def latin(word: str) -> str:
    """Return a word with look-alikes turned to Latin letters, where it mixes both."""
    if word.isascii() or not any("a" <= each <= "z" or "A" <= each <= "Z" for each in word):
        return word
    return word.translate(_LOOKALIKES)


def _children(each: _Waiting) -> Iterator[_Waiting]:
    if isinstance(each.value, dict):
        for key, inner in each.value.items():
            name, pointer = str(key), each.pointer
            if not each.json_depth:
                pointer = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"[:_LONGEST_POINTER]
            yield each._replace(pointer=pointer, value=name)
            yield each._replace(pointer=pointer, value=inner)
    else:
        for place, inner in enumerate(each.value):
            pointer = each.pointer if each.json_depth else f"{each.pointer}/{place}"[:_LONGEST_POINTER]
            yield each._replace(pointer=pointer, value=inner)


def _decoded(each: _Waiting, text: str) -> Iterator[_Waiting]:
    if each.json_depth < DEEPEST_JSON and text.lstrip()[:1] in ("{", "[", '"'):
        try:
            inner = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            pass
        else:
            yield each._replace(value=inner, json_depth=each.json_depth + 1, is_inside=True)
    if each.percent and "%" in text and _PERCENT.search(text):
        yield each._replace(value=unquote(text), is_inside=True, percent=False, json_depth=max(1, each.json_depth))
    if each.base64 and len(text) >= 16:
        for match in _BASE64.finditer(text):
            if (inner := _from_base64(match.group())) is not None:
                yield each._replace(value=inner, is_inside=True, base64=False, json_depth=max(1, each.json_depth))


def _from_base64(written: str) -> str | None:
    written = written.rstrip("=").translate(_URL_SAFE)
    try:
        text = base64.b64decode(written + "=" * (-len(written) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return text if all(each.isprintable() or each.isspace() for each in text) else None


def _written(number: int) -> str:
    try:
        return str(number)
    except ValueError:
        return ""
