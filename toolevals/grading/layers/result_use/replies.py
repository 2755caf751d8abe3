"""Reads a reply: its values, and the words around each of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from toolevals.grading.layers.result_use.payloads import FieldValue, stems
from toolevals.grading.layers.result_use.values import Mention

# Words about a value stand no further from it than this.
MAX_REACH = 80
_BREAK = re.compile(r"[.!?;](?=\s)|[,:(){}|\n•]|\s(?:and|und|et|y|en|but|while)\s|--?\s")
_SENTENCE = re.compile(r"[.!?](?=\s)|\n")


@dataclass(slots=True)
class Reply:
    """One reply: its message's place, its text, the values in it.

    `stated` are the keys of fields that a grounded value gives.
    """

    message: int
    text: str
    mentions: Sequence[Mention]
    stated: set[object] = field(default_factory=set)
    _about: dict[int, frozenset[str]] = field(default_factory=dict)

    def written(self, claim_index: int) -> str:
        """Return a value as it stands."""
        return self.text[self.mentions[claim_index].start : self.mentions[claim_index].end]

    def before(self, claim_index: int) -> str:
        """Return the words before a value: back to the value before it, or to a comma or the like."""
        start = self.mentions[claim_index].start
        others = (self.mentions[at] for at in range(claim_index - 1, max(-1, claim_index - 4), -1))
        floor = next((other.end for other in others if other.kind != "identifier"), 0)
        text = self.text[max(floor, start - MAX_REACH) : start]
        breaks = [found.end() for found in _BREAK.finditer(text.rstrip(" :|*_`(~≈"))]
        return text[breaks[-1] if breaks else 0 :]

    def after(self, claim_index: int) -> str:
        """Return the words after a value: to the next value, or to a comma or the like."""
        end = self.mentions[claim_index].end
        ceiling = self.mentions[claim_index + 1].start if claim_index + 1 < len(self.mentions) else len(self.text)
        return _BREAK.split(self.text[end : min(ceiling, end + MAX_REACH)], maxsplit=1)[0]

    def about(self, claim_index: int) -> frozenset[str]:
        """Return the stems of the words right next to a value."""
        if claim_index not in self._about:
            self._about[claim_index] = stems(self.before(claim_index)) | stems(self.after(claim_index))
        return self._about[claim_index]

    def names(self, claim_index: int, value: FieldValue) -> bool:
        """Return whether the words next to a value name the field."""
        return any_alike(value.labels, self.about(claim_index))

    def sentence(self, claim_index: int) -> str:
        """Return the sentence or line around a value, cut at some reach."""
        mention = self.mentions[claim_index]
        head = self.text[max(0, mention.start - 3 * MAX_REACH) : mention.start]
        tail = self.text[mention.end : mention.end + 2 * MAX_REACH]
        return _SENTENCE.split(head)[-1] + self.written(claim_index) + _SENTENCE.split(tail, maxsplit=1)[0]

    def is_term(self, claim_index: int) -> bool:
        """Return whether a value is a part of a formula."""
        start, end = self.mentions[claim_index].start, self.mentions[claim_index].end
        before, after = self.text[max(0, start - 3) : start].rstrip(), self.text[end : end + 3].lstrip()
        return before.endswith(("+", "×", "=", "/", "−")) or after.startswith(("+", "×", "=", "x ", "* "))


def any_alike(labels: Iterable[str], words: Iterable[str]) -> bool:
    """Return whether one of the labels is one of the words, or begins it, or the other way round."""
    return any(alike(label, word) for label in labels for word in words)


def all_alike(labels: Iterable[str], words: Iterable[str]) -> bool:
    """Return whether each of the labels is one of the words."""
    return all(any_alike((label,), words) for label in labels)


@lru_cache(maxsize=65536)
def alike(one: str, other: str) -> bool:
    """Return whether two stems are one word: equal, one begins the other, or both begin with most of each."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < 4:
        return False
    return long.startswith(short) or (len(short) > 5 and long.startswith(short[:-1]) and len(long) < len(short) + 3)
