"""Defines tools as they are offered to a model.

Names tools as chat protocols take them (letters, digits, `_` and `-`, at most 64), and tells which tool is meant.

Datasets and API documents have names with dots, spaces and slashes, which providers refuse: `issues/create` is called
as `issues_create`. Clients put a server's or a namespace's name before: `mcp__server__tool`, `functions.tool`.

Define whether a tool only reads or may change something: as its owner says, else by the verb in its name.

Tells a tool's effect by its name: it reads, it writes, or it hands over to a person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from typing import Literal, Self

from toolevals.grading.values import canonical
from toolevals.grading.values.documents import require_valid
from toolevals.grading.values.transcripts import Call, Message, ToolCall, Transcript
from toolevals.json_types import JsonObject, JsonValue

Effect = Literal["reads", "writes", "unknown"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


READING_WORDS = _set(
    "get search find list lookup look fetch read query check calculate compute think view show retrieve describe "
    "count validate verify compare estimate browse preview inspect status locate detect convert translate "
    "summarize"
)
_WRITING = _set(
    "book create update modify cancel delete remove add send set transfer exchange return pay refund charge "
    "submit post put patch write insert upload schedule reschedule place assign close approve reject reserve "
    "register enable disable start stop move rename apply edit change issue make grant revoke toggle order "
    "purchase buy publish"
)
# Nouns as well: what a look-up of them is called after.
_NOUNS = _set(
    "book order register schedule place post charge change return exchange transfer issue grant stop move list"
)
_LOOKED_UP = _set("lookup search query status info details history check")
# Tools that answer without a word as a rule: they run whatever they are given, or take it down.
_SILENT = _set(
    "run exec execute shell bash sh cmd command terminal console python eval script mkdir rm mv cp touch kill git "
    "think thought thinking note plan reason reflect remember log record print echo notify"
)
_WAITING = _set("sleep wait delay pause")
_HANDING_OVER = frozenset({"transfer", "handoff", "handover", "contact", "ask", "request", "call", "notify", "page"})
_PEOPLE = frozenset(
    {"human", "humans", "support", "operator", "supervisor", "specialist", "representative", "oncall", "helpdesk"}
)


@lru_cache(maxsize=4096)
def words_of_name(tool: str) -> tuple[str, ...]:
    """Return the words of a tool's name in lower case: `getOrder_v2` is get, order, v, 2."""
    return tuple(word.lower() for word in _WORD.findall(tool[:200]))


@lru_cache(maxsize=4096)
def effect_of_name(tool: str) -> Effect:
    """Tell by its name whether a tool only reads: by the first word that is a known verb (`get_`, `update_`)."""
    words = words_of_name(tool)
    if len(words) > 1 and words[0] in _NOUNS and words[-1] in _LOOKED_UP:
        return "reads"
    for verb in words:
        if verb in READING_WORDS:
            return "reads"
        if verb in _WRITING:
            return "writes"
    return "unknown"


def is_silent(tool: str) -> bool:
    """Tell by its name whether a tool answers without a word as a rule: `run_shell`, `think`."""
    return not _SILENT.isdisjoint(words_of_name(tool))


def waits(tool: str) -> bool:
    """Tell by its name whether a tool only waits."""
    return not _WAITING.isdisjoint(words_of_name(tool))


@lru_cache(maxsize=4096)
def hands_over(tool: str) -> bool:
    """Tell by its name whether a tool hands over to people: `transfer_to_human_agents`, `escalate_ticket`."""
    words = frozenset(words_of_name(tool))
    return (
        any(word.startswith("escalat") for word in words)
        or not words.isdisjoint({"handoff", "handover"})
        or (not words.isdisjoint(_HANDING_OVER) and not words.isdisjoint(_PEOPLE))
        or (("hand" in words or "transfer" in words) and ("agent" in words or "agents" in words))
    )


# Tells of a tool, by its name, whether it only reads.
Reads = Callable[[str], bool]


def tool_effect(tool: str, spec: ToolSpec | None) -> Effect:
    """Return the effect of a tool: by the annotation `read_only` of its spec, else by the first verb in its name."""
    if spec is not None and spec.annotations.read_only is not None:
        return "reads" if spec.annotations.read_only else "writes"
    return effect_of_name(tool)


def reads_by_name(tool: str) -> bool:
    """Return whether a tool of which only the name is known reads."""
    return effect_of_name(tool) == "reads"


def reads_of(specs: Mapping[str, ToolSpec]) -> Reads:
    """Return the function that tells it of the tools in a mapping by name, and of others by their names."""
    return lambda tool: tool_effect(tool, specs.get(tool)) == "reads"


@dataclass(frozen=True, slots=True)
class ToolAnnotations:
    """The effects of a tool, as its owner declares them; None where they are not declared."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None

    def to_document(self) -> JsonObject:
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
    input_schema: JsonObject = field(default_factory=lambda: {"type": "object"})
    output_schema: JsonObject | None = None
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
    def from_document(cls, document: JsonValue) -> Self:
        """Read the native form (`schemas/tool.v1.json`). Raises InvalidDocument."""
        require_valid(document, "tool")
        return cls.from_valid(document)

    @classmethod
    def from_valid(cls, document: JsonObject) -> Self:
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

    def to_document(self) -> JsonObject:
        """Return the normal form, without what was not said."""
        document: JsonObject = {
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
