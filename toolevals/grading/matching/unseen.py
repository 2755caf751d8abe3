"""Composes text, so that one way to write a letter is another, and names characters that no one sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from unicodedata import category, is_normalized, name, normalize

_MOST = 3


def composed(text: str) -> str:
    """Return text in Unicode's composed form (NFC)."""
    return text if text.isascii() or is_normalized("NFC", text) else normalize("NFC", text)


def composed_otherwise(made: Any, expected: Any) -> bool:
    """Tell whether a text in one JSON value equals one in the other only once both are composed."""
    if is_ascii(made):
        return False
    given = {text.strip() for text in _texts_in(made)}
    known = {text.strip() for text in _texts_in(expected)}
    forms = {composed(text) for text in known}
    return any(text not in known and composed(text) in forms for text in given)


def is_ascii(value: Any) -> bool:
    """Tell whether every text in a JSON value is ASCII, which has no letters to compose."""
    kind = type(value)
    if kind is str:
        ascii_alone: bool = value.isascii()
        return ascii_alone
    if kind is dict:
        value = value.values()
    elif kind is not list and kind is not tuple:
        return not isinstance(value, str | Mapping)
    return all(map(is_ascii, value))


def _texts_in(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, without the keys of objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts_in(item)


def unseen_difference(made: Any, expected: Any) -> str:
    """Return the code points that one of two texts has and the other lacks, where no one sees them; else nothing."""
    if not isinstance(made, str) or not isinstance(expected, str):
        return ""
    only = sorted(character for character in set(made) ^ set(expected) if _is_unseen(character))
    return ", ".join(f"U+{ord(each):04X} {name(each, '')}".strip() for each in only[:_MOST])


def _is_unseen(character: str) -> bool:
    """Tell whether a character is a space of another kind, or one without any shape."""
    return character != " " and category(character) in {"Zs", "Zl", "Zp", "Cf", "Cc"}
