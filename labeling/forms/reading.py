"""From what the label page sends to an expectation, and to what is wrong with it, field by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from labeling.forms.entries import MAX_JSON_BYTES, MAX_JSON_DEPTH, EntryError, matcher_of, read_entry
from labeling.forms.fields import ArgumentField, Kind, argument_fields, escaped
from labeling.forms.matchers import FREE, UNNAMED, matcher_keys
from toolevals.grading.conformance import expectation_problems
from toolevals.grading.documents import load_json
from toolevals.grading.problems import InvalidDocument, Problem
from toolevals.grading.values import Expectation, ToolSpec

NONE = "none"
# Why no call is right, as people choose it: the value kept, the words, what is meant.
REASONS = (
    ("greeting", "greeting", "Small talk, thanks: nothing to do"),
    ("clarification", "clarification", "A value is missing and must be asked for"),
    ("in-model fact", "known already", "The answer is in the conversation or common knowledge"),
    ("refusal", "refusal", "No tool can or may do it"),
    ("other", "other", "Say it in the rationale"),
)


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """What is wrong, and beside which field to say it: an argument's path, "tool", "why", "json" or "" for all."""

    field: str
    message: str


@dataclass(frozen=True, slots=True)
class Entered:
    """What was entered: the expectation as far as it can be read, and what is wrong with it."""

    document: dict[str, Any] | None
    problems: tuple[FieldProblem, ...]

    @property
    def is_valid(self) -> bool:
        return not self.problems and self.document is not None


def read_label(data: QueryDict, tools: Sequence[ToolSpec]) -> Entered:
    """Return the label that the page's fields hold, checked against the offered tools."""
    entered = read_json(data.get("json", "")) if data.get("mode") == "json" else read_form(data, tools)
    if entered.problems or entered.document is None:
        return entered
    return Entered(entered.document, tuple(_problems(entered.document, tools, data)))


def read_json(text: str) -> Entered:
    """Return the expectation that raw JSON holds; only its syntax is checked."""
    if not text.strip():
        return Entered(None, (FieldProblem("json", "Nothing is entered yet."),))
    try:
        document = load_json(text, max_bytes=MAX_JSON_BYTES, max_depth=MAX_JSON_DEPTH)
    except InvalidDocument as error:
        return Entered(None, tuple(FieldProblem("json", f"Not JSON: {one.message}") for one in error.problems))
    if not isinstance(document, dict):
        return Entered(None, (FieldProblem("json", "An expectation is a JSON object."),))
    return Entered(document, ())


def chosen_tool(data: QueryDict, tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """Return the tool chosen by its place in the list, None for none or no choice."""
    choice = data.get("tool", "")
    return tools[int(choice)] if choice.isascii() and choice.isdigit() and int(choice) < len(tools) else None


def read_form(data: QueryDict, tools: Sequence[ToolSpec]) -> Entered:
    """Return the expectation that the form's fields hold; what cannot be read is left out and named."""
    if data.get("tool") == NONE:
        why = data.get("why", "")
        known = why in {reason for reason, _, _ in REASONS}
        document = {"kind": "no_call", **({"why": why} if known else {})}
        return Entered(document, () if known else (FieldProblem("why", "Say why no call is right."),))
    tool = chosen_tool(data, tools)
    if tool is None:
        return Entered(None, (FieldProblem("tool", "Choose a tool, or (none)."),))
    problems: list[FieldProblem] = []
    arguments = _read_fields(data, argument_fields(tool.input_schema), problems, demanded=True)
    others = bool(data.get("other_arguments"))
    call = {"tool": tool.name, "arguments": arguments, "additional_arguments": others}
    trajectory = {"ordered": [call], "additional_calls": bool(data.get("other_calls"))}
    return Entered({"kind": "calls", "alternatives": [trajectory]}, tuple(problems))


def _read_fields(
    data: QueryDict, fields: Iterable[ArgumentField], problems: list[FieldProblem], *, demanded: bool
) -> dict[str, Any]:
    """Return the matchers of some fields. Undemanded required ones, in an untouched group, may stay empty."""
    found = {}
    for field in fields:
        matcher = matcher_of(data, field)
        if matcher == UNNAMED and not field.required:
            continue
        if matcher not in matcher_keys(field):
            problems.append(FieldProblem(field.path, "Cannot be compared like that."))
            continue
        try:
            document = _read_field(data, field, matcher, problems, demanded=demanded)
        except EntryError as problem:
            if demanded or any(data.getlist(f"v:{field.path}")):
                problems.append(FieldProblem(field.path, str(problem)))
            continue
        if document is not None:
            found[field.name] = document
    return found


def _read_field(
    data: QueryDict, field: ArgumentField, matcher: str, problems: list[FieldProblem], *, demanded: bool
) -> dict[str, Any] | None:
    if field.kind is Kind.OBJECT and matcher == "fields":
        return _read_group(data, field, problems, demanded=demanded)
    document = read_entry(data, field, matcher)
    if data.get(f"o:{field.path}") and not field.required and matcher not in ("absent", FREE):
        document["optional"] = True
    return document


def _read_group(
    data: QueryDict, field: ArgumentField, problems: list[FieldProblem], *, demanded: bool
) -> dict[str, Any] | None:
    """Return the matcher of an object given field by field; None where it is optional and nothing was entered."""
    needed = demanded and field.required
    fields = _read_fields(data, field.children, [], demanded=False)
    if not fields and not needed:
        return None
    fields = _read_fields(data, field.children, problems, demanded=True)
    return {"fields": fields, "additional_fields": bool(data.get("other_arguments"))}


def _problems(document: dict[str, Any], tools: Sequence[ToolSpec], data: QueryDict) -> Iterable[FieldProblem]:
    try:
        expectation = Expectation.from_document(document)
    except InvalidDocument as error:
        found: Sequence[Problem] = error.problems
    else:
        found = expectation_problems(expectation, tools)
    as_json = data.get("mode") == "json"
    for problem in found:
        if as_json:
            yield FieldProblem("json", f"{problem.pointer or '/'}: {problem.message}")
        else:
            yield FieldProblem(field_at(problem.pointer, document), problem.message)


def field_at(pointer: str, document: Mapping[str, Any]) -> str:
    """Return the path of the form's field that a pointer into a one-call expectation lies in; "" for none."""
    steps = pointer.split("/")[1:]
    if "arguments" not in steps:
        return ""
    rest = steps[steps.index("arguments") + 1 :]
    path, matchers = "", document["alternatives"][0]["ordered"][0]["arguments"]
    while rest:
        step = rest.pop(0)
        name = step.replace("~1", "/").replace("~0", "~")
        if name not in matchers:
            return path or f"/{escaped(name)}"
        path += f"/{step}"
        if not rest or rest[0] != "fields" or "fields" not in matchers[name]:
            return path
        rest.pop(0)
        matchers = matchers[name]["fields"]
    return path
