"""Masks what differs between two errors of one kind: ids, numbers, dates, paths, quoted values, and what was asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonValue

MASK: Final = "…"
# Of an error so many characters are read, and so many of the masked text are kept.
READ: Final = 4_000
LONGEST: Final = 300
# Values that were asked with: so many are looked for, and none shorter.
MOST_VALUES: Final = 64
SHORTEST_VALUE: Final = 3
_DEEPEST: Final = 20

# The first that fits at a place counts. A status code says what the error is, and stays.
_MASKED: Final = re.compile(
    r"""
    (?P<kept>(?:^\W*|(?i:\b(?:https?(?:/[\d.]+)?|status(?:[ _]?code)?|code|error)\W{0,4}))[1-5]\d\d\b(?![-\w]|[.,]\d))
    | \b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s"'<>)\]]+              # an address
    | [\w.+-]+@[\w-]+(?:\.[\w-]+)+                                # an e-mail address
    | "[^"\n]*" | “[^”\n]*” | ‘[^’\n]*’ | «[^»\n]*» | `[^`\n]*`   # a quoted value
    | (?<!\w)'[^'\n]*'(?!\w)
    | (?<![\w.])(?:[A-Za-z]:\\|~?/)[\w.@+-]+(?:[\\/][\w.@+-]*)+    # a path
    | (?P<word>\w+(?:[-.:,/+\#]\w+)*)                            # an id, a date, a time, a number: with a digit
    """,
    re.VERBOSE,
)
_LIST: Final = re.compile(rf"(?:[\[({{]\s*)?{MASK}(?:\s*(?:[,;:/|+-]|and|or|und|et)?\s*{MASK})+(?:\s*[\])}}])?")
_BRACKETS: Final = re.compile(rf"[\[({{]\s*{MASK}\s*[\])}}]|[-+$€£¥#@%]+{MASK}|{MASK}[%$€£¥]+")
_SPACES: Final = re.compile(r"\s+")


def masked(text: str, values: Iterable[str] = ()) -> str:
    """Return an error's text without what differs from one time to the next, each replaced by `…`.

    `values` are what the call was made with: where they stand in the text as words of their own, they are masked, too.
    A text that is JSON is read as the words of its keys and values. Masking what is masked changes nothing.
    """
    readable = text[:READ].replace("\0", " ").encode("utf-8", "replace").decode()
    words = _SPACES.sub(" ", _plain(readable)).strip()
    if wanted := _values(values):
        words = wanted.sub(MASK, words)
    words = _MASKED.sub(_mask, words)
    before = ""
    while words != before:
        before, words = words, _BRACKETS.sub(MASK, _LIST.sub(MASK, words))
    return words[:LONGEST].strip(" .,;:!")


def _mask(found: re.Match[str]) -> str:
    if (word := found["word"]) and not any(letter.isdigit() for letter in word):
        return word
    return found["kept"] or MASK


def _plain(text: str) -> str:
    """Return the words of a JSON text in one line, of other text the text."""
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return text
    try:
        value = load_json(text)
    except (InvalidDocument, ValueError, RecursionError):
        return text
    return " ".join(_leaves(value, ""))


def _leaves(value: JsonValue, name: str, depth: int = 0) -> Iterator[str]:
    if isinstance(value, dict) and depth < _DEEPEST:
        for key, each in value.items():
            yield from _leaves(each, str(key), depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST:
        for each in value:
            yield from _leaves(each, name, depth + 1)
    elif isinstance(value, str):
        yield f"{name}: {value}" if name else value
    else:
        yield f"{name}: {value if isinstance(value, bool | int) else MASK}"


def _values(values: Iterable[str]) -> re.Pattern[str] | None:
    found = sorted({value for value in values if len(value) >= SHORTEST_VALUE}, key=lambda value: (-len(value), value))
    if not found:
        return None
    return re.compile(r"(?<!\w)(?:" + "|".join(re.escape(value) for value in found[:MOST_VALUES]) + r")(?!\w)")
