"""Says of a file of no known format what it has, which format is nearest and what it lacks for it, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

# So many keys are named.
_NAMED: Final = 8
_LONGEST: Final = 40
# A format is near where a file has half of its keys, or two of them.
_FEWEST: Final = 2
PAGE: Final = "docs/formats.md"
PLAIN: Final = (
    "The plain form has one example a line:\n"
    '{"id": "a1", "input": {"messages": [{"role": "user", "content": "..."}]}, "tools": [...],\n'
    ' "expected_tool": "name", "expected_args": {...}}\n'
    f"All formats: {PAGE}"
)


def unknown_words(document: Any, known: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    """Return what to tell the person whose file is of no known format.

    `known` has the title of each format with the keys that make it.
    """
    item = document[0] if isinstance(document, list) and document else document
    if not isinstance(item, Mapping) or not item:
        return f"it holds no objects. {PLAIN}"
    names = [str(key)[:_LONGEST] for key in item]
    said = f"it has {', '.join(names[:_NAMED])}"
    if len(names) > _NAMED:
        said += f" and {len(names) - _NAMED:,} more"
    return f"{said}. {_nearest(frozenset(map(str, item)), known)}{PLAIN}"


def _nearest(used: frozenset[str], known: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    """Return the format of whose own keys most are there, and the missing ones; empty where none is near."""
    scored = [(len(used.intersection(keys)), len(keys), title, keys) for title, keys in known if keys]
    near = [each for each in scored if 2 * each[0] >= each[1] or each[0] >= _FEWEST]
    near = [each for each in near if each[0]]
    if not near:
        return ""
    found = max(near, key=lambda each: (each[0] / each[1], each[0]))
    missing = ", ".join(key for key in found[3] if key not in used)
    if not missing:
        return f"The nearest format is {found[2]}: it has its keys, but not its values. "
    return f"The nearest format is {found[2]}, for which it lacks {missing}. "
