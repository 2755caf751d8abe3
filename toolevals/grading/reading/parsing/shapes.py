"""Tell whether a JSON value looks like a call, in whatever format: by what it holds or by the key that it stands at."""

from __future__ import annotations

from typing import Any

from toolevals.grading.reading.parsing.json_calls import describes_tools

_NAMES = frozenset({"name", "tool", "toolname", "functionname", "function", "action", "recipient"})
_ARGUMENTS = frozenset({
    "arguments", "args", "input", "parameters", "params", "kwargs", "toolinput", "toolargs", "toolkwargs",
    "actioninput", "toolarguments", "inputs", "rawinput",
})  # fmt: skip
_IDENTIFIERS = frozenset({"toolcallid", "tooluseid", "callid", "toolid"})
# Keys that hold calls in one format or another, without case, underscores and hyphens.
_CALLS = frozenset({
    "toolcall", "toolcalls", "functioncall", "functioncalls", "tooluse", "tooluses", "toolinvocation",
    "toolinvocations", "invalidtoolcalls", "toolrequests", "toolcallrequests",
})  # fmt: skip
# Keys under which definitions of tools stand, which are not calls.
_DEFINITIONS = frozenset({"tools", "functions", "toolconfig", "toolchoice", "tooldefinitions", "availabletools"})


def call_place(value: Any, key: str = "") -> tuple[str | int, ...] | None:
    """Return the path to the first thing inside a value (or to itself, empty) that looks like a call; None without one.

    `key` is the key that the value stands at.
    """
    if isinstance(value, str) or not isinstance(value, dict | list):
        return None
    waiting: list[tuple[tuple[str | int, ...], str, Any]] = [((), _plain(key), value)]
    while waiting:
        path, name, item = waiting.pop()
        if name in _DEFINITIONS or not item:
            continue
        if name in _CALLS or (isinstance(item, dict) and _is_call(item)):
            return path
        children = item.items() if isinstance(item, dict) else enumerate(item)
        inside = [
            ((*path, part), _plain(part) if isinstance(part, str) else "", child)
            for part, child in children
            if isinstance(child, dict | list)
        ]
        waiting.extend(reversed(inside))
    return None


def arguments_alike(value: Any) -> bool:
    """Tell whether a value may be the arguments of a call: an object with keys, or JSON text of an object."""
    return (isinstance(value, dict) and bool(value)) or (isinstance(value, str) and value.lstrip().startswith("{"))


def _is_call(item: dict[str, Any]) -> bool:
    keys = {_plain(key): key for key in item}
    arguments = [item[keys[name]] for name in _ARGUMENTS & keys.keys()]
    if not any(isinstance(given, dict) or arguments_alike(given) for given in arguments):
        return False
    named = any(isinstance(item[keys[name]], str) for name in (_NAMES | _IDENTIFIERS) & keys.keys())
    return named and not describes_tools(item)


def _plain(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()
