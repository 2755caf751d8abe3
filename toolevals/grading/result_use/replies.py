"""A reply as text around its values: the words beside each, and what it is about."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from toolevals.grading.result_use.fields import stems_of
from toolevals.grading.result_use.lexicon import APPROXIMATE_WORDS, EXAMPLE_CUES, GENERAL_WORDS, INTENT_CUES
from toolevals.grading.result_use.mentions import Mention

# How far before and after a value its words are looked for.
_BEFORE, _AFTER = 64, 28
_WORD = re.compile(r"[^\W\d_]+(?:_[^\W\d_]+)*")
_BREAK = re.compile(r"[\n;|]|[.!?](?=\s|$)")
_MARKS = frozenset(".!?")
_start = attrgetter("start")
_OPERATORS = frozenset("+-×=/÷–")
_AFTER_BREAK = re.compile(r"[\n;|,.()]|\band\b|\bfor\b|\bat\b")


class Sentence(NamedTuple):
    """A sentence or line in lower case, and its words."""

    text: str
    words: frozenset[str]


@dataclass(slots=True)
class Reply:
    """One reply: its message's place, its text, its values in order.

    `subjects` are the things that it names, once they were looked for; `line_ends` the last supported
    amount of each line, by the line's start.
    """

    message: int
    text: str
    mentions: list[Mention]
    subjects: list[tuple[int, int, str]] | None = None
    line_ends: dict[int, float] = field(default_factory=dict)

    @property
    def counts(self) -> set[float]:
        """The small bare numbers of the reply above one."""
        if self._counts is None:
            self._counts = {mention.value for mention in self.mentions if mention.is_weak and mention.value > 1}
        return self._counts

    _counts: set[float] | None = None
    _before: dict[int, frozenset[str]] = field(default_factory=dict)
    _after: dict[int, frozenset[str]] = field(default_factory=dict)
    _segments: dict[int, tuple[int, int]] = field(default_factory=dict)
    _sentences: dict[tuple[int, int], Sentence] = field(default_factory=dict)

    @property
    def breaks(self) -> list[int]:
        """Where sentences and lines end: the places of the marks that end them."""
        if self._breaks is None:
            self._breaks = [mark.start() for mark in _BREAK.finditer(self.text)]
        return self._breaks

    _breaks: list[int] | None = None

    def line_start(self, mention: Mention) -> int:
        """Return where a value's line begins."""
        return self.text.rfind("\n", 0, mention.start) + 1

    def between(self, start: int, end: int) -> list[Mention]:
        """Return the values that stand between two places."""
        first = bisect_left(self.mentions, start, key=_start)
        return self.mentions[first : bisect_left(self.mentions, end, key=_start)]

    def words_before(self, place: int) -> frozenset[str]:
        """Return the stems between the value and the one before it, as far as the sentence or line goes."""
        known = self._before.get(place)
        if known is None:
            known = self._before[place] = self._stems_before(place)
        return known

    def _stems_before(self, place: int) -> frozenset[str]:
        mention = self.mentions[place]
        start = max(mention.start - _BEFORE, 0)
        for position in range(place - 1, max(place - 4, -1), -1):
            if self.mentions[position].end <= mention.start:
                start = max(start, self.mentions[position].end)
                break
        return self._stems(start, mention.start)

    def words_close(self, place: int) -> frozenset[str]:
        """Return the stems among the last three words before the value."""
        start = self.mentions[place].start
        return stems_of(_WORD.findall(self.text, self._piece_start(max(start - 40, 0), start), start)[-3:])

    def words_wide(self, place: int) -> frozenset[str]:
        """Return the stems before the value back to the start of its sentence or line, past other values."""
        mention = self.mentions[place]
        return self._stems(max(mention.start - _BEFORE, 0), mention.start)

    def words_after(self, place: int) -> frozenset[str]:
        """Return the stems right after the value."""
        known = self._after.get(place)
        if known is None:
            known = self._after[place] = self._stems_after(place)
        return known

    def _stems_after(self, place: int) -> frozenset[str]:
        end = self.mentions[place].end
        piece = self.text[end : end + _AFTER]
        stop = _AFTER_BREAK.search(piece)
        return stems_of(_WORD.findall(piece[: stop.start()] if stop else piece)[:2])

    def is_approximate(self, place: int) -> bool:
        """Whether the value is said to be a round figure."""
        start = self.mentions[place].start
        words = self.text[max(0, start - 28) : start].lower().replace("~", " ~ ").split()[-3:]
        return not APPROXIMATE_WORDS.isdisjoint(words)

    def is_general(self, place: int) -> bool:
        """Whether the sentence speaks of what is usual, and not of the thing that a result is about."""
        return self.has_word(place, GENERAL_WORDS)

    def has_cue(self, place: int, cues: tuple[str, ...]) -> bool:
        """Whether one of some pieces of text stands in the value's sentence."""
        sentence = self._sentence(place).text
        return any(cue in sentence for cue in cues)

    def has_word(self, place: int, words: frozenset[str]) -> bool:
        """Whether one of the words stands in the value's sentence."""
        return not words.isdisjoint(self._sentence(place).words)

    def is_example(self, place: int) -> bool:
        """Whether the value only shows a form, as in "for example #W0000000"."""
        start = self.mentions[place].start
        before = self.text[max(0, start - 80) : start].lower()
        return any(cue in before for cue in EXAMPLE_CUES)

    def is_intent(self, place: int) -> bool:
        """Whether the sentence says what the subject is about to do, or asks."""
        start, end = self.segment(place)
        sentence = self.text[start : end + 1].lower().replace("’", "'")
        return sentence.endswith("?") or any(cue in sentence for cue in INTENT_CUES)

    def is_in_arithmetic(self, place: int) -> bool:
        """Whether a sign of calculation stands beside the value."""
        mention = self.mentions[place]
        before = self.text[max(0, mention.start - 3) : mention.start].strip(" *")
        after = self.text[mention.end : mention.end + 3].strip(" *")
        return before[-1:] in _OPERATORS or after[:1] in _OPERATORS

    def segment(self, place: int) -> tuple[int, int]:
        """Return where the value's line or sentence begins and ends."""
        known = self._segments.get(place)
        if known is None:
            known = self._segments[place] = self._found_segment(self.mentions[place])
        return known

    def _found_segment(self, mention: Mention) -> tuple[int, int]:
        start = self._piece_start(max(mention.start - 200, 0), mention.start)
        limit = min(len(self.text), mention.end + 200)
        following = bisect_left(self.breaks, mention.end)
        end = self.breaks[following] if following < len(self.breaks) else limit
        # A mark at the limit ends the piece that is looked at, whatever follows it.
        return start, min(end, limit - 1 if limit > mention.end and self.text[limit - 1] in _MARKS else limit)

    def _sentence(self, place: int) -> Sentence:
        segment = self.segment(place)
        known = self._sentences.get(segment)
        if known is None:
            text = self.text[segment[0] : segment[1]].lower()
            known = self._sentences[segment] = Sentence(text, frozenset(_WORD.findall(text)))
        return known

    def _stems(self, start: int, end: int) -> frozenset[str]:
        return stems_of(_WORD.findall(self.text, self._piece_start(start, end), end)[-8:])

    def _piece_start(self, start: int, end: int) -> int:
        """Return where the last sentence or line begins that is between two places."""
        if start < end and self.text[end - 1] in _MARKS:
            # A mark right before a value ends a sentence, though no space follows.
            return end
        last = bisect_left(self.breaks, end) - 1
        return max(start, self.breaks[last] + 1) if last >= 0 else start
