"""Make a tool spec of a function: its name, description and schemas, from its annotations and its docstring.

Docstrings are read in Google's, NumPy's and Sphinx's forms.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Literal

from toolevals.json_types import JsonObject
from toolevals.sdk.annotations import Schema, Schemas, default_of, hints_of
from toolevals.sdk.errors import ToolError

_GOOGLE = re.compile(
    r"(?P<title>args|arguments|parameters|params|keyword args|keyword arguments|other parameters|returns?|yields?|"
    r"raises|examples?|notes?|attributes|todo|see also|warnings?|references)\s*:\s*",
    re.IGNORECASE,
)
_ARGUMENTS = frozenset(
    ("args", "arguments", "parameters", "params", "keyword args", "keyword arguments", "other parameters")
)
_GOOGLE_ENTRY = re.compile(r"(?P<names>\*{0,2}\w+(?:\s*,\s*\w+)*)\s*(?:\((?P<type>[^)]*)\))?\s*:\s*(?P<text>.*)")
_NUMPY_ENTRY = re.compile(r"(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?")
_SPHINX = re.compile(
    r":(?P<kind>param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?|except|exception|var|ivar|cvar|yields?)"
    r"(?:\s+(?P<name>[^:]*))?:\s*(?P<text>.*)"
)
_SPHINX_ARGUMENTS = frozenset(("param", "parameter", "arg", "argument", "key", "keyword"))
Form = Literal["native", "openai", "anthropic"]
_KINDS: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*{}",
    inspect.Parameter.VAR_KEYWORD: "**{}",
    inspect.Parameter.POSITIONAL_ONLY: "{} (positional only)",
}


@dataclass(frozen=True, slots=True)
class Docstring:
    """Holds what a function does, and what each of its parameters is, by name."""

    description: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def read_docstring(text: str | None) -> Docstring:
    """Return what a docstring says. Sections about results, errors and examples are left out."""
    lines = inspect.cleandoc(text or "").splitlines()
    said: list[str] = []
    parameters: dict[str, str] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        numpy = at + 1 < len(lines) and line.strip() and re.fullmatch(r"-{3,}", lines[at + 1].strip())
        if numpy:
            end = _end_of_numpy(lines, at + 2)
            if line.strip().lower() in _ARGUMENTS:
                parameters |= _numpy(lines[at + 2 : end])
            at = end
        elif found := _GOOGLE.fullmatch(line):
            end = _end_of_block(lines, at + 1)
            if found["title"].lower() in _ARGUMENTS:
                parameters |= _google(lines[at + 1 : end])
            at = end
        elif sphinx := _SPHINX.match(line):
            end = _end_of_block(lines, at + 1)
            if sphinx["kind"] in _SPHINX_ARGUMENTS and sphinx["name"]:
                parameters[sphinx["name"].split()[-1].lstrip("*")] = _joined([sphinx["text"], *lines[at + 1 : end]])
            at = end
        else:
            said.append(line)
            at += 1
    return Docstring(_paragraphs(said), {name: words for name, words in parameters.items() if words})


def _end_of_block(lines: list[str], at: int) -> int:
    """Return where a block ends whose lines are indented."""
    while at < len(lines) and (not lines[at].strip() or lines[at][:1].isspace()):
        at += 1
    return at


def _end_of_numpy(lines: list[str], at: int) -> int:
    while at < len(lines) and not (at + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[at + 1].strip())):
        at += 1
    return at


def _google(lines: list[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    first = next((line for line in lines if line.strip()), "")
    indent = len(first) - len(first.lstrip())
    names: list[str] = []
    for line in lines:
        entry = _GOOGLE_ENTRY.fullmatch(line.strip()) if len(line) - len(line.lstrip()) == indent else None
        if entry:
            names = [name.strip().lstrip("*") for name in entry["names"].split(",")]
            found |= {name: [entry["text"]] for name in names}
        else:
            for name in names:
                found[name].append(line)
    return {name: _joined(words) for name, words in found.items()}


def _numpy(lines: list[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in lines:
        if line.strip() and not line[:1].isspace() and (entry := _NUMPY_ENTRY.fullmatch(line.strip())):
            names = [name.strip().lstrip("*") for name in entry["names"].split(",")]
            found |= {name: [] for name in names}
        else:
            for name in names:
                found[name].append(line)
    return {name: _joined(words) for name, words in found.items()}


def _joined(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


def _paragraphs(lines: list[str]) -> str:
    """Return text with its paragraphs, each on one line; lists and indented lines stay lines of their own."""
    made: list[str] = []
    for line in lines:
        goes_on = made and made[-1] and line.strip() and not line[:1].isspace() and not re.match(r"[-*•]|\d+\.\s", line)
        if goes_on:
            made[-1] += f" {line.strip()}"
        else:
            made.append(line.rstrip())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(made)).strip()


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as it is offered to a model. `input_schema` is that of the arguments, JSON Schema 2020-12."""

    name: str
    description: str
    input_schema: Schema

    def document(self, form: Form = "native") -> JsonObject:
        """Return the spec as toolevals' registries import it, or as OpenAI's or Anthropic's interface takes it."""
        if form == "openai":
            inner = {"name": self.name, "description": self.description, "parameters": self.input_schema}
            return {"type": "function", "function": inner}
        if form not in ("native", "anthropic"):
            raise ValueError(f"{form!r} is not a form: there are native, openai, anthropic")
        return {"name": self.name, "description": self.description, "input_schema": self.input_schema}


def spec_of(
    function: Callable[..., Any], name: str = "", description: str = "", hidden: Collection[str] = ()
) -> ToolSpec:
    """Return the spec of a function. `hidden` are parameters that the agent's code fills, which no model sees.

    Raises ToolError that names the function, the parameter and what is wrong.
    """
    called = name or function.__name__
    if called == "<lambda>" or not 0 < len(called) <= 200:
        raise ToolError(f"a tool needs a name of 1 to 200 characters, not {called[:40]!r}: give name=")
    said = read_docstring(function.__doc__)
    try:
        hints = hints_of(function)
    except ToolError as error:
        raise ToolError(f"{called}: {error}") from None
    schemas = Schemas()
    properties: Schema = {}
    required: list[str] = []
    shown = [each for each in parameters_of(function) if each.name not in hidden]
    for parameter in shown:
        properties[parameter.name] = _property(called, parameter, hints, schemas, said.parameters)
        if parameter.default is inspect.Parameter.empty:
            required.append(parameter.name)
    if unknown := said.parameters.keys() - {each.name for each in parameters_of(function)}:
        words = f"{called}: its docstring describes {', '.join(sorted(unknown))}, which it does not take"
        warnings.warn(words, stacklevel=3)
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    schema |= {"required": required} if required else {}
    schema |= {"$defs": schemas.definitions} if schemas.definitions else {}
    return ToolSpec(called, description or said.description, schema)


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return a function's parameters, without the object of a method."""
    every = list(inspect.signature(function).parameters.values())
    first = every[0] if every else None
    is_method = first is not None and first.name in ("self", "cls") and first.annotation is inspect.Parameter.empty
    return every[1:] if is_method else every


def _property(
    tool: str, parameter: inspect.Parameter, hints: JsonObject, schemas: Schemas, described: dict[str, str]
) -> Schema:
    if form := _KINDS.get(parameter.kind):
        written = form.format(parameter.name)
        raise ToolError(f"{tool}: {written} cannot be an argument of a tool: name each argument, or give hide=")
    try:
        made = schemas.schema(hints.get(parameter.name, parameter.annotation))
    except ToolError as error:
        raise ToolError(f"{tool}: parameter {parameter.name}: {error}") from None
    if (words := described.get(parameter.name)) and (
        "description" not in made or "$ref" in made or "properties" in made
    ):
        made["description"] = words
    if parameter.default is not inspect.Parameter.empty:
        made |= default_of(parameter.default)
    return made
