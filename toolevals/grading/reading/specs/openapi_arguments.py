"""Makes one arguments object of an operation's parameters and body.

A name that two of them claim stays with the first in the order path, query, header, cookie, body; the other is called
by its place and name. A body whose schema is a plain object gives its properties, any other body is the argument
`body`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolevals.grading.reading.specs.drafts import Losses
from toolevals.grading.values.problems import Problem, pointer_to

PLACES = ("path", "query", "header", "cookie", "body")
# A body that may be left out says of each of its arguments which others are needed beside it: so many names at most.
MAX_DEPENDENT = 10_000
# What a body's schema may say if its properties are to become arguments.
_PLAIN = frozenset(
    {"type", "properties", "required", "additionalProperties", "title", "description", "example", "examples"}
)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its name and place in the request, its converted schema, and where that stands in the document."""

    name: str
    place: str
    schema: Any
    required: bool
    where: str


@dataclass(frozen=True, slots=True)
class Body:
    """A body that gives its properties. `optional` bodies bind their required properties only where one is given."""

    arguments: Sequence[Argument]
    optional: bool
    open: bool


def is_plain_object(schema: Any) -> bool:
    """Tell whether a body's schema is an object of named properties and nothing more."""
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict) or not schema["properties"]:
        return False
    keywords = {keyword for keyword in schema if not keyword.startswith("x-")}
    closed = schema.get("additionalProperties", False)
    return keywords <= _PLAIN and schema.get("type", "object") == "object" and closed is False


def merged(parameters: Sequence[Argument], body: Body | None) -> tuple[dict[str, Any], dict[str, str], Losses]:
    """Return the arguments object's schema, where its properties come from, and the losses."""
    losses: Losses = []
    inside = body.arguments if body else ()
    arguments = [*sorted(parameters, key=lambda each: PLACES.index(each.place)), *inside]
    names = _names(arguments, losses)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: argument.schema for name, argument in zip(names, arguments, strict=True)},
    }
    bound = {id(argument) for argument in inside} if body and body.optional else set()
    required = [name for name, each in zip(names, arguments, strict=True) if each.required and id(each) not in bound]
    if required:
        schema["required"] = required
    if body and body.optional:
        count = len(inside) * sum(argument.required for argument in inside)
        if count > MAX_DEPENDENT:
            words = "is one of too many to say which of them need each other where the body may be left out: unchecked"
            losses.append(Problem(inside[0].where, words))
        elif dependent := _dependent(names, arguments, bound):
            schema["dependentRequired"] = dependent
    if body is None or not body.open:
        schema["additionalProperties"] = False
    origins = {
        f"/input_schema/properties{pointer_to([name])}": argument.where
        for name, argument in zip(names, arguments, strict=True)
    }
    return schema, origins, losses


def _names(arguments: Sequence[Argument], losses: Losses) -> list[str]:
    plain = {argument.name for argument in arguments}
    taken: set[str] = set()
    names = []
    for argument in arguments:
        name = argument.name
        count = 1
        while name in taken or (count > 1 and name in plain):
            name = f"{argument.place}_{argument.name}" + (f"_{count}" if count > 1 else "")
            count += 1
        if name != argument.name:
            words = f"is called {name}: another argument of the operation is called {argument.name}"
            losses.append(Problem(argument.where, words))
        taken.add(name)
        names.append(name)
    return names


def _dependent(names: Sequence[str], arguments: Sequence[Argument], bound: set[int]) -> dict[str, list[str]]:
    inside = [(name, each) for name, each in zip(names, arguments, strict=True) if id(each) in bound]
    needed = [name for name, argument in inside if argument.required]
    return {name: others for name, _ in inside if (others := [other for other in needed if other != name])}
