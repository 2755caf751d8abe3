"""Counts the explanatory text of a page: sentences and remarks that a person reads, not data, labels or buttons.

`python -m scripts.dev.page_text FILE...` prints the characters of each saved page; with `--list`, every text.
"""

from __future__ import annotations

import argparse
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

from scripts.dev.environment import say

# An element of these explains: a paragraph, a caption, or what the styles set as a remark.
ELEMENTS: Final = {"p", "figcaption", "dt", "noscript"}
REMARKS: Final = {"soft", "faint", "aside", "help", "legend", "notice", "empty"}
# Within it, these are what is done, what is named or what is counted.
LEFT_OUT: Final = {"a", "button", "label", "code", "kbd", "time", "b", "pre", "select", "option", "textarea", "svg"}
DATA: Final = {"num", "mono", "tool", "tag", "json", "n", "key", "subnav", "subject-facts", "verdict", "ends"}
# What people and agents wrote, and names in a row.
WRITTEN: Final = {"msg", "textdiff", "agreed", "history"}
# What is not seen before it is asked for.
UNSEEN: Final = {"script", "style", "template", "dialog", "title", "head"}
VOID: Final = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class _Reader(HTMLParser):
    """Collects the explanatory texts of a page, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool, bool]] = []
        self.texts: list[str] = []
        self.is_new = True

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in VOID:
            return
        values = dict(attributes)
        classes = set((values.get("class") or "").split())
        explains, hidden = self.open[-1][1:] if self.open else (False, False)
        inside_closed = bool(self.open) and self.open[-1][0] == "details:closed" and tag != "summary"
        hidden = hidden or inside_closed or tag in UNSEEN or tag in LEFT_OUT or bool(classes & (DATA | WRITTEN))
        hidden = hidden or bool({"hidden", "popover"} & values.keys()) or "visually-hidden" in classes
        starts = tag in ELEMENTS or bool(classes & REMARKS)
        self.is_new = self.is_new or (starts and not explains)
        name = "details:closed" if tag == "details" and "open" not in values else tag
        self.open.append((name, explains or starts, hidden))

    def handle_endtag(self, tag: str) -> None:
        while self.open:
            name = self.open.pop()[0]
            if name.partition(":")[0] == tag:
                break
        self.is_new = self.is_new or not (self.open and self.open[-1][1])

    def handle_data(self, data: str) -> None:
        words = " ".join(data.split())
        if not (self.open and self.open[-1][1] and not self.open[-1][2] and any(map(str.isalpha, words))):
            return
        if self.is_new or not self.texts:
            self.texts.append(words)
        else:
            self.texts[-1] += f" {words}"
        self.is_new = False


def explanations(html: str) -> list[str]:
    """Return the explanatory texts that a page shows, in order."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.texts


def characters(html: str) -> int:
    """Return how many characters of explanatory text a page shows."""
    return sum(map(len, explanations(html)))


def main() -> int:
    """Print the counts of saved pages."""
    parser = argparse.ArgumentParser(description="Count the characters of explanatory text of saved pages.")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--list", action="store_true", help="print every text")
    options = parser.parse_args()
    total = 0
    for file in options.files:
        texts = explanations(file.read_text("utf-8"))
        count = sum(map(len, texts))
        total += count
        say(f"{count:6} {file.name}")
        if options.list:
            say("\n".join(f"       {len(text):4} {text}" for text in texts))
    say(f"{total:6} in all")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
