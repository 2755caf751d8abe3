"""Turn text into the words that ranking compares: split, lower-case, without endings and filler words."""

from __future__ import annotations

import re
from functools import lru_cache

# Letters of any script, or digits; underscores, dots and all else separate.
_RUNS = re.compile(r"[^\W\d_]+|\d+")
# `getOrderStatus` and `HTTPServer` are several words.
_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_SAY_NOTHING = (
    "a an and are as at be been but by can could did do does for from had has have how i if in into is it its just let "
    "like may me my need no not of on or our out please shall should so some that the their them then there these they "
    "this those to us want was we were what when where which who whose why will with would you your"
)
_STOP = frozenset(_SAY_NOTHING.split())


def words(text: str) -> list[str]:
    """Return the comparable words of `text`, in order, repeats kept."""
    parts = (word for run in _RUNS.findall(text) for word in _CASE.sub(" ", run).lower().split())
    return [stem(word) for word in parts if word not in _STOP]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return `word` without a common English ending: crude on purpose, and the same on both sides of a comparison."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ation", "ating", "ates", "ated", "ate", "ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith(("ss", "us")):
            return word[: -len(ending)]
    return word
