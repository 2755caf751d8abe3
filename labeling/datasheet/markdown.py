"""Write a datasheet as Markdown (CommonMark with GitHub's tables). People's text stays text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from labeling.datasheet.sections import Cell, Section, Table

# Whatever begins markup, a tag, an entity or an address: CommonMark lets any ASCII punctuation be escaped.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~&@!$^]|:(?=\S)|(?<=www)\.")
_BEGINS = re.compile(r"^(?:[-+=]|\d+(?=[.)](?: |$)))")


def escaped(text: str) -> str:
    """Return a text as one line of Markdown that reads as it is: no markup, HTML, link or control character."""
    plain = "".join(" " if char.isspace() else char for char in text if not _is_hidden(char))
    line = _MARKUP.sub(r"\\\g<0>", re.sub(" +", " ", plain).strip())
    if (begin := _BEGINS.match(line)) is None:
        return line
    at = begin.end() if line[0].isdigit() else 0
    return f"{line[:at]}\\{line[at:]}"


def markdown_lines(title: str, sections: Sequence[Section]) -> Iterator[str]:
    """Yield the lines of a datasheet, each with its end."""
    yield f"# {escaped(title)}\n"
    for section in sections:
        yield f"\n## {section.title}\n\n"
        for fact in section.facts:
            yield f"- **{escaped(fact.title)}**: {_parts(fact.parts)}\n"
        for table in section.tables:
            yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    yield f"\n### {escaped(table.title)}\n\n"
    yield _row(escaped(head.text) for head in table.heads)
    yield _row("---:" if head.is_number else "---" for head in table.heads)
    for row in table.rows:
        yield _row(_linked(cell) for cell in row)
    if table.note:
        yield f"\n{escaped(table.note)}\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _parts(parts: Sequence[Cell]) -> str:
    said = ""
    for part in parts:
        text = part.text
        # Escaping trims: the space between two parts stays outside.
        before, after = text[: len(text) - len(text.lstrip(" "))], text[len(text.rstrip(" ")) :]
        said += before + _linked(part) + after
    return said


def _linked(cell: Cell) -> str:
    text = escaped(cell.text)
    return f"[{text}](<{cell.url}>)" if cell.url else text


def _is_hidden(char: str) -> bool:
    """Tell whether a character shows nothing and is no space: controls, and what turns the reading direction."""
    return unicodedata.category(char) in ("Cc", "Cf", "Cs") and not char.isspace()
