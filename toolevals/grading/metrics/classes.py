"""Names the classes of a confusion matrix that stand for several tools: a namespace together, and the set of a case."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final

from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED

# Stands where less than half of an example's trials agree.
NO_MAJORITY: Final = "(no majority)"
# They are no tools; where classes are ordered they come last, in this order.
SPECIAL: Final = (NONE, UNKNOWN_TOOL, UNPARSED, NO_MAJORITY)
EVERY: Final = "*"

# What stands between a server or namespace and its tool, the first that occurs: `github__search`, `orders/get`,
# `shop::get`, `shop:get`, `math.sqrt`; then a service and its number, `Trains_1_GetTickets`. The last of one kind
# divides: `mcp__github__search` is of `mcp__github__`.
_SEPARATORS: Final = ("__", "/", "::", ":", ".")
_NUMBERED: Final = re.compile(r"[A-Za-z][A-Za-z]*_[0-9]+_(?=.)")
_JOIN: Final = " + "


def namespace_of(name: str) -> str:
    """Return a tool's server or namespace with what divides it from the tool, "" where the name has none.

    Names with a comma have none: a list of namespaces is written with commas.
    """
    if name in SPECIAL or "," in name:
        return ""
    for separator in _SEPARATORS:
        before, found, after = name.rpartition(separator)
        if found and before and after:
            return before + found
    numbered = _NUMBERED.match(name)
    return numbered.group() if numbered else ""


def namespaces(names: Iterable[str]) -> dict[str, int]:
    """Return the namespaces that at least two of `names` share, by name, with how many do."""
    counts = Counter(filter(None, (namespace_of(name) for name in names)))
    return {name: count for name, count in sorted(counts.items()) if count > 1}


def collapsed_class(name: str, collapsed: Collection[str]) -> str:
    """Return the class that stands for `name` where namespaces are `collapsed` ("*": all): `math.*` for `math.sqrt`.

    A set of tools becomes the set of their classes.
    """
    if not collapsed or name in SPECIAL:
        return name
    return set_class(_collapsed(tool, collapsed) for tool in tools_of_class(name))


def set_class(tools: Iterable[str]) -> str:
    """Return the class of a case by all its tools, each once, in order of name: `get + pay`; `(none)` without any.

    Two sets never have one class: what joins the names is escaped in them.
    """
    names = sorted(set(tools) - {NONE})
    if len(names) < 2:
        return names[0] if names else NONE
    return _JOIN.join(name.replace("\\", "\\\\").replace("+", r"\+") for name in names)


def tools_of_class(name: str) -> tuple[str, ...]:
    """Return the tools that a class of `set_class` is made of; a class without a join is one tool."""
    parts = name.split(_JOIN)
    if len(parts) < 2:
        return (name,)
    return tuple(re.sub(r"\\(.)", r"\1", part) for part in parts)


def _collapsed(name: str, collapsed: Collection[str]) -> str:
    namespace = namespace_of(name)
    return f"{namespace}*" if namespace and (EVERY in collapsed or namespace in collapsed) else name
