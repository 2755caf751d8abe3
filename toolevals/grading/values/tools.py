"""Defines tools as they are offered to a model.

Names tools as chat protocols take them (letters, digits, `_` and `-`, at most 64), and tells which tool is meant.

Datasets and API documents have names with dots, spaces and slashes, which providers refuse: `issues/create` is called
as `issues_create`. Clients put a server's or a namespace's name before: `mcp__server__tool`, `functions.tool`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Self

from toolevals.grading.values import canonical
from toolevals.grading.values.documents import require_valid
from toolevals.grading.values.transcripts import Call, Message, ToolCall, Transcript


@dataclass(frozen=True, slots=True)
class ToolAnnotations:
    """The effects of a tool, as its owner declares them; None where they are not declared."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None

    def to_document(self) -> dict[str, Any]:
        """Return what is known."""
        said = {"read_only": self.read_only, "destructive": self.destructive, "idempotent": self.idempotent}
        return {key: value for key, value in said.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool: its name, what the model reads of it, and the schemas of its arguments and output.

    `sensitive_output` lists JSON pointers into the output that hold personal data. `cost` is what one call costs
    relative to the other tools of its list. `title` is a name for people, which no model reads. `assert_formats` says
    that a text which is not in its schema's `format` breaks the schema.
    """

    name: str
    description: str = ""
    input_schema: dict[str, Any] = field(default_factory=lambda: {"type": "object"})
    output_schema: dict[str, Any] | None = None
    sensitive_output: tuple[str, ...] = ()
    annotations: ToolAnnotations = ToolAnnotations()
    cost: float | None = None
    title: str = ""
    assert_formats: bool = False
    _digest: str = field(default="", init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical document: the tool's name by content."""
        if not self._digest:
            object.__setattr__(self, "_digest", canonical.digest(self.to_document()))
        return self._digest

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Read the native form (`schemas/tool.v1.json`). Raises InvalidDocument."""
        require_valid(document, "tool")
        return cls.from_valid(document)

    @classmethod
    def from_valid(cls, document: dict[str, Any]) -> Self:
        """Return what `from_document` does of a document that is known to fit the schema."""
        return cls(
            name=document["name"],
            description=document.get("description", ""),
            input_schema=document["input_schema"],
            output_schema=document.get("output_schema"),
            sensitive_output=tuple(document.get("sensitive_output", ())),
            annotations=ToolAnnotations(**document.get("annotations", {})),
            cost=document.get("cost"),
            title=document.get("title") or "",
            assert_formats=document.get("assert_formats", False),
        )

    def to_document(self) -> dict[str, Any]:
        """Return the normal form, without what was not said."""
        document: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_schema,
        }
        if self.output_schema is not None:
            document["output_schema"] = self.output_schema
        if self.sensitive_output:
            document["sensitive_output"] = list(self.sensitive_output)
        if annotations := self.annotations.to_document():
            document["annotations"] = annotations
        if self.cost is not None:
            document["cost"] = self.cost
        if self.title:
            document["title"] = self.title
        if self.assert_formats:
            document["assert_formats"] = True
        return document


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
