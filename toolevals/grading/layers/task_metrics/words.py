"""Finds words and keywords of texts: whole, in any case, joined names split. Every function is linear in its text."""

from __future__ import annotations

import re
from typing import Any

from toolevals.grading.values import canonical

# Words that say nothing about a goal: those of the public definition.
_STOPWORDS = (
    "the a an is are was were be been being have has had do does did will would should could may might must and or but "
    "if then so that this it to of in for on with at by from as"
)
STOPWORDS = frozenset(re.findall(r"\w+", _STOPWORDS))
# Words of a request that name nothing that a run could come to.
_POLITE = (
    "i me my mine we us our ours you your yours he him his she her hers its they them their what which who whom whose "
    "where when why how please thank thanks hi hello hey can need needs want wants wanted like just also there here "
    "these those any all some no not yes ok okay about into out up down over again very too than because am"
)
_EMPTY = STOPWORDS | frozenset(_POLITE.split())
MOST_KEYWORDS = 64
# What comes after this much text is not looked at.
LONGEST_TEXT = 100_000

_WORD = re.compile(r"[^\W_]+")
_JOINED = re.compile(r"[^\W_]+(?:[-_.@][^\W_]+)+")
# In plain ASCII all else parts words: to write it as spaces, in bytes, takes less than a tenth of the pattern's time.
_AS_SPACES = bytes(code if chr(code).isalnum() else ord(" ") for code in range(128)) + bytes(128)
# The comma comes first: a pattern that begins with a condition is tried at every letter, which takes ten times as long.
_THOUSANDS = re.compile(r",(?<=[0-9],)(?=[0-9]{3}(?![0-9]))")


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, in one case, with thousands separators dropped."""
    text = text[:LONGEST_TEXT]
    plain = _THOUSANDS.sub("", text) if "," in text else text
    if plain.isascii():
        return plain.lower().encode().translate(_AS_SPACES).decode().split()
    small = plain.casefold()
    return small.encode().translate(_AS_SPACES).decode().split() if small.isascii() else _WORD.findall(small)


def keywords_of(text: str) -> tuple[str, ...]:
    """Return the different words of a text that are no stopwords, in order; at most 64."""
    return tuple([word for word in dict.fromkeys(words_of(text)) if word not in STOPWORDS])[:MOST_KEYWORDS]


def goal_keywords(text: str) -> tuple[str, ...]:
    """Return what a goal speaks of, in order, in one case: content words, and identifiers as wholes; at most 64.

    An identifier is joined by `-`, `_`, `.` or `@` and holds a digit or an `@`: BOOT-SHO-CHE-42, ada@shop.example.
    """
    text = text[:LONGEST_TEXT].casefold()
    wholes = [each for each in _JOINED.findall(text) if "@" in each or any(map(str.isdigit, each))]
    found = frozenset(wholes)
    rest = _JOINED.sub(lambda each: " " if each.group() in found else each.group(), text) if wholes else text
    words = (word for word in words_of(rest) if word not in _EMPTY and (len(word) > 1 or word.isdigit()))
    return tuple(dict.fromkeys((*wholes, *words)))[:MOST_KEYWORDS]


def holds_words(text: str, wanted: str) -> bool:
    """Tell whether the words of `wanted` stand in a text, one after another; no word stands in any text."""
    needle = " ".join(words_of(wanted))
    return not needle or f" {needle} " in f" {' '.join(words_of(text))} "


def share_found(keywords: tuple[str, ...], *texts: str) -> float:
    """Return the share of keywords that stand in any of the texts as whole words; 1 without keywords."""
    if not keywords:
        return 1.0
    return len(found_in(frozenset(keywords), *texts)) / len(keywords)


def found_in(keywords: frozenset[str], *texts: str) -> frozenset[str]:
    """Return the keywords that stand in any of the texts as whole words."""
    left = set(keywords)
    for text in texts:
        if not text or not left:
            continue
        small = text[:LONGEST_TEXT].casefold()
        # A number may be written with separators; every other word has to be there as it is.
        with_separators = "," in small
        left -= {
            word for word in left if (word in small or (with_separators and word.isdigit())) and _stands_in(word, small)
        }
    return keywords - left


def _stands_in(word: str, text: str) -> bool:
    """Tell whether a word stands in a text, both in one case, with no letter or digit next to it."""
    place = text.find(word)
    while place >= 0:
        end = place + len(word)
        if not (text[place - 1 : place].isalnum() or text[end : end + 1].isalnum()):
            return True
        place = text.find(word, end)
    return bool(word.isdigit() and "," in text and word in _WORD.findall(_THOUSANDS.sub("", text)))


def text_of(value: Any) -> str:
    """Return a JSON value as text to look for words in."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return canonical.exact(value)
    except (ValueError, RecursionError):
        return ""
