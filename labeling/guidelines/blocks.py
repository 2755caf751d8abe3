"""Read a guideline, plain text with a little structure, into blocks that a template prints escaped.

A line that begins with `#` is a heading, one that begins with `-` or `*` an entry of a list; an empty line ends a
paragraph; text between backticks is a name. Nothing else is special, and nothing becomes a link or HTML.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line; `name` where it stood between backticks."""

    text: str
    name: bool = False


@dataclass(frozen=True, slots=True)
class GuidelineBlock:
    """A heading ("h"), a paragraph ("p") or a list ("ul"): one line of spans, or one for each entry."""

    kind: str
    lines: tuple[tuple[Span, ...], ...]


def guideline_blocks(text: str) -> list[GuidelineBlock]:
    """Return a guideline's blocks, in order."""
    blocks: list[GuidelineBlock] = []
    marked = (_marked(line.strip()) for line in text.splitlines())
    for kind, group in groupby(marked, key=lambda one: one[0]):
        lines = [line for _, line in group]
        if kind == "p":
            blocks.append(GuidelineBlock("p", (_spans(" ".join(lines)),)))
        elif kind == "ul":
            blocks.append(GuidelineBlock("ul", tuple(_spans(line) for line in lines)))
        elif kind == "h":
            blocks += [GuidelineBlock("h", (_spans(line),)) for line in lines]
    return blocks


def _marked(line: str) -> tuple[str, str]:
    if not line:
        return "", ""
    if line.startswith("#"):
        return "h", line.lstrip("#").strip()
    if line[:2] in ("- ", "* "):
        return "ul", line[2:].strip()
    return "p", line


def _spans(line: str) -> tuple[Span, ...]:
    return tuple(_cut(line))


def _cut(line: str) -> Iterator[Span]:
    pieces = line.split("`")
    if len(pieces) % 2 == 0:
        # An odd backtick is just a character.
        pieces[-2:] = [f"{pieces[-2]}`{pieces[-1]}"]
    for number, piece in enumerate(pieces):
        if piece:
            yield Span(piece, name=number % 2 == 1)
