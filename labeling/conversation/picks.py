"""Find values in a conversation, dates in words too, that may belong into an argument, each with a code to pick it."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass, field

# In English, German, French and Spanish.
MONTHS = (
    "january february march april may june july august september october november december "
    "januar jänner februar märz mai juni juli oktober dezember "
    "janvier février mars avril juin juillet août septembre octobre novembre décembre "
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre "
    "jan feb mar apr jun jul aug sept sep oct nov dec"
)
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_MONTH = "|".join(sorted(MONTHS.split(), key=len, reverse=True))
_WEEKDAY = rf"(?:(?:{'|'.join(WEEKDAYS.split())}),?[ ](?:the[ ])?)?"
_DAY = r"\d{1,2}(?:st|nd|rd|th|er|\.)?"
_YEAR = r"(?:(?:\.?,?[ ](?:de[ ])?)\d{4}\b)?"
DATE = re.compile(
    rf"(?<![\w.-]){_WEEKDAY}{_DAY}[ ](?:of[ ]|de[ ])?(?:{_MONTH})\b{_YEAR}"
    rf"|\b{_WEEKDAY}(?:{_MONTH})[ ]\d{{1,2}}(?:st|nd|rd|th)?\b(?![:.]\d){_YEAR}"
    r"|(?<![\w.:-])\d{1,2}(?::\d{2})?[ ]?[ap]\.?m\b"
    r"|(?:\d{4}年)?\d{1,2}月\d{1,2}日",
    re.IGNORECASE,
)


# Chinese and Japanese, whose words only the browser tells apart.
WIDE = "\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uff65\U00020000-\U0003ffff"
TOKEN = re.compile(rf"[^\s{WIDE}]+")
# Punctuation around a word that is no part of a value.
EDGES = "\"'“”‘’()[]{}<>.,;:!?…*`"
DAYS = frozenset(
    {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
    | {"today", "tomorrow", "yesterday", "tonight", "noon", "midnight"}
)
# Words with a capital that name nothing, where they stand.
_NO_NAMES = (
    "I'm I'd I'll I've Hi Hello Hey Dear Thanks Thank Please Sorry Yes Yeah Okay Regards Best Cheers Mrs Sir Madam"
)
NO_NAMES = frozenset(_NO_NAMES.split())
# German writes every noun with a capital.
_GERMAN = "ich der die das und nicht ist bitte mein meine wir sie ein eine für mit"
GERMAN = frozenset(_GERMAN.split())
# A code of capitals, such as LIN-SH-M-WHT, or a name with underscores.
CODE = re.compile(r"[A-Z][A-Z0-9]+(?:[-_][A-Z0-9]+)+|\w+_\w+")
# The number of an item of a list, and its mark.
NUMBERING = re.compile(r"(?m)^[ \t]*(?:\d{1,2}[.)]|[-*•])(?=[ \t])")
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
    """Return where values begin and end, in their order."""
    dates = [match.span() for match in DATE.finditer(text)]
    skipped = {match.span() for match in NUMBERING.finditer(text)}
    taken = sorted([*dates, *skipped])
    has_names = _has_names(text)
    spans: list[tuple[int, int]] = []
    previous, end, place = "", 0, 0
    for match in TOKEN.finditer(text):
        word = match.group()
        if not taken and word.islower() and word.isalpha() and word not in DAYS:
            # Most words: no value, and no name.
            previous, end = word, match.end()
            continue
        bare = word.strip(EDGES)
        start = match.start() + (word.find(bare) if bare else 0)
        span = (start, start + len(bare))
        # What stands first in a line begins a sentence, and so does what stands behind a list's mark.
        begins = not previous or previous[-1] in '.!?:…"“)' or "\n" in text[end : match.start()]
        previous, end = word, match.end()
        while place < len(taken) and taken[place][1] <= match.start():
            place += 1
        if place < len(taken) and taken[place][0] < match.end():
            previous = "" if taken[place] in skipped else word
        elif bare and not begins and has_names and _is_name(bare):
            # "San Francisco": two names in a row are one value.
            if spans and text[spans[-1][1] : start] == " " and text[spans[-1][0]].isupper():
                span = (spans.pop()[0], span[1])
            spans.append(span)
        elif bare and _is_value(bare):
            spans.append(span)
    return sorted([*spans, *dates])


def _is_value(word: str) -> bool:
    if word.isalpha():
        # Most words: neither digits nor marks are in them.
        return word.lower() in DAYS
    if any(map(str.isdigit, word)):
        return True
    lower = word.lower()
    return (
        lower in DAYS
        or bool(CODE.fullmatch(word))
        or ("@" in word[1:-1] and "." in word)
        or lower.startswith(("http://", "https://"))
    )


def _has_names(text: str) -> bool:
    """Tell whether a capital says that a word is a name: not in German, nor in a text of capitals."""
    words = text.split()
    capitals = sum(map(str.isupper, words))
    return len(GERMAN.intersection(map(str.lower, words))) < 3 and capitals * 2 <= len(words)


def _is_name(bare: str) -> bool:
    """Tell whether a word is written like a proper name."""
    if len(bare) < 3 or not bare[0].isupper() or any(map(str.isdigit, bare)):
        return False
    return bare.lower() not in DAYS and bare.replace("’", "'") not in NO_NAMES
