"""Read what an operation of an OpenAPI document is given: its parameters and its body, as arguments.

Makes one arguments object of an operation's parameters and body.

A name that two of them claim stays with the first in the order path, query, header, cookie, body; the other is called
by its place and name. A body whose schema is a plain object gives its properties, any other body is the argument
`body`.

Read what an operation of Swagger 2.0 is given: its body and the fields of its form are among its parameters.

Source: OpenAPI 2.0, "Parameter Object".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from toolevals.grading.reading.specs.drafts import Losses
from toolevals.grading.reading.specs.openapi_schema import Converted, SchemaReader
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to, resolved
from toolevals.json_types import JsonObject, JsonValue

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
    schema: JsonValue
    required: bool
    where: str


@dataclass(frozen=True, slots=True)
class Body:
    """A body that gives its properties. `optional` bodies bind their required properties only where one is given."""

    arguments: Sequence[Argument]
    optional: bool
    open: bool


def is_plain_object(schema: object) -> bool:
    """Tell whether a body's schema is an object of named properties and nothing more."""
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict) or not schema["properties"]:
        return False
    keywords = {keyword for keyword in schema if not keyword.startswith("x-")}
    closed = schema.get("additionalProperties", False)
    return keywords <= _PLAIN and schema.get("type", "object") == "object" and closed is False


def merged(parameters: Sequence[Argument], body: Body | None) -> tuple[JsonObject, dict[str, str], Losses]:
    """Return the arguments object's schema, where its properties come from, and the losses."""
    losses: Losses = []
    inside = body.arguments if body else ()
    arguments = [*sorted(parameters, key=lambda each: PLACES.index(each.place)), *inside]
    names = _names(arguments, losses)
    schema: JsonObject = {
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


# The specification leaves these to other parts of the document.
NOT_ARGUMENTS = frozenset({"accept", "content-type", "authorization"})
_PLACES = frozenset({"path", "query", "header", "cookie"})
# What is read where there is no JSON, the first before the others.
_OTHER_MEDIA = ("application/x-www-form-urlencoded", "multipart/", "text/")
FILE_WORDS = "is a file: a call gives text in its place"


@dataclass(frozen=True, slots=True)
class ParameterList:
    """A list of parameters and its pointer."""

    content: JsonValue
    where: str


@dataclass(slots=True)
class Request:
    """The arguments of one operation while they are read."""

    schemas: SchemaReader
    references: set[str] = field(default_factory=set)
    losses: Losses = field(default_factory=list)

    def schema(self, content: object, where: str, description: object) -> Any:
        """Return a schema of the document, with the description of what holds it where it has none."""
        converted: Converted = self.schemas.convert(content, where)
        self.references |= converted.references
        self.losses += converted.losses
        schema = converted.schema
        if isinstance(schema, dict) and isinstance(description, str) and "description" not in schema:
            schema = {**schema, "description": description}
        return schema


def parameters_of(lists: tuple[ParameterList, ...], request: Request) -> list[Argument]:
    """Return the parameters, those of later lists in place of earlier ones. Raises InvalidDocument."""
    arguments: dict[tuple[str, str], Argument] = {}
    for each in lists:
        if not isinstance(each.content, list):
            raise InvalidDocument.at(each.where, "is not a list")
        for position, member in enumerate(each.content):
            argument = _parameter(member, f"{each.where}/{position}", request)
            if argument is not None:
                arguments[argument.place, argument.name] = argument
    return list(arguments.values())


def body_of(content: object, where: str, request: Request) -> Body | Argument | None:
    """Return what a request body gives: properties, one argument, or nothing. Raises InvalidDocument."""
    if content is None:
        return None
    content, where = resolved(request.schemas.document, content, where)
    if not isinstance(content, dict):
        raise InvalidDocument.at(where, "is not an object")
    media = media_of(content.get("content"), f"{where}/content")
    if media is None:
        words = "has no JSON, form, multipart or text among its media types: the body is left out"
        request.losses.append(Problem(f"{where}/content", words))
        return None
    description = content.get("description")
    body = BodySchema(media[0].get("schema", True), f"{media[1]}/schema", content.get("required") is True)
    if isinstance(found := body_arguments(body, description, request), Body) and description:
        request.losses.append(Problem(f"{where}/description", "is not carried over"))
    return found


@dataclass(frozen=True, slots=True)
class BodySchema:
    """The schema of a body, where it stands, and whether the body must be given."""

    content: JsonValue
    where: str
    required: bool


def body_arguments(body: BodySchema, description: object, request: Request) -> Body | Argument:
    """Return a body's properties where it is a plain object, else the one argument `body`. Raises InvalidDocument."""
    schema, there = resolved(request.schemas.document, body.content, body.where)
    if not is_plain_object(schema) or schema.get("nullable"):
        made = request.schema(body.content, body.where, description)
        return Argument("body", "body", made, body.required, body.where)
    for name, value in schema["properties"].items():
        if is_file(value):
            request.losses.append(Problem(f"{there}/properties{pointer_to([name])}", FILE_WORDS))
    return _properties(request.schema(schema, there, None), there, optional=not body.required)


def is_file(schema: object) -> bool:
    """Tell whether a property is a file in a form."""
    if not isinstance(schema, dict):
        return False
    media = schema.get("contentMediaType")
    return schema.get("format") == "binary" or media == "application/octet-stream"


def media_of(content: object, where: str) -> tuple[JsonObject, str] | None:
    """Return the media type that a body is read from, with its pointer: JSON, else a form, else text."""
    if (found := json_media(content, where)) is not None:
        return found
    if not isinstance(content, dict):
        return None
    for start in _OTHER_MEDIA:
        for name, media in content.items():
            if isinstance(media, dict) and name.strip().lower().startswith(start):
                return media, where + pointer_to([name])
    return None


def json_media(content: object, where: str) -> tuple[JsonObject, str] | None:
    """Return the first media type that is JSON, with its pointer; None where there is none."""
    if not isinstance(content, dict):
        return None
    for name, media in content.items():
        kind = name.partition(";")[0].strip().lower()
        if isinstance(media, dict) and (kind in ("application/json", "application/*", "*/*") or kind.endswith("+json")):
            return media, where + pointer_to([name])
    return None


def _parameter(content: object, where: str, request: Request) -> Argument | None:
    content, where = resolved(request.schemas.document, content, where)
    if not isinstance(content, dict):
        raise InvalidDocument.at(where, "is not an object")
    name, place = content.get("name"), content.get("in")
    if not isinstance(name, str) or not isinstance(place, str):
        raise InvalidDocument.at(where, "has no name, or no place (in)")
    if place not in _PLACES:
        request.losses.append(Problem(f"{where}/in", f"{place!r} is not a known place: the parameter is left out"))
        return None
    if place == "header" and name.lower() in NOT_ARGUMENTS:
        return None
    schema, at = _parameter_schema(content, where, request)
    made = request.schema(schema, at, content.get("description"))
    return Argument(name, place, made, place == "path" or content.get("required") is True, at)


def _parameter_schema(content: JsonObject, where: str, request: Request) -> tuple[Any, str]:
    if "schema" in content:
        return content["schema"], f"{where}/schema"
    media = json_media(content.get("content"), f"{where}/content")
    if media is not None:
        return media[0].get("schema", True), f"{media[1]}/schema"
    request.losses.append(Problem(where, "has no schema: every value is accepted"))
    return {}, where


def _properties(schema: JsonObject, where: str, *, optional: bool) -> Body:
    listed = schema.get("required")
    required = {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
    arguments = [
        Argument(name, "body", value, name in required, f"{where}/properties{pointer_to([name])}")
        for name, value in schema["properties"].items()
    ]
    return Body(arguments, optional, "additionalProperties" not in schema)


_SWAGGER_PLACES = {"path": "path", "query": "query", "header": "header", "formData": "body"}
# A parameter that is no body is its own schema, but for these.
_NO_SCHEMA = frozenset({"name", "in", "description", "required", "collectionFormat", "allowEmptyValue", "schema"})


def swagger_request(
    lists: tuple[ParameterList, ...], operation: JsonObject, where: str, request: Request
) -> tuple[list[Argument], Body | Argument | None]:
    """Return the parameters, and what the body gives. Raises InvalidDocument."""
    arguments: dict[tuple[str, str], Argument] = {}
    body: BodySchema | None = None
    said: Any = None
    for each in lists:
        if not isinstance(each.content, list):
            raise InvalidDocument.at(each.where, "is not a list")
        for position, member in enumerate(each.content):
            content, at = resolved(request.schemas.document, member, f"{each.where}/{position}")
            if not isinstance(content, dict):
                raise InvalidDocument.at(at, "is not an object")
            if content.get("in") == "body":
                body = BodySchema(content.get("schema", True), f"{at}/schema", content.get("required") is True)
                said = content.get("description")
            elif (argument := _swagger_parameter(content, at, request)) is not None:
                arguments[argument.place, argument.name] = argument
    parameters = list(arguments.values())
    if body is None:
        return parameters, None
    _check_media(operation, where, request)
    return parameters, body_arguments(body, said, request)


def swagger_response(response: JsonObject, where: str) -> tuple[JsonObject, str] | None:
    """Return what holds a response's schema, with its pointer."""
    return (response, where) if "schema" in response else None


def _check_media(operation: JsonObject, where: str, request: Request) -> None:
    """Name a body that is sent as something that its schema says little of."""
    document = request.schemas.document
    consumes, at = operation.get("consumes"), f"{where}/consumes"
    if consumes is None:
        consumes, at = document.get("consumes"), "/consumes"
    kinds = [kind for kind in consumes if isinstance(kind, str)] if isinstance(consumes, list) else []
    if kinds and json_media({kind: {} for kind in kinds}, "") is None:
        request.losses.append(Problem(at, "has no JSON: the body's schema is read as if it were"))


def _swagger_parameter(content: JsonObject, where: str, request: Request) -> Argument | None:
    name, said = content.get("name"), content.get("in")
    if not isinstance(name, str) or not isinstance(said, str):
        raise InvalidDocument.at(where, "has no name, or no place (in)")
    if said not in _SWAGGER_PLACES:
        request.losses.append(Problem(f"{where}/in", f"{said!r} is not a known place: the parameter is left out"))
        return None
    if said == "header" and name.lower() in NOT_ARGUMENTS:
        return None
    schema = {keyword: value for keyword, value in content.items() if keyword not in _NO_SCHEMA}
    if schema.get("type") == "file":
        schema["type"] = "string"
        request.losses.append(Problem(where, FILE_WORDS))
    made = request.schema(schema, where, content.get("description"))
    return Argument(name, _SWAGGER_PLACES[said], made, said == "path" or content.get("required") is True, where)
