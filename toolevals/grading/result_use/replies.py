"""A reply, its values, and the words around each of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import isnan

from toolevals.grading.result_use.lexicon import APPROXIMATE_WORDS, SUM_WORDS, words_of
from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.payloads import stems

# Words about a value stand no further from it than this.
MAX_REACH = 80
_BREAK = re.compile(r"[.!?;](?=\s)|[,:(){}|\n•]|\s(?:and|und|et|y|en|but|while)\s|--?\s")
_SENTENCE = re.compile(r"[.!?](?=\s)|\n")
_RELATIVE = words_of(
    "if would could than more less difference save saves extra additional per each every change changed"
    " update new upgrade instead from up until least most between or usually typically policy rule within"
    " earlier previously remaining left after before minus plus refund example such like request requested"
    " want with without including included incl"
)
_ZONES = re.compile(r"\b(?:UTC|GMT|local|zone|time|Uhrzeit|hora|heure|[A-Z]{1,2}[SD]T|CES?T)\b")
_DIGIT_OR_COMMA = re.compile(r"[\d,;(]")
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(slots=True)
class Reply:
    """One reply: its message's place, its text, the values in it.

    `stated` are the keys of fields that a grounded value gives; `numbers` are all numbers, in order.
    """

    message: int
    text: str
    mentions: list[Mention]
    stated: set[object] = field(default_factory=set)
    numbers: list[float] = field(init=False)
    _about: dict[int, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.numbers = [mention.value for mention in self.mentions if not isnan(mention.value)]

    def written(self, place: int) -> str:
        """Return a value as it stands."""
        mention = self.mentions[place]
        return self.text[mention.start : mention.end]

    def before(self, place: int) -> str:
        """Return the words before a value: back to the value before it, or to a comma or the like."""
        mention = self.mentions[place]
        last = next((p for p in range(place - 1, max(-1, place - 4), -1) if self.mentions[p].kind != "identifier"), -1)
        floor = self.mentions[last].end if last >= 0 else 0
        text = self.text[max(floor, mention.start - MAX_REACH) : mention.start]
        stop = 0
        stripped = text.rstrip(" :|*_`(~≈")
        for found in _BREAK.finditer(stripped):
            stop = found.end()
        return text[stop:]

    def after(self, place: int) -> str:
        """Return the words after a value: to the next value, or to a comma or the like."""
        mention = self.mentions[place]
        ceiling = self.mentions[place + 1].start if place + 1 < len(self.mentions) else len(self.text)
        text = self.text[mention.end : min(ceiling, mention.end + MAX_REACH)]
        found = _BREAK.search(text)
        return text[: found.start()] if found else text

    def about(self, place: int) -> frozenset[str]:
        """Return the stems of the words right beside a value."""
        words = self._about.get(place)
        if words is None:
            words = self._about[place] = stems(self.before(place)) | stems(self.after(place))
        return words

    def sentence(self, place: int) -> str:
        """Return the sentence or line around a value, cut at twice the reach."""
        mention = self.mentions[place]
        start = max(0, mention.start - 3 * MAX_REACH)
        head = self.text[start : mention.start]
        for found in _SENTENCE.finditer(head):
            start = mention.start - len(head) + found.end()
        tail = self.text[mention.end : mention.end + 2 * MAX_REACH]
        stop = _SENTENCE.search(tail)
        return self.text[start : mention.end + (stop.start() if stop else len(tail))]

    def is_approximate(self, place: int) -> bool:
        """Whether the words before a value say that it is not exact."""
        mention = self.mentions[place]
        before = _DIGIT_OR_COMMA.split(self.text[max(0, mention.start - 24) : mention.start])[-1]
        return before.rstrip().endswith(("~", "≈")) or not APPROXIMATE_WORDS.isdisjoint(_words(before)[-2:])

    def places(self, key: object) -> list[int]:
        """Return the places of the values that are written as a field's value."""
        return [place for place, mention in enumerate(self.mentions) if key in mention.keys]

    def is_relative(self, place: int) -> bool:
        """Whether the sentence around a value compares, proposes or supposes, so that no field need hold the value."""
        return not _RELATIVE.isdisjoint(_words(self.sentence(place))) or self.tells_sum(place)

    def tells_relation(self, place: int) -> bool:
        """Whether the words around a value say that it follows from others: a share, a sum, a difference, a formula."""
        is_share = self.mentions[place].unit == "%"
        return is_share or self.is_term(place) or self.is_approximate(place) or self.is_relative(place)

    def is_term(self, place: int) -> bool:
        """Whether a value is a part of a formula."""
        mention = self.mentions[place]
        before, after = (
            self.text[max(0, mention.start - 3) : mention.start].rstrip(),
            self.text[mention.end : mention.end + 3].lstrip(),
        )
        return before.endswith(("+", "×", "=", "/", "−")) or after.startswith(("+", "×", "=", "x ", "* "))

    def speaks_of_zone(self, place: int) -> bool:
        """Whether the sentence around a value speaks of a time zone."""
        return _ZONES.search(self.sentence(place)) is not None

    def tells_sum(self, place: int) -> bool:
        """Whether the words around a value announce a sum."""
        return not SUM_WORDS.isdisjoint(_words(self.before(place) + " " + self.after(place)))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
