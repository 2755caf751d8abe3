"""Search the documents by plain words: every word must occur in a section, or in its titles."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from toolevals.documentation.files import page_address, pages
from toolevals.documentation.rendering import Document, Section, document

MOST: Final = 50
LONGEST: Final = 200
MOST_WORDS: Final = 12
# Characters that are shown around the first hit.
BEFORE, AROUND = 60, 240


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of text; `hit` where it is a word that was looked for."""

    text: str
    hit: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A section that holds all words: its page, its title, its address, and the text around the first of them."""

    page: str
    title: tuple[Piece, ...]
    address: str
    excerpt: tuple[Piece, ...]


def search(words: str, root: str = "/") -> tuple[Hit, ...]:
    """Return the sections that hold all words, those with the words in their titles first; at most MOST.

    `root` is where the installation is: the addresses of the hits begin so.
    """
    wanted = words.casefold()[:LONGEST].split()[:MOST_WORDS]
    if not wanted:
        return ()
    # Each is made once: a longer word before one that it begins with.
    pattern = re.compile("|".join(map(re.escape, sorted({*wanted}, key=len, reverse=True))), re.IGNORECASE)
    hits: list[tuple[tuple[int, int], Hit]] = []
    for page in (document(name, root) for name in pages()):
        ranked = ((_rank(page, section, wanted), section) for section in page.sections)
        hits += ((rank, _hit(page, section, pattern, root)) for rank, section in ranked if rank)
    hits.sort(key=lambda each: each[0], reverse=True)
    return tuple(hit for _, hit in hits[:MOST])


def _rank(page: Document, section: Section, wanted: list[str]) -> tuple[int, int] | None:
    """Return how many words stand in the section's title, and how often they occur; None where one is missing."""
    title, text = section.heading.title.casefold(), section.text.casefold()
    whole = f"{page.title.casefold()} {title} {text}"
    if not all(word in whole for word in wanted) or not any(word in title or word in text for word in wanted):
        return None
    return sum(word in title for word in wanted), sum(text.count(word) for word in wanted)


def _hit(page: Document, section: Section, pattern: re.Pattern[str], root: str) -> Hit:
    first = pattern.search(section.text)
    start = max(0, first.start() - BEFORE) if first else 0
    text = section.text[start : start + AROUND]
    excerpt = ("… " if start else "") + text + (" …" if start + AROUND < len(section.text) else "")
    address = page_address(page.name, root) + (f"#{section.heading.anchor}" if section.heading.level > 1 else "")
    return Hit(page.title, _pieces(section.heading.title, pattern), address, _pieces(excerpt, pattern))


def _pieces(text: str, pattern: re.Pattern[str]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    end = 0
    for match in pattern.finditer(text):
        if match.start() > end:
            pieces.append(Piece(text[end : match.start()], hit=False))
        pieces.append(Piece(match[0], hit=True))
        end = match.end()
    if end < len(text):
        pieces.append(Piece(text[end:], hit=False))
    return tuple(pieces)
