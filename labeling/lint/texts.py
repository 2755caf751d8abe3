"""Tell how alike texts are: words, trigrams of letters, TF-IDF, and sketches that find near-duplicates among many."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from math import log, sqrt
from zlib import crc32

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# How descriptions open that would fit any tool: not a word of when to use this one.
LEAD = re.compile(r"(?:please )?(?:use|call|invoke) (?:this|the) (?:tool|function) to\b", re.IGNORECASE)
SHINGLE = 3
SKETCH = 32


def words_in(text: str) -> list[str]:
    """Return the words of a text in lower case; names in snake and camel case fall into their words."""
    return _WORD.findall(_CAMEL.sub(" ", text).replace("_", " ").lower())


def trigrams(text: str) -> frozenset[str]:
    """Return the trigrams of letters of a text, its words one space apart."""
    plain = f" {' '.join(words_in(text))} "
    return frozenset(plain[at : at + 3] for at in range(len(plain) - 2))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of what both have in what either has, 0..1; 0 where both are empty."""
    return len(one & other) / len(one | other) if one or other else 0.0


def tf_idf(texts: Iterable[Sequence[str]]) -> list[dict[str, float]]:
    """Return the TF-IDF vectors of texts, each of length 1: tf = 1 + ln n, idf = ln((1 + N) / (1 + df)) + 1."""
    counts = [Counter(text) for text in texts]
    spread = Counter(word for count in counts for word in count)
    size = len(counts)
    vectors = []
    for count in counts:
        vector = {word: (1 + log(n)) * (log((1 + size) / (1 + spread[word])) + 1) for word, n in count.items()}
        length = sqrt(sum(weight * weight for weight in vector.values())) or 1.0
        vectors.append({word: weight / length for word, weight in vector.items()})
    return vectors


def cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the cosine of two vectors of length 1, 0..1."""
    few, many = (one, other) if len(one) <= len(other) else (other, one)
    return sum(weight * many[word] for word, weight in few.items() if word in many)


def sketch(words: Sequence[str]) -> array[int]:
    """Return the SKETCH smallest hashes of a text's shingles of SHINGLE words (bottom-k: Cohen and Kaplan, 2007)."""
    shingles = {" ".join(words[at : at + SHINGLE]) for at in range(max(1, len(words) - SHINGLE + 1))}
    return array("I", nsmallest(SKETCH, {crc32(shingle.encode()) for shingle in shingles}))


def resemblance(one: array[int], other: array[int]) -> float:
    """Return an estimate of the Jaccard index of two texts' shingles from their sketches; exact for short texts."""
    smallest = sorted({*one, *other})[:SKETCH]
    both = set(one) & set(other)
    return sum(value in both for value in smallest) / len(smallest) if smallest else 0.0
