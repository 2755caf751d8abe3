"""Finds the file of a checkout that defines the tools, and the line of each."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

# Longer files are not looked into.
_LARGEST: Final = 4_000_000
# A tool's name as JSON, YAML, TOML and keywords of Python say it, an operation of OpenAPI, and a function.
_NAMED: Final = re.compile(
    r"""(?<![\w.-])["']?(?:name|operationId)["']?[ \t]*[:=][ \t]*(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"',}\]#]+))"""
    r"""|^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*\(""",
    re.MULTILINE,
)


def lines_of_tools(file: Path, tools: Collection[str]) -> dict[str, int]:
    """Return the lines, from 1, of the tools that a file names once. One that it names twice could be either."""
    try:
        text = file.read_text(encoding="utf-8") if file.stat().st_size <= _LARGEST else ""
    except (OSError, ValueError):
        return {}
    places: defaultdict[str, list[int]] = defaultdict(list)
    for found in _NAMED.finditer(text):
        name = next(each for each in found.groups() if each is not None)
        if name in tools:
            places[name].append(found.start(found.lastindex or 0))
    return {name: text.count("\n", 0, at[0]) + 1 for name, at in places.items() if len(at) == 1}


def file_of_tools(root: Path, names: Iterable[str], tools: Collection[str]) -> tuple[str, Mapping[str, int]]:
    """Return the file of a checkout that names most of the tools, and their lines; the first by name of several."""
    best: tuple[str, Mapping[str, int]] = "", {}
    for name in sorted(names):
        file = (root / name).resolve()
        # Names come from a pull request: one that leads out of the checkout is none of it.
        lines = lines_of_tools(file, tools) if file.is_relative_to(root.resolve()) and file.is_file() else {}
        if len(lines) > len(best[1]):
            best = name, lines
    return best
