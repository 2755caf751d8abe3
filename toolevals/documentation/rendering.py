"""Turn a document into HTML. Raw HTML in it is shown as text, links keep to known schemes, and no style is inline."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from toolevals.documentation import glossary
from toolevals.documentation.files import PREFIX, files, page_address, pages
from toolevals.packed import read_text

_COMMENT: Final = re.compile(r"^<!--.*?-->\n", re.MULTILINE)
_NOT_IN_ANCHORS: Final = re.compile(r"[^\w\- ]")
_TABLE: Final = '<div class="scroll-x" tabindex="0" role="region" aria-label="Table"><table class="table-te">\n'


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page: its level from 1, its text, and the anchor that links name."""

    level: int
    title: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Section:
    """The text below one heading, as plain text."""

    heading: Heading
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A page: its title, its HTML, which is safe to show, and its sections in order."""

    name: str
    title: str
    html: str
    sections: tuple[Section, ...]

    @property
    def contents(self) -> tuple[Heading, ...]:
        """The headings of the table of contents."""
        return tuple(each.heading for each in self.sections if each.heading.level == 2)


def document(name: str, root: str = "/") -> Document:
    """Return a page, rendered again when its file has changed. Raises KeyError where there is no page of that name.

    `root` is where the installation is: the addresses of the page's links begin so.
    """
    path = pages()[name]
    return _read(name, root, path.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _read(name: str, root: str, changed: int) -> Document:
    return render(read_text(pages()[name]), name, root)


def render(text: str, name: str, root: str = "/") -> Document:
    """Render a page's Markdown; `name` says where its links lead from."""
    tokens = _MARKDOWN.parse(_COMMENT.sub("", text))
    headings = _mark_headings(tokens)
    for token in tokens:
        for child in token.children or ():
            if child.type in ("link_open", "image"):
                _lead(child, name, root)
        _hide_dead_links(token)
        # The alignment of a cell would be an inline style, which the pages' policy forbids.
        token.attrs.pop("style", None)
    if name == glossary.PAGE:
        _mark_words(tokens)
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return Document(name, headings[0].title if headings else name, html, _sections(tokens, headings))


def _mark_headings(tokens: Sequence[Token]) -> list[Heading]:
    """Give every heading its anchor, as forges make them, and return them in order."""
    headings: list[Heading] = []
    counts: dict[str, int] = {}
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            title = _plain(inline)
            anchor = _NOT_IN_ANCHORS.sub("", title.lower()).replace(" ", "-")
            earlier = counts.get(anchor, 0)
            counts[anchor] = earlier + 1
            heading = Heading(int(token.tag[1]), title, f"{anchor}-{earlier}" if earlier else anchor)
            token.attrSet("id", heading.anchor)
            token.meta["title"] = title
            headings.append(heading)
    return headings


def _mark_words(tokens: Sequence[Token]) -> None:
    """Give the row of every word of the glossary its anchor."""
    for row, cell, inline in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if row.type == "tr_open" and cell.type == "td_open":
            row.attrSet("id", glossary.anchor_of(_plain(inline)))


def _plain(token: Token) -> str:
    """Return the words of an inline token."""
    parts = (child.content or (" " if "break" in child.type else "") for child in token.children or ())
    return "".join(parts)


def _sections(tokens: Sequence[Token], headings: Sequence[Heading]) -> tuple[Section, ...]:
    texts: list[list[str]] = [[] for _ in headings]
    place = -1
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type == "heading_open":
            place += 1
        elif place >= 0 and token.type == "inline" and not (before and before.type == "heading_open"):
            texts[place].append(_plain(token))
        elif place >= 0 and token.type in ("fence", "code_block"):
            texts[place].append(token.content)
    return tuple(
        Section(heading, " ".join(" ".join(text).split())) for heading, text in zip(headings, texts, strict=True)
    )


def _lead(token: Token, name: str, root: str) -> None:
    """Turn a link between files into one between addresses. What is not served loses its address."""
    key = "src" if token.type == "image" else "href"
    target, _, anchor = str(token.attrs.get(key, "")).partition("#")
    if "://" in target or target.startswith("mailto:") or not target:
        return
    path = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
    if path.removesuffix(".md") in pages() and path.endswith(".md"):
        token.attrSet(key, page_address(path.removesuffix(".md"), root) + (f"#{anchor}" if anchor else ""))
    elif path in files():
        token.attrSet(key, f"{root}{PREFIX}files/{path}")
    else:
        token.meta["dead"] = True


def _hide_dead_links(token: Token) -> None:
    """Leave the words of a link that leads to no document, and the description of a picture that is not there."""
    kept: list[Token] = []
    dead: list[bool] = []
    for child in token.children or ():
        if child.type == "link_open":
            dead.append(bool(child.meta.get("dead")))
        is_dead = child.type in ("link_open", "link_close") and bool(dead) and dead[-1]
        if child.type == "link_close" and dead:
            dead.pop()
        if child.type == "image" and child.meta.get("dead"):
            kept.append(Token("text", "", 0, content=child.content))
        elif not is_dead:
            kept.append(child)
    if token.children is not None:
        token.children = kept


def _heading_close(self: object, tokens: Sequence[Token], place: int, *_: object) -> str:
    """Put a link to itself at the end of a heading."""
    opened = tokens[place - 2]
    anchor, title = escape(str(opened.attrs["id"])), escape(str(opened.meta["title"]))
    link = f'<a class="anchor" href="#{anchor}" aria-label="Link to: {title}">#</a>' if opened.tag != "h1" else ""
    return f"{link}</{tokens[place].tag}>\n"


def _fence(self: object, tokens: Sequence[Token], place: int, *_: object) -> str:
    """Put out a block of code, which scrolls by keys too where it is wide."""
    return f'<pre tabindex="0"><code>{escape(tokens[place].content)}</code></pre>\n'


def _markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    made.add_render_rule("heading_close", _heading_close)
    made.add_render_rule("table_open", lambda *_: _TABLE)
    made.add_render_rule("table_close", lambda *_: "</table></div>\n")
    made.add_render_rule("fence", _fence)
    return made


_MARKDOWN: Final = _markdown()
