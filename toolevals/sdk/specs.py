"""Make a tool spec of a function: its name, description and schemas, from its annotations and its docstring."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Literal

from toolevals.sdk.annotations import Schema, Schemas, default_of, hints_of
from toolevals.sdk.docstrings import read_docstring
from toolevals.sdk.errors import ToolError

Form = Literal["native", "openai", "anthropic"]
_KINDS: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*{}",
    inspect.Parameter.VAR_KEYWORD: "**{}",
    inspect.Parameter.POSITIONAL_ONLY: "{} (positional only)",
}


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as it is offered to a model. `input_schema` is that of the arguments, JSON Schema 2020-12."""

    name: str
    description: str
    input_schema: Schema

    def document(self, form: Form = "native") -> dict[str, Any]:
        """Return the spec as toolevals' registries import it, or as OpenAI's or Anthropic's interface takes it."""
        if form == "openai":
            inner = {"name": self.name, "description": self.description, "parameters": self.input_schema}
            return {"type": "function", "function": inner}
        if form not in ("native", "anthropic"):
            raise ValueError(f"{form!r} is no form: there are native, openai, anthropic")
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
    tool: str, parameter: inspect.Parameter, hints: dict[str, Any], schemas: Schemas, described: dict[str, str]
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
