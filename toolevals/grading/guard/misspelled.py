"""Corrects misspelled words of orders to a model: a reader understands them, and a pattern of the right words does not.

Only words that such orders are made of are corrected: those that one slip away from one of them, two for long ones, and
are no other word. A slip is a letter too much, one too few, another one, or two that changed places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

KEYS: Final = (
    "ignore", "ignoring", "disregard", "disregarding", "forget", "override", "bypass", "discard", "abandon", "reveal",
    "repeat", "disclose", "pretend", "everything", "previous", "preceding", "original", "earlier", "existing",
    "current", "initial", "hidden", "system", "developer", "unrestricted", "instruction", "instructions", "prompt",
    "prompts", "guidelines", "directives", "your",
)  # fmt: skip
# Words of their own that are as near, and what ends a key in another form of it, such as "ignored".
OTHERS: Final = frozenset(
    (
        *(
            "forgot",
            "forge",
            "forged",
            "forges",
            "gorget",
            "overrode",
            "overrides",
            "discord",
            "revel",
            "repeal",
            "exiting",
        ),
        *("ridden", "bidden", "earliest", "developed", "enclose", "disclosed", "restricted", "construction"),
        *("constructions", "obstruction", "obstructions", "destruction", "instructor", "instructors", "instructive"),
        *("sidelines", "guideline", "detectives", "directors", "direction", "directive", "previously", "unoriginal"),
        *("restriction", "restrictions", "extraction", "precious", "prepend", "reseat", "originale", "initiale"),
        *("directions", "gridlines", "instructing", "instructed", "overriding", "repeating", "revealing", "promote"),
    )
)
_ENDINGS: Final = ("", "s", "d", "r", "n", "ed", "er", "en", "al", "ly", "ing", "able")
_OWN: Final = OTHERS | {key + ending for key in KEYS for ending in _ENDINGS}
_LEAST, _LONG = 5, 10
_LONGEST: Final = max(map(len, KEYS)) + 2
_WORD: Final = re.compile(rf"\b[a-z]{{4,{_LONGEST}}}\b")


def corrected(text: str) -> str:
    """Return a case-folded text with misspelled words of orders set right."""
    return _WORD.sub(lambda word: _key_of(word.group()), text)


@lru_cache(maxsize=20_000)
def _key_of(word: str) -> str:
    """Return the key that a word misspells, else the word."""
    if word in _OWN:
        return word
    if len(word) < _LEAST:
        return next((key for key in KEYS if len(key) == len(word) and _is_swapped(word, key)), word)
    for less in _shorter(word, _slips(word)):
        for key in _NEAR.get(less, ()):
            if _distance(word, key) <= _slips(key):
                return key
    return word


def _slips(word: str) -> int:
    return 2 if len(word) >= _LONG else 1


def _shorter(word: str, slips: int) -> Iterator[str]:
    """Yield a word, and what is left of it without one letter, or without two."""
    yield word
    for place in range(len(word) if slips else 0):
        yield from _shorter(word[:place] + word[place + 1 :], 0)
        if slips > 1:
            rest = word[:place] + word[place + 1 :]
            yield from (rest[:other] + rest[other + 1 :] for other in range(place, len(rest)))


def _is_swapped(word: str, key: str) -> bool:
    """Tell whether two letters next to each other changed their places."""
    return any(word[:at] + word[at + 1] + word[at] + word[at + 2 :] == key for at in range(len(word) - 1))


def _distance(one: str, other: str) -> int:
    """Return how many slips lie between two words."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        earlier, before, row = before, row, [at, *([0] * len(other))]
        for place, wanted in enumerate(other, 1):
            row[place] = min(row[place - 1] + 1, before[place] + 1, before[place - 1] + (letter != wanted))
            if at > 1 and place > 1 and letter == other[place - 2] and one[at - 2] == wanted:
                row[place] = min(row[place], earlier[place - 2] + 1)
    return row[-1]


def _near() -> dict[str, list[str]]:
    """Return the keys by each text that is left of one without as many letters as it may have slips."""
    found: dict[str, list[str]] = {}
    for key in KEYS:
        for less in set(_shorter(key, _slips(key))) if len(key) >= _LEAST else ():
            found.setdefault(less, []).append(key)
    return found


_NEAR: Final = _near()
