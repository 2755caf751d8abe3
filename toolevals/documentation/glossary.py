"""Reads the glossary: each word with its meaning and the page that says more."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from markdown_it import MarkdownIt

from toolevals.documentation.files import page_address, pages
from toolevals.packed import read_text

PAGE: Final = "glossary"
# The page marks the row of each word by an anchor of this beginning.
ANCHOR: Final = "word-"
_ROW: Final = re.compile(r"^\| (?P<word>[^|]+?) \| (?P<meaning>[^|]+?) \|$", re.MULTILINE)
_HEAD: Final = ("word", "---")
_MORE: Final = re.compile(r"\s*\[More\]\((?P<page>[\w-]+)\.md(?P<anchor>#[\w-]+)?\)$")
# An older word for the same thing, at the end.
_OLDER: Final = re.compile(r"(?<=[.!]) \([\w ]+\)$")
_NOT_IN_ANCHORS: Final = re.compile(r"[^\w]+")
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False})


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the glossary: its meaning as plain text, and the address of the page that says more."""

    name: str
    meaning: str
    address: str


def anchor_of(word: str) -> str:
    """Return the anchor of a word's row on the page of the glossary."""
    return ANCHOR + _NOT_IN_ANCHORS.sub("-", word.casefold()).strip("-")


def words(root: str = "/") -> Mapping[str, Word]:
    """Return every word by its name; none where this installation has no documents.

    `root` is where the installation is: the addresses of the words begin so.
    """
    path = pages().get(PAGE)
    return _read(root, path.stat().st_mtime_ns) if path else {}


@lru_cache(maxsize=2)
def _read(root: str, changed: int) -> Mapping[str, Word]:
    return words_of(read_text(pages()[PAGE]), root)


def words_of(text: str, root: str = "/") -> Mapping[str, Word]:
    """Return the words of a glossary's text. A word that stands twice keeps its first meaning."""
    words: dict[str, Word] = {}
    for row in _ROW.finditer(text):
        name = _plain(row["word"])
        if name not in _HEAD and name not in words:
            words[name] = _word(name, row["meaning"], root)
    return words


def _word(name: str, meaning: str, root: str) -> Word:
    more = _MORE.search(meaning)
    text = _OLDER.sub("", _plain(meaning[: more.start()] if more else meaning))
    if more:
        return Word(name, text, page_address(more["page"], root) + (more["anchor"] or ""))
    return Word(name, text, f"{page_address(PAGE, root)}#{anchor_of(name)}")


def _plain(markdown: str) -> str:
    """Return the words of a line of Markdown."""
    (inline,) = _MARKDOWN.parseInline(markdown)
    return "".join(child.content for child in inline.children or ())
