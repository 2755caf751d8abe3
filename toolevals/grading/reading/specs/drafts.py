"""Defines a tool on its way from a document to a spec, and walks formats that hold a list of tools.

Chooses some of a document's tools, for documents that hold more than a registry needs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolevals.grading.reading.parsing.provider_run import client_tool, provider_run_tool
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonMapping, JsonObject

Losses = list[Problem]
NO_ARGUMENTS: JsonMapping = {"type": "object", "properties": {}}
_LISTS = ("tools", "functions")


@dataclass(frozen=True, slots=True)
class Operation:
    """The place of a tool in an API, by which it can be chosen."""

    method: str
    path: str
    tags: tuple[str, ...] = ()
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A tool in our form, not yet checked.

    `where` points at the tool in its document. `origins` says where parts of the native form stand in the document, a
    pointer into the one for a pointer into the other. The pointers of `losses` lead into the document. `operation` is
    known of tools that are operations of an API.
    """

    where: str
    native: JsonObject
    losses: Losses = field(default_factory=list)
    origins: Mapping[str, str] = field(default_factory=dict)
    operation: Operation | None = None

    def source(self, pointer: str) -> str:
        """Return where in the document a part of the native form comes from."""
        part = pointer
        while part:
            if part in self.origins:
                return self.origins[part] + pointer[len(part) :]
            part = part.rpartition("/")[0]
        return self.where + pointer


@dataclass(frozen=True, slots=True)
class Names:
    """Names that are given once: one that is taken gets a number."""

    counts: dict[str, int] = field(default_factory=dict)

    def take(self, stem: str) -> str:
        """Return the stem, or the stem with the first number that makes a name of its own."""
        name = stem
        while name in self.counts:
            self.counts[stem] += 1
            name = f"{stem}_{self.counts[stem]}"
        self.counts[name] = 1
        return name


# What a document holds: tools, those that are refused, and those that are left out.
Drafts = Iterator[Draft | InvalidDocument | Problem]


def entries_of(document: object) -> list[tuple[str, Any]]:
    """Return the entries of a list of tools with their pointers. Raises InvalidDocument where there is no list."""
    if isinstance(document, list):
        return [(f"/{place}", entry) for place, entry in enumerate(document)]
    if isinstance(document, dict):
        if key := named_list(document):
            return [(f"/{key}/{place}", entry) for place, entry in enumerate(document[key])]
        if "name" in document or "function" in document or provider_run_tool(document):
            return [("", document)]
    raise InvalidDocument.at("", "is neither a list of tools nor an object with a list under tools or functions")


def named_list(document: JsonMapping) -> str:
    """Return the key under which an object holds its list of tools, or ""."""
    return next((key for key in _LISTS if isinstance(document.get(key), list)), "")


def each_entry(read: Callable[[JsonObject, str], Draft]) -> Callable[[Any], Drafts]:
    """Return a reader of lists from a reader of one entry, which gets the entry and its pointer."""

    def drafts(document: object) -> Drafts:
        for where, entry in entries_of(document):
            yield draft_of(entry, where, read)

    return drafts


def draft_of(entry: object, where: str, read: Callable[[JsonObject, str], Draft]) -> Draft | InvalidDocument | Problem:
    """Return what `read` makes of an entry, or why nothing can be made of it, or that it is left out."""
    if not isinstance(entry, dict):
        return InvalidDocument.at(where, "is not an object")
    if (tool := provider_run_tool(entry)) is not None:
        return left_out(where, tool)
    if (kind := client_tool(entry)) is not None and not any("schema" in key.lower() for key in entry):
        return _provider_defined(entry, kind, where)
    try:
        return read(entry, where)
    except InvalidDocument as error:
        return error


def left_out(where: str, tool: str) -> Problem:
    """Return the loss of a tool that is no tool of the agent."""
    return Problem(where, f"{tool[:60]!r} is a tool of the provider's own: it is left out, and so are its calls")


def _provider_defined(entry: JsonObject, kind: str, where: str) -> Draft:
    """Return a tool that the provider defines and the agent's program runs, such as Anthropic's `bash_20250124`."""
    native = {"name": entry.get("name"), "description": "", "input_schema": {"type": "object"}}
    words = f"{kind!r} has the provider's own schema, which is not in the list: all arguments are admitted"
    return Draft(where, native, [Problem(where, words)])


def schema_in(entry: JsonMapping, key: str, known: frozenset[str], where: str, *, required: bool) -> Any:
    """Return an entry's schema of arguments, or that of none where the format lets it be left out.

    Raises InvalidDocument where it is required, and where an unknown key may hold the arguments in its place.
    """
    if entry.get(key) is not None:
        return entry[key]
    for other, value in entry.items():
        if other not in known and isinstance(value, dict | list) and value:
            at = where + pointer_to([other])
            raise InvalidDocument.at(
                at, f"is not known in this format, and {key} is missing: rename it, or say the format"
            )
    if required:
        words = f"{key} is missing, which this format requires: for a tool without arguments it is an object schema"
        raise InvalidDocument.at(where, words)
    return dict(NO_ARGUMENTS)


def not_carried(entry: JsonMapping, known: frozenset[str], where: str) -> Losses:
    """Return a loss for each key of an entry that has no place in a tool spec."""
    return [Problem(where + pointer_to([key]), "is not carried over") for key in entry if key not in known]


# An agent that is offered more tools than this chooses worse, and a matrix of as many classes is hard to read.
MANY_TOOLS = 100
_FIELDS = ("tools", "tags", "paths", "search")


@dataclass(frozen=True, slots=True)
class Choice:
    """The tools to take: those that meet each of the given conditions.

    `tools` are names; `tags` those of an OpenAPI document; `paths` begin the operation's path ("/pets" takes "/pets"
    and "/pets/{id}"); each word of `search` stands in the name, path, tags or description, in any case.
    """

    tools: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()
    search: str = ""

    @classmethod
    def from_document(cls, document: JsonMapping) -> Choice:
        """Return the choice that JSON describes. Raises InvalidDocument."""
        for key, value in document.items():
            if key not in _FIELDS:
                raise InvalidDocument.at(pointer_to([key]), f"is not one of {', '.join(_FIELDS)}")
            if key == "search":
                if not isinstance(value, str):
                    raise InvalidDocument.at(f"/{key}", "is not text")
            elif not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                raise InvalidDocument.at(f"/{key}", "is not a list of texts")
        return cls(
            tools=frozenset(document.get("tools", ())),
            tags=frozenset(document.get("tags", ())),
            paths=tuple(document.get("paths", ())),
            search=document.get("search", ""),
        )

    def to_document(self) -> JsonObject:
        """Return the choice as JSON, for `from_document`."""
        return {
            "tools": sorted(self.tools),
            "tags": sorted(self.tags),
            "paths": list(self.paths),
            "search": self.search,
        }

    @property
    def takes_all(self) -> bool:
        """Tell whether nothing is left out."""
        return not (self.tools or self.tags or self.paths or self.search.strip())

    def takes(self, name: object, description: str, operation: Operation | None) -> bool:
        """Tell whether a tool is among those chosen."""
        if self.tools and name not in self.tools:
            return False
        tags: Collection[str] = operation.tags if operation else ()
        path = operation.path if operation else ""
        if self.tags and self.tags.isdisjoint(tags):
            return False
        if self.paths and not any(_is_below(path, each) for each in self.paths):
            return False
        text = " ".join([str(name), path, *tags, description]).lower()
        return all(word in text for word in self.search.lower().split())

    def __str__(self) -> str:
        parts = [
            f"{len(self.tools)} names" if self.tools else "",
            f"tags {', '.join(sorted(self.tags))}" if self.tags else "",
            f"paths {', '.join(self.paths)}" if self.paths else "",
            f"search {self.search.strip()!r}" if self.search.strip() else "",
        ]
        return "; ".join(filter(None, parts))


def _is_below(path: str, start: str) -> bool:
    start = start.rstrip("/")
    return path == start or path.startswith(f"{start}/") or path.rstrip("/") == start
