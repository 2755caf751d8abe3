"""Names tools as chat protocols take them (letters, digits, `_` and `-`, at most 64), and tells which tool is meant.

Datasets and API documents have names with dots, spaces and slashes, which providers refuse: `issues/create` is called
as `issues_create`. Clients put a server's or a namespace's name before: `mcp__server__tool`, `functions.tool`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches

from toolevals.grading.values.tools import ToolSpec
from toolevals.grading.values.transcripts import Call, Message, ToolCall, Transcript

LONGEST = 64
_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")
_NAMESPACES = ("functions.", "default_api.")
_SERVER = "mcp__"
# Of a name that is looked for among others: a model may invent one of any length.
_LONGEST_SOUGHT = 200
_LISTED = 3


def wire_name(name: str) -> str:
    """Return the nearest name that protocols take."""
    return _REFUSED.sub("_", name)[:LONGEST] or "tool"


def candidates(name: str, tools: Iterable[ToolSpec]) -> list[str]:
    """Return the names of the tools that a name, which no tool has, may be a spelling of: one is meant, more are not.

    A tool's own name after a namespace comes before names that only look like it on the wire.
    """
    names = [tool.name for tool in tools]
    endings = {name, *_endings(name)}
    own = [each for each in names if each in endings]
    return own or [each for each in names if wire_name(each) in endings]


def _endings(name: str) -> Iterator[str]:
    for namespace in _NAMESPACES:
        if name.startswith(namespace):
            yield name.removeprefix(namespace)
    if name.startswith(_SERVER):
        rest = name.removeprefix(_SERVER)
        place = rest.find("__")
        while place != -1:
            yield rest[place + 2 :]
            place = rest.find("__", place + 1)


def near_miss(name: str, tools: Iterable[ToolSpec]) -> str:
    """Return which offered name is nearly that of a call of none, as the end of a sentence; "" where none is."""
    if len(name) > _LONGEST_SOUGHT:
        return ""
    tools = list(tools)
    if len(several := candidates(name, tools)) > 1:
        return f"it may be {' or '.join(several[:_LISTED])}, which are written alike"
    near = get_close_matches(wire_name(name).lower(), {wire_name(tool.name).lower(): 0 for tool in tools}, 1, 0.8)
    found = next((tool.name for tool in tools if near and wire_name(tool.name).lower() == near[0]), "")
    return f"the nearest name offered is {found}" if found else ""


def with_names(transcript: Transcript, renamed: Mapping[str, str]) -> Transcript:
    """Return a transcript in which calls have other names, by the ones that they had."""
    return replace(transcript, messages=tuple(_renamed(message, renamed) for message in transcript.messages))


def _renamed(message: Message, renamed: Mapping[str, str]) -> Message:
    if not any(call.name in renamed for call in message.calls):
        return message
    return replace(message, calls=tuple(call_with_name(call, renamed) for call in message.calls))


def call_with_name(call: Call, renamed: Mapping[str, str]) -> Call:
    """Return a call with another name, by the one that it had."""
    if isinstance(call, ToolCall) and call.name in renamed:
        return ToolCall(renamed[call.name], call.arguments, call.id)
    return call
