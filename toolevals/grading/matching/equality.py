"""Tell when two JSON values are equal: four named profiles.

In every profile the order of an object's keys is free, lists are ordered, null equals null alone, and a boolean
equals a boolean alone.

- `strict`: text to the character; integers and floats are different (1 is not 1.0).
- `standard`: numbers by value (1 is 1.0); text without white space at its ends, its letters composed (Unicode's NFC).
- `loose`: as `standard`, and text that is a number equals that number ("5" is 5); in tools' names `.` and `_` are one.
- `bfcl`: as `standard`, with text the way the Berkeley Function-Calling Leaderboard reads it: lower case, without
  spaces and `, . / - _ * ^`, and `'` as `"`; in tools' names `.` and `_` are one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from toolevals.grading.matching.unseen import composed
from toolevals.grading.values import ProfileName

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

    def equal(self, left: Any, right: Any) -> bool:
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

    def form(self, value: Any) -> Any:
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

    def _equal_objects(self, left: dict[str, Any], right: dict[str, Any]) -> bool:
        return left.keys() == right.keys() and all(self.equal(value, right[key]) for key, value in left.items())

    def _equal_scalars(self, left: Any, right: Any) -> bool:
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
