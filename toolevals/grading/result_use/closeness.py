"""Whether one value is another one miswritten: digits flipped, or the scale changed."""

from __future__ import annotations

from functools import lru_cache

from toolevals.grading.result_use.values import Key

# So many digits must agree before one other digit, or a power of ten, is taken for a slip.
_MIN_CHANGED = 5
_MIN_TEXT = 4
_MIN_SCALED = 2


def is_flipped(said: Key, held: Key) -> bool:
    """Whether two values differ by two swapped neighbours, or by one character where enough others agree."""
    if isinstance(said, tuple) or isinstance(held, tuple):
        return _moments_flipped(said, held)
    if isinstance(said, str) and isinstance(held, str):
        return _one_edit(said, held) if min(len(said), len(held)) >= _MIN_TEXT else _swapped(said, held)
    if isinstance(said, str) or isinstance(held, str):
        return False
    if (said < 0) != (held < 0):
        return False
    left, right = _significant(said), _significant(held)
    if _same_size(said, held) and _swapped(left.ljust(len(right), "0"), right.ljust(len(left), "0")):
        return True
    return min(len(left), len(right)) >= _MIN_CHANGED and _one_edit(left, right)


def is_rescaled(said: Key, held: Key, *, any_digits: bool) -> bool:
    """Whether two numbers differ by a power of ten. One digit is enough only with `any_digits`."""
    if isinstance(said, tuple | str) or isinstance(held, tuple | str) or not said or not held:
        return False
    left, right = _significant(said), _significant(held)
    return left == right and abs(said) != abs(held) and (any_digits or len(left) >= _MIN_SCALED)


def rescaled_by(said: float, held: float) -> str:
    """Return the factor between two numbers in words."""
    ratio = abs(said / held)
    return f"{ratio:,.0f} times too large" if ratio > 1 else f"{1 / ratio:,.0f} times too small"


@lru_cache(maxsize=8192)
def _significant(number: float) -> str:
    """Return the digits of a number without its sign, its dot, and the zeros at either end."""
    return f"{abs(number):.6f}".rstrip("0").replace(".", "").strip("0")


def _same_size(left: float, right: float) -> bool:
    low, high = sorted((abs(left), abs(right)))
    return high < low * 10


def _swapped(left: str, right: str) -> bool:
    """Whether one text is the other with two neighbours swapped."""
    if len(left) != len(right):
        return False
    places = [place for place, (one, other) in enumerate(zip(left, right, strict=True)) if one != other]
    if len(places) != 2 or places[1] != places[0] + 1:
        return False
    first, second = places
    return left[first] == right[second] and left[second] == right[first]


def _one_edit(left: str, right: str) -> bool:
    """Whether one text becomes the other by one swap, or one character changed, dropped or added."""
    if abs(len(left) - len(right)) > 1 or left == right:
        return False
    if len(left) == len(right):
        differing = sum(one != other for one, other in zip(left, right, strict=True))
        return differing == 1 or _swapped(left, right)
    short, long = sorted((left, right), key=len)
    start = 0
    while start < len(short) and short[start] == long[start]:
        start += 1
    return short[start:] == long[start + 1 :]


def _moments_flipped(said: Key, held: Key) -> bool:
    if not (isinstance(said, tuple) and isinstance(held, tuple)) or len(said) != len(held):
        return False
    if len(said) == 1:
        return _swapped(_clock(said[0]), _clock(held[0]))
    if len(said) != 3 or len(held) != 3 or not (said[2] and held[2]):
        return False
    if said[1:] == held[1:]:
        return said[0] > 0 and held[0] > 0 and _one_edit(str(said[0]), str(held[0]))
    if 0 < said[0] != held[0] > 0:
        return False
    if (said[1], said[2]) == (held[2], held[1]):
        return True
    return _swapped(f"{said[1]:02}{said[2]:02}", f"{held[1]:02}{held[2]:02}")


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}{minutes % 60:02}"
