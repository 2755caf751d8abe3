"""Test what a page, a CSV file and an API answer say, as plain values that can be compared."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from typing import Any


def csv_rows(response: Any) -> list[dict[str, str]]:
    """Return the rows of a streamed file by column."""
    text = b"".join(response.streaming_content).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def csv_lines(response: Any) -> list[list[str]]:
    """Return the lines of a streamed file."""
    text = b"".join(response.streaming_content).decode()
    return list(csv.reader(io.StringIO(text, newline="")))


class Table(HTMLParser):
    """The cells of the first table of a class, row by row, as text."""

    def __init__(self, html: str, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.rows: list[list[str]] = []
        self._inside = self._cell = self._done = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table" and not self._done:
            self._inside = self.kind in (dict(attrs).get("class") or "").split()
        elif self._inside and tag == "tr":
            self.rows.append([])
        elif self._inside and tag in ("td", "th"):
            self.rows[-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "table" and self._inside:
            self._inside, self._done = False, True
        elif tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        if self._inside and self._cell:
            self.rows[-1][-1] += data


def table(response: Any, kind: str) -> list[list[str]]:
    """Return a table of a page: rows of texts with single spaces."""
    return [[" ".join(cell.split()) for cell in row] for row in Table(response.content.decode(), kind).rows]


def embedded(response: Any, name: str) -> Any:
    """Return the JSON that a page carries for its script."""
    html = response.content.decode()
    start = html.index(f'<script id="{name}" type="application/json">')
    return json.loads(html[html.index(">", start) + 1 : html.index("</script>", start)])


def text(response: Any) -> str:
    """Return a page's source with single spaces, and none before the end of a tag."""
    return " ".join(response.content.decode().split()).replace(" >", ">")
