"""Says of a file of no known format what it has, which format is nearest and what it lacks for it, and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from toolevals.json_types import JsonMapping

# So many keys are named.
_NAMED: Final = 8
_LONGEST: Final = 40
# A format is near where a file has two of its keys, or one that only this format has.
_FEWEST: Final = 2
# Keys that files of any kind have tell nothing alone.
_COMMON: Final = frozenset(
    ("id", "type", "name", "data", "results", "config", "steps", "context", "plan", "text", "key")
)
# Files that people bring and that are of no use as they are: the keys that tell one, and what to bring instead.
_OTHERS: Final = (
    (("cells", "nbformat"), "it is a notebook: write its rows as JSON Lines"),
    (("log.entries",), "it is a HAR recording: take the bodies of its requests and responses"),
    (
        ("prompts", "providers"),
        "it is promptfoo's configuration: upload what `promptfoo eval --output` writes",
    ),
    (("mcpServers",), "it is a client's list of MCP servers: `toolevals import mcp` asks one of them for its tools"),
    (("info", "item"), "it is a Postman collection: export it as OpenAPI, which is read as tools"),
    (("input", "target"), "it is a dataset of Inspect: upload the log of a run of it"),
)
PAGE: Final = "docs/formats.md"
PLAIN: Final = (
    "The plain form has one example a line:\n"
    '{"id": "a1", "input": {"messages": [{"role": "user", "content": "..."}]}, "tools": [...],\n'
    ' "expected_tool": "name", "expected_args": {...}}\n'
    f"All formats: {PAGE}"
)


def unknown_words(document: object, known: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    """Return what to tell the person whose file is of no known format.

    `known` has the title of each format with the keys that make it.
    """
    item = document[0] if isinstance(document, list) and document else document
    if not isinstance(item, Mapping) or not item:
        return f"it holds no objects. {PLAIN}"
    for keys, words in _OTHERS:
        if all(_has(item, key) for key in keys):
            return f"{words}. {PLAIN}"
    names = [str(key)[:_LONGEST] for key in item]
    said = f"it has {', '.join(names[:_NAMED])}"
    if len(names) > _NAMED:
        said += f" and {len(names) - _NAMED:,} more"
    return f"{said}. {_nearest(frozenset(map(str, item)), known)}{PLAIN}"


def _has(item: JsonMapping, key: str) -> bool:
    outer, _, inner = key.partition(".")
    value = item.get(outer)
    return outer in item and (not inner or (isinstance(value, Mapping) and inner in value))


def _nearest(used: frozenset[str], known: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    """Return the format of whose own keys most are there, and the missing ones; empty where none is near."""
    formats = list(known)
    holders = Counter(key for _, keys in formats for key in keys)
    near = [
        (len(shared), len(shared) / len(keys), title, keys)
        for title, keys in formats
        if (shared := used.intersection(keys))
        and (len(shared) >= _FEWEST or any(holders[key] == 1 for key in shared - _COMMON))
    ]
    if not near:
        return ""
    *_, title, keys = max(near, key=lambda each: each[:2])
    missing = ", ".join(key for key in keys if key not in used)
    if not missing:
        return f"The nearest format is {title}: it has its keys, but not its values. "
    return f"The nearest format is {title}, for which it lacks {missing}. "
