"""Tell when two JSON values are equal: four named profiles.

In every profile the order of an object's keys is free, lists are ordered, null equals null alone, and a boolean
equals a boolean alone.

- `strict`: text to the character; integers and floats are different (1 is not 1.0).
- `standard`: numbers by value (1 is 1.0); text without white space at its ends, its letters composed (Unicode's NFC).
- `loose`: as `standard`, and text that is a number equals that number ("5" is 5); in tools' names `.` and `_` are one.
- `bfcl`: as `standard`, with text the way the Berkeley Function-Calling Leaderboard reads it: lower case, without
  spaces and `, . / - _ * ^`, and `'` as `"`; in tools' names `.` and `_` are one.

Composes text, so that one way to write a letter is another, and names characters that no one sees.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any
from unicodedata import category, is_normalized, name, normalize

from toolevals.grading.values import ProfileName
from toolevals.json_types import JsonObject, JsonValue

_MOST = 3


def composed(text: str) -> str:
    """Return text in Unicode's composed form (NFC)."""
    return text if text.isascii() or is_normalized("NFC", text) else normalize("NFC", text)


def composed_otherwise(made: object, expected: object) -> bool:
    """Tell whether a text in one JSON value equals one in the other only once both are composed."""
    if is_ascii(made):
        return False
    given = {text.strip() for text in _texts_in(made)}
    known = {text.strip() for text in _texts_in(expected)}
    forms = {composed(text) for text in known}
    return any(text not in known and composed(text) in forms for text in given)


def is_ascii(value: JsonValue) -> bool:
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


def _texts_in(value: object) -> Iterator[str]:
    """Yield every text in a JSON value, without the keys of objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts_in(item)


def unseen_difference(made: object, expected: object) -> str:
    """Return the code points that one of two texts has and the other lacks, where no one sees them; else nothing."""
    if not isinstance(made, str) or not isinstance(expected, str):
        return ""
    only = sorted(character for character in set(made) ^ set(expected) if _is_unseen(character))
    return ", ".join(f"U+{ord(each):04X} {name(each, '')}".strip() for each in only[:_MOST])


def _is_unseen(character: str) -> bool:
    """Tell whether a character is a space of another kind, or one without any shape."""
    return character != " " and category(character) in {"Zs", "Zl", "Zp", "Cf", "Cc"}


# What text becomes before it is compared.
TextForm = Callable[[str], "str | int | float"]
# Whether a value meets criteria in words; None where no judge has said.
Judge = Callable[[str, Any], "bool | None"]

_BFCL_DROPPED = b" ,./-_*^"
_BFCL_QUOTES = bytes.maketrans(b"'", b'"')
_BFCL_LOWER = bytes(range(128)).lower().translate(_BFCL_QUOTES) + bytes(range(128, 256))
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_LONGEST_NUMBER = 400


def bfcl_text(text: str) -> str:
    """Return text the way the leaderboard compares it."""
    # Bytes are translated several times as fast as text, and no other character has one of these in its bytes.
    if text.isascii():
        return text.encode().translate(_BFCL_LOWER, _BFCL_DROPPED).decode()
    kept = text.encode("utf-8", "surrogatepass").translate(_BFCL_QUOTES, _BFCL_DROPPED)
    return kept.decode("utf-8", "surrogatepass").lower()


def number_in(text: str) -> int | float | None:
    """Return the number that text is, as JSON would read it; None where it is none or beyond a float."""
    stripped = text.strip()
    if len(stripped) > _LONGEST_NUMBER or not _NUMBER.fullmatch(stripped):
        return None
    if stripped.lstrip("+-").isdigit():
        return int(stripped)
    number = float(stripped)
    return number if isfinite(number) else None


def _standard_text(text: str) -> str:
    return composed(text.strip())


def _loose_text(text: str) -> str | int | float:
    number = number_in(text)
    return _standard_text(text) if number is None else number


def _same(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Profile:
    """The way to compare values and tools' names. `judge` answers criteria in words, where there is one."""

    name: ProfileName
    text_form: TextForm
    typed_numbers: bool = False
    one_dot_and_underscore: bool = False
    judge: Judge | None = field(default=None, compare=False)

    def tool_name(self, name: str) -> str:
        """Return the form of a tool's name by which two names are compared."""
        return name.replace(".", "_") if self.one_dot_and_underscore else name

    def equal(self, left: object, right: object) -> bool:
        """Tell whether two JSON values are equal."""
        if isinstance(left, dict):
            return isinstance(right, dict) and self._equal_objects(left, right)
        if isinstance(left, list | tuple):
            return (
                isinstance(right, list | tuple)
                and len(left) == len(right)
                and all(self.equal(one, other) for one, other in zip(left, right, strict=True))
            )
        return self._equal_scalars(left, right)

    def form(self, value: object) -> Any:
        """Return a JSON value whose canonical text is the same for equal values, and for no others."""
        if isinstance(value, dict):
            return {key: self.form(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.form(item) for item in value]
        if isinstance(value, str):
            value = self.text_form(value)
        if isinstance(value, float) and value.is_integer():
            # Adding 0.0 makes -0.0 the 0.0 that it equals.
            return value + 0.0 if self.typed_numbers else int(value)
        return value

    def _equal_objects(self, left: JsonObject, right: JsonObject) -> bool:
        return left.keys() == right.keys() and all(self.equal(value, right[key]) for key, value in left.items())

    def _equal_scalars(self, left: object, right: object) -> bool:
        if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
            return left is right
        one = self.text_form(left) if isinstance(left, str) else left
        other = self.text_form(right) if isinstance(right, str) else right
        if isinstance(one, str) or isinstance(other, str):
            return isinstance(one, str) and isinstance(other, str) and one == other
        if isinstance(other, dict | list | tuple):
            return False
        if self.typed_numbers and isinstance(one, int) is not isinstance(other, int):
            return False
        return bool(one == other)


PROFILES: dict[ProfileName, Profile] = {
    "strict": Profile("strict", _same, typed_numbers=True),
    "standard": Profile("standard", _standard_text),
    "loose": Profile("loose", _loose_text, one_dot_and_underscore=True),
    "bfcl": Profile("bfcl", bfcl_text, one_dot_and_underscore=True),
}
