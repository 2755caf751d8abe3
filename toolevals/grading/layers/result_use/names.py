"""Finds what a reply asserts besides numbers, dates and identifiers: names, and sentences in words alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from toolevals.grading.layers.result_use.values import Mention

# Words of letters, also joined as in `m.castellano`; and what ends a sentence, a line, a cell or a heading.
_WORD = re.compile(r"[^\W\d_]+(?:[-._@'’][^\W\d_]+)*")
_STARTS = re.compile(r"(?:[.!?:](?=[\s*\"”])|[\n|•]|\A)[\s*_#>|\"“„'(\[\d.)-]*\Z")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"”*_)]*\s|\n")
_JOINED = re.compile(r"[^\W\d_]{2,}[._@][^\W\d_]{4,}|[^\W\d_][._][^\W\d_]{4,}")
_REACH = 40
_SPEAKER = frozenset({"i", "i'm", "i'd", "i'll", "i've"})


def names_in(text: str, mentions: Sequence[Mention]) -> Iterator[tuple[int, int]]:
    """Yield where the names of a text stand; the words of values are none.

    Names are words with a capital inside a sentence, joined words, and those in scripts without capitals.
    """
    taken = iter(mentions)
    mention = next(taken, None)
    for word in _WORD.finditer(text):
        while mention is not None and mention.end <= word.start():
            mention = next(taken, None)
        if mention is not None and mention.start < word.end():
            continue
        first, said = word[0][0], word[0].casefold().replace("’", "'")
        if first.islower() and _JOINED.fullmatch(word[0]) is None:
            continue
        is_start = first.isupper() and _STARTS.search(text[max(0, word.start() - _REACH) : word.start()])
        if not is_start and said not in _SPEAKER:
            yield word.span()


def sentences(text: str, held: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, bool]]:
    """Yield where the sentences that are no questions stand, and whether they hold a value or name at these places."""
    start, place = 0, 0
    ends = [*((found.start(), found.end()) for found in _SENTENCE_END.finditer(text)), (len(text), len(text))]
    for end, following in ends:
        while place < len(held) and held[place][1] <= start:
            place += 1
        has_value = place < len(held) and held[place][0] < end
        sentence = text[start:end].strip()
        if _WORD.search(sentence) and not sentence.rstrip('"”*_)').endswith("?"):
            yield start, end, has_value
        start = following
