"""Values near to one: digits swapped or changed, another power of ten, another month, weekday or hour."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from math import log10

from toolevals.grading.result_use.mentions import Mention

# Digits and letters that one wrong character may stand for.
_DIGITS = "0123456789"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
MAX_IDENTIFIER = 40
_POWERS = (1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6)


def written_digits(mention: Mention) -> str:
    """Return a number's digits as it is written, without separators and sign: `4310`, `18.30`."""
    decimals = max(0, round(-log10(mention.step))) if mention.step < 1 else 0
    return f"{abs(mention.value):.{decimals}f}"


def significant(mention: Mention) -> int:
    """Return how many digits a number has, without zeros at its ends."""
    return len(written_digits(mention).replace(".", "").strip("0"))


def flipped(mention: Mention) -> Iterator[tuple[float, bool]]:
    """Yield the numbers that become this one by swapping two neighbours (True), or by one wrong digit (False)."""
    digits = written_digits(mention)
    sign = -1 if mention.value < 0 else 1
    for word, is_swap in _variants(digits, _DIGITS):
        if word[:1] != "0" or word[:2] == "0.":
            yield sign * float(word), is_swap


def rescaled(mention: Mention) -> Iterator[tuple[float, int]]:
    """Yield the number at other powers of ten, with the power."""
    for power in _POWERS:
        yield mention.value * 10.0**power, power


def misspelled(identifier: str) -> Iterator[str]:
    """Yield the identifiers that become this one by a swap or by one wrong, missing or additional character."""
    if not 2 <= len(identifier) <= MAX_IDENTIFIER or not any(letter.isdigit() for letter in identifier):
        return
    for word, _ in _variants(identifier, _DIGITS + _LETTERS):
        yield word
    if len(identifier) < 6:
        return
    for place in range(len(identifier)):
        yield identifier[:place] + identifier[place + 1 :]
        if identifier[place].isdigit():
            for digit in _DIGITS:
                yield identifier[:place] + digit + identifier[place:]


def _variants(word: str, letters: str) -> Iterator[tuple[str, bool]]:
    for place in range(len(word) - 1):
        first, second = word[place], word[place + 1]
        if second in ".," and place + 2 < len(word):
            # The neighbours stand on either side of the point.
            after = word[place + 2]
            if first != after and first.isdigit() and after.isdigit():
                yield word[:place] + after + second + first + word[place + 3 :], True
        elif first != second and first.isalnum() and second.isalnum():
            yield word[:place] + second + first + word[place + 2 :], True
    for place, letter in enumerate(word):
        if letter.isalnum():
            for other in letters:
                if other != letter and other.isdigit() == letter.isdigit():
                    yield word[:place] + other + word[place + 1 :], False


def near_dates(key: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
    """Yield dates that are written almost like this one: another month or year, digits swapped, one off."""
    year, month, day = key
    if not day:
        return
    for other in range(1, 13):
        if other != month:
            yield year, other, day
    swapped = int(str(day)[::-1]) if day > 9 else 0
    for near in (day - 1, day + 1, swapped, day - 10, day + 10):
        if 1 <= near <= 31 and near != day:
            yield year, month, near
    if year:
        yield year - 1, month, day
        yield year + 1, month, day


def near_times(minute: int) -> Iterator[int]:
    """Yield times that are written almost like this one: one digit of the minutes or of the hour, or half a day off."""
    hour, rest = divmod(minute, 60)
    for digits in {f"{tens}{rest % 10}" for tens in range(6)} | {f"{rest // 10}{ones}" for ones in range(10)}:
        if int(digits) != rest:
            yield hour * 60 + int(digits)
    if rest:
        swapped = int(f"{rest:02}"[::-1])
        if swapped < 60 and swapped != rest:
            yield hour * 60 + swapped


def weekday_of(year: int, month: int, day: int) -> int | None:
    """Return the day of the week, Monday 0; None for a date that does not exist."""
    try:
        return date(year, month, day).weekday()
    except (ValueError, OverflowError):
        return None
