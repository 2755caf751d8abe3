"""Values in a conversation that may belong into an argument, each with a short code to pick it by."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass, field

TOKEN = re.compile(r"\S+")
# Punctuation around a word that is no part of a value.
EDGES = "\"'“”‘’()[]{}<>.,;:!?…*`"
DAYS = frozenset(
    {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
    | {"today", "tomorrow", "yesterday", "tonight", "noon", "midnight"}
)
NO_NAMES = ("I", "I'm", "I’m", "I'd", "I’d", "I'll", "I’ll", "I've", "I’ve")
MAX_VALUE = 80
MAX_PICKS = 26 * 26


@dataclass(slots=True)
class Picks:
    """The values found so far, in reading order; equal ones share a code."""

    found: dict[str, int] = field(default_factory=dict)

    def add(self, value: str) -> bool:
        """Take a value in; False where there are too many, or it is too long to be one."""
        if value in self.found:
            return True
        if len(value) > MAX_VALUE or len(self.found) >= MAX_PICKS or not value.strip() or "\n" in value:
            return False
        self.found[value] = len(self.found)
        return True

    def code(self, value: str) -> str:
        """Return one letter each where 26 suffice, else two, so that no code begins another."""
        number, letters = self.found[value], string.ascii_lowercase
        return letters[number] if len(self.found) <= 26 else letters[number // 26] + letters[number % 26]


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text, which can be picked where `picks` is set."""

    text: str
    picks: Picks | None = None

    @property
    def code(self) -> str:
        return self.picks.code(self.text) if self.picks else ""


def segments(text: str, picks: Picks) -> tuple[Segment, ...]:
    """Return a text cut into pieces; ids, numbers, dates, addresses and proper names can be picked."""
    cut: list[Segment] = []
    done = 0
    for start, end in _values(text):
        if start < done or not picks.add(text[start:end]):
            continue
        if start > done:
            cut.append(Segment(text[done:start]))
        cut.append(Segment(text[start:end], picks))
        done = end
    if done < len(text):
        cut.append(Segment(text[done:]))
    return tuple(cut)


def _values(text: str) -> list[tuple[int, int]]:
    """Return where values begin and end."""
    found: list[tuple[int, int]] = []
    previous = ""
    for match in TOKEN.finditer(text):
        word = match.group()
        bare = word.strip(EDGES)
        start = match.start() + (word.find(bare) if bare else 0)
        span = (start, start + len(bare))
        if bare and _is_name(bare, word, previous):
            # "San Francisco": two names in a row are one value.
            if found and text[found[-1][1] : start] == " " and text[found[-1][0]].isupper():
                span = (found.pop()[0], span[1])
            found.append(span)
        elif bare and _is_value(bare):
            found.append(span)
        previous = word
    return found


def _is_value(word: str) -> bool:
    if any(character.isdigit() for character in word):
        return True
    lower = word.lower()
    return lower in DAYS or ("@" in word[1:-1] and "." in word) or lower.startswith(("http://", "https://"))


def _is_name(bare: str, word: str, previous: str) -> bool:
    """Tell whether a word is written like a proper name: capital, not at a sentence's beginning."""
    if len(bare) < 3 or not bare[0].isupper() or any(character.isdigit() for character in bare):
        return False
    begins = not previous or previous[-1] in '.!?:…"“)'
    return not begins and bare.lower() not in DAYS and bare not in NO_NAMES
