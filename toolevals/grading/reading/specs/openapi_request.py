"""Read what an operation of an OpenAPI document is given: its parameters and its body, as arguments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from toolevals.grading.reading.specs.drafts import Losses
from toolevals.grading.reading.specs.openapi_arguments import Argument, Body, is_plain_object
from toolevals.grading.reading.specs.openapi_schema import Converted, SchemaReader
from toolevals.grading.values.json_pointers import resolved
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to

# The specification leaves these to other parts of the document.
NOT_ARGUMENTS = frozenset({"accept", "content-type", "authorization"})
_PLACES = frozenset({"path", "query", "header", "cookie"})
# What is read where there is no JSON, the first before the others.
_OTHER_MEDIA = ("application/x-www-form-urlencoded", "multipart/", "text/")
FILE_WORDS = "is a file: a call gives text in its place"


@dataclass(frozen=True, slots=True)
class ParameterList:
    """A list of parameters and its pointer."""

    content: Any
    where: str


@dataclass(slots=True)
class Request:
    """The arguments of one operation while they are read."""

    schemas: SchemaReader
    references: set[str] = field(default_factory=set)
    losses: Losses = field(default_factory=list)

    def schema(self, content: Any, where: str, description: Any) -> Any:
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


def body_of(content: Any, where: str, request: Request) -> Body | Argument | None:
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

    content: Any
    where: str
    required: bool


def body_arguments(body: BodySchema, description: Any, request: Request) -> Body | Argument:
    """Return a body's properties where it is a plain object, else the one argument `body`. Raises InvalidDocument."""
    schema, there = resolved(request.schemas.document, body.content, body.where)
    if not is_plain_object(schema) or schema.get("nullable"):
        made = request.schema(body.content, body.where, description)
        return Argument("body", "body", made, body.required, body.where)
    for name, value in schema["properties"].items():
        if is_file(value):
            request.losses.append(Problem(f"{there}/properties{pointer_to([name])}", FILE_WORDS))
    return _properties(request.schema(schema, there, None), there, optional=not body.required)


def is_file(schema: Any) -> bool:
    """Tell whether a property is a file in a form."""
    if not isinstance(schema, dict):
        return False
    media = schema.get("contentMediaType")
    return schema.get("format") == "binary" or media == "application/octet-stream"


def media_of(content: Any, where: str) -> tuple[dict[str, Any], str] | None:
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


def json_media(content: Any, where: str) -> tuple[dict[str, Any], str] | None:
    """Return the first media type that is JSON, with its pointer; None where there is none."""
    if not isinstance(content, dict):
        return None
    for name, media in content.items():
        kind = name.partition(";")[0].strip().lower()
        if isinstance(media, dict) and (kind in ("application/json", "application/*", "*/*") or kind.endswith("+json")):
            return media, where + pointer_to([name])
    return None


def _parameter(content: Any, where: str, request: Request) -> Argument | None:
    content, where = resolved(request.schemas.document, content, where)
    if not isinstance(content, dict):
        raise InvalidDocument.at(where, "is not an object")
    name, place = content.get("name"), content.get("in")
    if not isinstance(name, str) or not isinstance(place, str):
        raise InvalidDocument.at(where, "has no name, or no place (in)")
    if place not in _PLACES:
        request.losses.append(Problem(f"{where}/in", f"{place!r} is no known place: the parameter is left out"))
        return None
    if place == "header" and name.lower() in NOT_ARGUMENTS:
        return None
    schema, at = _parameter_schema(content, where, request)
    made = request.schema(schema, at, content.get("description"))
    return Argument(name, place, made, place == "path" or content.get("required") is True, at)


def _parameter_schema(content: dict[str, Any], where: str, request: Request) -> tuple[Any, str]:
    if "schema" in content:
        return content["schema"], f"{where}/schema"
    media = json_media(content.get("content"), f"{where}/content")
    if media is not None:
        return media[0].get("schema", True), f"{media[1]}/schema"
    request.losses.append(Problem(where, "has no schema: every value is admitted"))
    return {}, where


def _properties(schema: dict[str, Any], where: str, *, optional: bool) -> Body:
    listed = schema.get("required")
    required = {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
    arguments = [
        Argument(name, "body", value, name in required, f"{where}/properties{pointer_to([name])}")
        for name, value in schema["properties"].items()
    ]
    return Body(arguments, optional, "additionalProperties" not in schema)
