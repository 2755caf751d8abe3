"""Documents of tool specs in, checked tools and named losses out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolevals.grading.conformance import schema_problems
from toolevals.grading.documents import problems_in, require_json
from toolevals.grading.problems import InvalidDocument, Problem
from toolevals.grading.specs.anthropic import read_anthropic
from toolevals.grading.specs.bfcl import read_bfcl
from toolevals.grading.specs.detection import detected_format
from toolevals.grading.specs.drafts import Draft, Drafts, Losses
from toolevals.grading.specs.gemini import read_gemini
from toolevals.grading.specs.mcp import read_mcp
from toolevals.grading.specs.native import read_native
from toolevals.grading.specs.openai import read_openai
from toolevals.grading.specs.openapi import read_openapi
from toolevals.grading.subschemas import without_refused_patterns
from toolevals.grading.values import ToolSpec

_READERS: Mapping[str, Callable[[Any], Drafts]] = {
    "native": read_native,
    "openai": read_openai,
    "anthropic": read_anthropic,
    "gemini": read_gemini,
    "mcp": read_mcp,
    "openapi": read_openapi,
    "bfcl": read_bfcl,
}
FORMATS = tuple(_READERS)


@dataclass(frozen=True, slots=True)
class ReadTools:
    """The tools of a document, what could not be carried over (pointers into the document), and its format."""

    tools: list[ToolSpec]
    losses: list[Problem]
    format: str


def read_tools(document: Any, *, format: str = "auto") -> ReadTools:  # noqa: A002 (the word of the interface)
    """Read tool specs; `format` is one of FORMATS, or "auto" to tell it from the document.

    Raises InvalidDocument where a tool or its input schema is bad, or two tools share a name.
    """
    require_json(document)
    name = detected_format(document) if format == "auto" else format
    if name not in _READERS:
        raise InvalidDocument.at("", f"{name} is no format of tool specs: take one of {', '.join(FORMATS)}")
    tools: dict[str, ToolSpec] = {}
    losses: Losses = []
    problems: list[Problem] = []
    for draft in _READERS[name](document):
        if isinstance(draft, InvalidDocument):
            problems.extend(draft.problems)
            continue
        try:
            tool, lost = _checked(draft)
        except InvalidDocument as error:
            problems.extend(error.problems)
            continue
        if tool.name in tools:
            problems.append(Problem(draft.where, f"a second tool is called {tool.name}"))
        tools[tool.name] = tool
        losses.extend(lost)
    if problems:
        raise InvalidDocument(problems)
    return ReadTools(list(tools.values()), losses, name)


def _checked(draft: Draft) -> tuple[ToolSpec, Losses]:
    if problems := problems_in(draft.native, "tool"):
        raise InvalidDocument(_moved(problem, draft) for problem in problems)
    native, losses = dict(draft.native), list(draft.losses)
    schema, unchecked = without_refused_patterns(native["input_schema"])
    if problems := schema_problems(schema):
        raise InvalidDocument(_moved(problem.below("/input_schema"), draft) for problem in problems)
    native["input_schema"] = schema
    losses += [_moved(loss.below("/input_schema"), draft) for loss in unchecked]
    if native.get("output_schema") is not None:
        losses += _check_output(native, draft)
    return ToolSpec.from_document(native), losses


def _check_output(native: dict[str, Any], draft: Draft) -> Losses:
    """Mark what of the output schema cannot be checked; leave the schema out where it is bad."""
    schema, unchecked = without_refused_patterns(native["output_schema"])
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
