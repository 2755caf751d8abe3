"""Breaks long lines of templates where HTML does not mind white space, as part of `./dev fmt`.

A template tag stays on its line. A line is broken, in this order of preference: between a block and its neighbour;
between attributes; where text has a space; before the `>` of a tag.

djLint does not run in `./dev check`: of its 108 findings here, 100 were its taste or tags that a condition opens. The
others were buttons without a type, which `tests/project/test_front_end.py` finds now.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Final

from scripts.dev.environment import ROOT

LONGEST: Final = 160
TEMPLATES: Final = ROOT / "templates"
# A break nearer to the line's beginning leaves a stump: one of less worth further on is better.
SHORTEST: Final = 50

# Of these a browser drops the white space around.
_BLOCKS: Final = frozenset(
    re.findall(
        r"\w+",
        "address article aside caption col colgroup dd details dialog div dl dt fieldset figcaption figure footer form"
        " h1 h2 h3 h4 header hr legend li main nav ol option p section summary table tbody td tfoot th thead tr ul"
        " datalist select head body meta link",
    )
)
# In these every space is kept.
_KEPT: Final = ("pre", "textarea", "script", "style", "svg", "title")

_TEMPLATE: Final = r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}"
_QUOTED: Final = rf"\"(?:{_TEMPLATE}|[^\"])*\"|'(?:{_TEMPLATE}|[^'])*'"
_TAG: Final = rf"</?[a-zA-Z](?:{_TEMPLATE}|{_QUOTED}|[^>\"'])*>"
_TOKEN: Final = re.compile(
    rf"(?P<comment><!.*?>)|(?P<tag>{_TAG})|(?P<template>{_TEMPLATE})|(?P<text>[^<{{]+|[<{{])", re.DOTALL
)
_IN_TAG: Final = re.compile(rf"{_TEMPLATE}|{_QUOTED}|(?P<space>\s+)", re.DOTALL)
_CLASSES: Final = re.compile(rf"\sclass=\"(?P<names>(?:{_TEMPLATE}|[^\"])*)\"", re.DOTALL)
_NAME: Final = re.compile(r"</?([a-zA-Z][\w-]*)")

BLOCK, ATTRIBUTE, TEXT, BEFORE_END = range(4)


def places(template: str) -> Iterator[tuple[int, int, int]]:
    """Yield where a line may be broken: begin and end of what the break replaces, and its worth, the least the best."""
    tokens = [(match.lastgroup, match.group(), match.start(), match.end()) for match in _TOKEN.finditer(template)]
    kept = ""
    for (kind, token, start, end), (after, beside, _, _) in zip(tokens, [*tokens[1:], ("", "", 0, 0)], strict=True):
        name = found[1].lower() if kind == "tag" and (found := _NAME.match(token)) else ""
        if kept:
            if kept == "svg" and kind == "tag":
                yield from _in_tag(token, start)
            kept = "" if name == kept and token.startswith("</") else kept
            continue
        if name in _KEPT and not token.startswith("</"):
            kept = name if not token.endswith("/>") else ""
        if kind == "tag":
            yield from _in_tag(token, start)
        if kind == "text":
            for space in re.finditer(r"(?<!\n) +(?![ \n])", token):
                yield start + space.start(), start + space.end(), TEXT
        near = found[1].lower() if after == "tag" and (found := _NAME.match(beside)) else ""
        if kept or kind == "text" or after in ("text", ""):
            continue
        is_end = name in _BLOCKS and token.startswith("</")
        if is_end or (near in _BLOCKS and (name in _BLOCKS or not beside.startswith("</"))):
            yield end, end, BLOCK


def _in_tag(token: str, start: int) -> Iterator[tuple[int, int, int]]:
    for classes in _CLASSES.finditer(token):
        for space in re.finditer(rf"{_TEMPLATE}|(?P<space> +)", classes["names"]):
            if space["space"]:
                begin = start + classes.start("names")
                yield begin + space.start(), begin + space.end(), TEXT
    for inside in _IN_TAG.finditer(token):
        if inside["space"] and not token[inside.end() :].startswith(">"):
            yield start + inside.start(), start + inside.end(), ATTRIBUTE
    if not token.endswith("/>"):
        yield start + len(token) - 1, start + len(token) - 1, BEFORE_END


def broken(template: str) -> str:
    """Return a template without lines that are longer than they may be, as far as they can be broken."""
    while True:
        lines = template.split("\n")
        start, cut = 0, None
        found: list[tuple[int, int, int]] | None = None
        for line in lines:
            if len(line) > LONGEST:
                found = list(places(template)) if found is None else found
                cut = _cut(line, start, found)
                if cut:
                    break
            start += len(line) + 1
        if cut is None:
            return template
        begin, end, worth = cut
        indent = " " * (len(line) - len(line.lstrip()) + (0 if worth == BLOCK or _is_continued(lines, line) else 2))
        template = f"{template[:begin].rstrip(' ') if worth == TEXT else template[:begin]}\n{indent}{template[end:]}"


def _is_continued(lines: list[str], line: str) -> bool:
    """Say whether a line goes on with the one before, by being further in than it by what a break adds."""
    at = lines.index(line)
    return at > 0 and len(lines[at - 1]) > LONGEST - SHORTEST and _indent(line) == _indent(lines[at - 1]) + 2


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _cut(line: str, start: int, found: list[tuple[int, int, int]]) -> tuple[int, int, int] | None:
    first = start + _indent(line)
    inside = [each for each in found if first + SHORTEST <= each[0] <= start + LONGEST]
    inside = inside or [each for each in found if first < each[0] <= start + LONGEST]
    if inside:
        return min(inside, key=lambda each: (each[2], -each[0]))
    # What cannot be broken begins the line: the rest goes to the next.
    return min((each for each in found if start + LONGEST < each[0] < start + len(line)), default=None)


def long_lines() -> list[str]:
    """Return `path:line: length` of every line of a template that is too long."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {len(line)} characters"
        for path in sorted(TEMPLATES.rglob("*.html"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > LONGEST
    ]


def main() -> int:
    """Break the long lines of all templates; name those that stay too long, and return 1 if there are any."""
    for path in sorted(TEMPLATES.rglob("*.html")):
        before = path.read_text(encoding="utf-8")
        after = broken(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
    left = long_lines()
    for line in left:
        sys.stdout.write(f"{line}: break it by hand\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
