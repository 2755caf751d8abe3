"""Reads documents of tool specs, our own form among them, into checked tools and named losses.

Finds words of an arguments' schema that no validator knows: arguments written where keywords belong.

Counts losses by kind, for people: a document of a thousand tools may lose the same key of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolevals.grading.json_schema.conformance import schema_problems
from toolevals.grading.json_schema.subschemas import Path, with_subschemas, without_refused_patterns
from toolevals.grading.reading.specs.bfcl import read_bfcl
from toolevals.grading.reading.specs.drafts import Choice, Draft, Drafts, Losses, Operation, each_entry
from toolevals.grading.reading.specs.files import read_skills
from toolevals.grading.reading.specs.formats import (
    FORMATS,
    Detected,
    detected_format,
    read_anthropic,
    read_mcp,
    read_openai,
)
from toolevals.grading.reading.specs.gemini import read_gemini
from toolevals.grading.reading.specs.openapi import lost_parts, read_openapi
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.documents import problems_in, require_json
from toolevals.grading.values.problems import InvalidDocument, Problem, parts_of, pointer_to
from toolevals.json_types import JsonMapping, JsonObject

_SAYS_WHAT_IS_INSIDE = frozenset(
    {"properties", "patternProperties", "additionalProperties", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if"}
)
_KNOWN = _SAYS_WHAT_IS_INSIDE | {
    "$defs", "$schema", "$id", "$anchor", "$comment", "$dynamicAnchor", "$vocabulary", "definitions",
    "type", "enum", "const", "required", "not", "then", "else", "items", "prefixItems", "contains", "propertyNames",
    "dependentSchemas", "dependentRequired", "dependencies", "unevaluatedProperties", "unevaluatedItems",
    "minProperties", "maxProperties", "title", "description", "default", "examples", "example",
    "discriminator", "externalDocs", "xml", "contentSchema",
}  # fmt: skip


def keyword_losses(schema: JsonMapping) -> Losses:
    """Return a loss for each object in the schema's root that stands under no keyword of JSON Schema.

    Raises InvalidDocument where the schema says nothing else of what is inside: these objects are then the arguments.
    """
    unknown = [
        key
        for key, value in schema.items()
        if key not in _KNOWN and not key.startswith("x-") and isinstance(value, Mapping) and value
    ]
    if unknown and _SAYS_WHAT_IS_INSIDE.isdisjoint(schema):
        words = "is not a keyword of JSON Schema: if it is an argument, put it under properties"
        raise InvalidDocument(Problem(pointer_to([key]), words) for key in unknown)
    return [Problem(pointer_to([key]), "is not a keyword of JSON Schema: nothing checks it") for key in unknown]


@dataclass(frozen=True, slots=True)
class LossCount:
    """The number of times that a part called `key` is lost in one way, and where first."""

    key: str
    message: str
    count: int
    first: str


def counted(losses: Iterable[Problem]) -> list[LossCount]:
    """Return the kinds of loss, the most frequent first, then in the document's order."""
    found: dict[tuple[str, str], list[str]] = {}
    for loss in losses:
        found.setdefault((_key(loss.pointer), loss.message), []).append(loss.pointer)
    counts = [LossCount(key, message, len(places), places[0]) for (key, message), places in found.items()]
    return sorted(counts, key=lambda each: -each.count)


def _key(pointer: str) -> str:
    """Return the last name in a pointer; positions in lists are no names."""
    return next((part for part in reversed(parts_of(pointer)) if not part.isdecimal()), "")


def _read(entry: JsonObject, where: str) -> Draft:
    return Draft(where, entry)


read_native = each_entry(_read)


_READERS: Mapping[str, Callable[[Any], Drafts]] = {
    "native": read_native,
    "openai": read_openai,
    "anthropic": read_anthropic,
    "gemini": read_gemini,
    "mcp": read_mcp,
    "openapi": read_openapi,
    "bfcl": read_bfcl,
    "skills": read_skills,
}
EVERYTHING = Choice()
_DRAFT_4 = "json-schema.org/draft-04/"
# So many tools are read between two signs of progress.
TOLD = 25


@dataclass(frozen=True, slots=True)
class ReadTools:
    """The tools of a document, what could not be carried over (pointers into the document), and its format.

    `because` says by what the format was told, empty where it was said.
    """

    tools: list[ToolSpec]
    losses: list[Problem]
    format: str
    because: str = ""


@dataclass(frozen=True, slots=True)
class SurveyedTool:
    """One tool of a document that is looked at before it is read: what it is called, and what is wrong with it.

    `unchecked` is the tool itself where nothing but a schema of it is wrong.
    """

    where: str
    name: str
    description: str
    operation: Operation | None
    tool: ToolSpec | None
    losses: tuple[Problem, ...]
    problems: tuple[Problem, ...]
    unchecked: ToolSpec | None = None


@dataclass(frozen=True, slots=True)
class Survey:
    """All that a document offers, in its order; `losses` are those of no single tool."""

    format: str
    because: str
    tools: list[SurveyedTool] = field(default_factory=list)
    losses: tuple[Problem, ...] = ()


def read_tools(document: object, *, format: str = "auto", choice: Choice = EVERYTHING) -> ReadTools:  # noqa: A002
    """Read tool specs; `format` is one of FORMATS, or "auto" to tell it from the document.

    Raises InvalidDocument where a tool or its input schema is bad, two tools share a name, or a choice takes none.
    """
    survey = survey_tools(document, format=format, choice=choice)
    if problems := [problem for each in survey.tools for problem in each.problems]:
        raise InvalidDocument(problems)
    tools = [each.tool for each in survey.tools if each.tool is not None]
    if not tools and not choice.takes_all:
        raise InvalidDocument.at("", f"holds no tool that was chosen ({choice})")
    if missing := sorted(choice.tools - {tool.name for tool in tools}):
        raise InvalidDocument.at("", f"holds no tool of this name: {', '.join(missing[:5])}")
    losses = dict.fromkeys([*survey.losses, *(loss for each in survey.tools for loss in each.losses)])
    return ReadTools(tools, list(losses), survey.format, survey.because)


def survey_tools(
    document: object,
    *,
    format: str = "auto",  # noqa: A002
    choice: Choice = EVERYTHING,
    progress: Callable[[int], None] = lambda _: None,
) -> Survey:
    """Read each tool for itself, so that one that is bad leaves the others. Raises InvalidDocument without a list.

    `progress` is told now and then how many are read; what it raises ends the reading.
    """
    require_json(document)
    found = detected_format(document) if format == "auto" else Detected(format, "")
    if found.format not in _READERS:
        raise InvalidDocument.at("", f"{found.format} is not a format of tool specs: use one of {', '.join(FORMATS)}")
    drafts = read_openapi(document, choice) if found.format == "openapi" else _READERS[found.format](document)
    tools: list[SurveyedTool] = []
    losses = list(lost_parts(document)) if found.format == "openapi" else []
    names: set[str] = set()
    for done, draft in enumerate(drafts, 1):
        if done % TOLD == 0:
            progress(done)
        if isinstance(draft, Problem):
            losses.append(draft)
            continue
        if isinstance(draft, InvalidDocument):
            # Of an API, what is not chosen does not come here.
            if choice.takes_all or found.format == "openapi":
                tools.append(_refused(draft))
            continue
        if found.format != "openapi" and not _chosen(draft, choice):
            continue
        each = _surveyed(draft)
        if each.tool is not None and each.name in names:
            twice = Problem(draft.where, f"a second tool is called {each.name}")
            each = SurveyedTool(each.where, each.name, each.description, each.operation, None, (), (twice,))
        names.add(each.name)
        tools.append(each)
    return Survey(found.format, found.because, tools, tuple(losses))


def _chosen(draft: Draft, choice: Choice) -> bool:
    description = draft.native.get("description")
    text = description if isinstance(description, str) else ""
    return choice.takes_all or choice.takes(draft.native.get("name"), text, draft.operation)


def _refused(error: InvalidDocument) -> SurveyedTool:
    return SurveyedTool(error.problems[0].pointer, "", "", None, None, (), error.problems)


def _surveyed(draft: Draft) -> SurveyedTool:
    tool: ToolSpec | None = None
    unchecked: ToolSpec | None = None
    losses, problems = tuple(draft.losses), tuple[Problem, ...]()
    try:
        tool, lost = _checked(draft)
        losses = tuple(lost)
    except InvalidDocument as error:
        problems = error.problems
        if not problems_in(draft.native, "tool"):
            unchecked = ToolSpec.from_valid({**draft.native, "output_schema": None})
    name, description = draft.native.get("name"), draft.native.get("description")
    return SurveyedTool(
        draft.where,
        name if isinstance(name, str) else "",
        description if isinstance(description, str) else "",
        draft.operation,
        tool,
        losses,
        problems,
        unchecked,
    )


def _checked(draft: Draft) -> tuple[ToolSpec, Losses]:
    if problems := problems_in(draft.native, "tool"):
        raise InvalidDocument(_moved(problem, draft) for problem in problems)
    native = dict(draft.native)
    losses = [*draft.losses, *_check_input(native, draft)]
    if native.get("output_schema") is not None:
        losses += _check_output(native, draft)
    return ToolSpec.from_valid(native), losses


def _check_input(native: JsonObject, draft: Draft) -> Losses:
    """Mark what of the input schema cannot be checked. Raises InvalidDocument where it is bad."""
    given, empty = _without_nothing(native["input_schema"])
    schema, unchecked = without_refused_patterns(given)
    if problems := schema_problems(schema):
        raise InvalidDocument(_moved(problem.below("/input_schema"), draft) for problem in problems)
    try:
        unknown = keyword_losses(schema)
    except InvalidDocument as error:
        raise InvalidDocument(_moved(each.below("/input_schema"), draft) for each in error.problems) from None
    native["input_schema"] = schema
    return [_moved(loss.below("/input_schema"), draft) for loss in (*empty, *unknown, *unchecked)]


def _without_nothing(schema: object) -> tuple[Any, Losses]:
    """Return a schema without what says nothing: `required: []` of draft 4, which forbids it, and null for a list.

    Servers written in Go write null where there are no properties.
    """
    draft = schema.get("$schema") if isinstance(schema, dict) else None
    is_old = isinstance(draft, str) and _DRAFT_4 in draft
    losses: Losses = []

    def cleaned(inside: object, path: Path) -> Any:
        if not isinstance(inside, dict):
            return inside
        made = with_subschemas(inside, lambda deeper, at: cleaned(deeper, (*path, *at)))
        if is_old and made.get("required") == []:
            del made["required"]
            losses.append(Problem(pointer_to((*path, "required")), "is empty, which draft 4 forbids: it is left out"))
        for key in ("properties", "required"):
            if key in made and made[key] is None:
                del made[key]
                losses.append(Problem(pointer_to((*path, key)), "is null, which says nothing: it is left out"))
        return made

    return cleaned(schema, ()), losses


def _check_output(native: JsonObject, draft: Draft) -> Losses:
    """Mark what of the output schema cannot be checked; leave the schema out where it is bad."""
    given, empty = _without_nothing(native["output_schema"])
    schema, unchecked = without_refused_patterns(given)
    unchecked = [*empty, *unchecked]
    if problems := schema_problems(schema):
        del native["output_schema"]
        unchecked = [
            Problem(problem.pointer, f"the output schema is left out: {problem.message}") for problem in problems
        ]
    else:
        native["output_schema"] = schema
    return [_moved(problem.below("/output_schema"), draft) for problem in unchecked]


def _moved(problem: Problem, draft: Draft) -> Problem:
    """Point into the document as it came."""
    return Problem(draft.source(problem.pointer), problem.message)
