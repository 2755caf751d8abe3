"""Read what an operation of Swagger 2.0 is given: its body and the fields of its form are among its parameters.

Source: OpenAPI 2.0, "Parameter Object".
"""

from __future__ import annotations

from typing import Any

from toolevals.grading.reading.specs.openapi_arguments import Argument, Body
from toolevals.grading.reading.specs.openapi_request import (
    FILE_WORDS,
    NOT_ARGUMENTS,
    BodySchema,
    ParameterList,
    Request,
    body_arguments,
    json_media,
)
from toolevals.grading.values.json_pointers import resolved
from toolevals.grading.values.problems import InvalidDocument, Problem

_PLACES = {"path": "path", "query": "query", "header": "header", "formData": "body"}
# A parameter that is no body is its own schema, but for these.
_NO_SCHEMA = frozenset({"name", "in", "description", "required", "collectionFormat", "allowEmptyValue", "schema"})


def swagger_request(
    lists: tuple[ParameterList, ...], operation: dict[str, Any], where: str, request: Request
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
            elif (argument := _parameter(content, at, request)) is not None:
                arguments[argument.place, argument.name] = argument
    parameters = list(arguments.values())
    if body is None:
        return parameters, None
    _check_media(operation, where, request)
    return parameters, body_arguments(body, said, request)


def swagger_response(response: dict[str, Any], where: str) -> tuple[dict[str, Any], str] | None:
    """Return what holds a response's schema, with its pointer."""
    return (response, where) if "schema" in response else None


def _check_media(operation: dict[str, Any], where: str, request: Request) -> None:
    """Name a body that is sent as something that its schema says little of."""
    document = request.schemas.document
    consumes, at = operation.get("consumes"), f"{where}/consumes"
    if consumes is None:
        consumes, at = document.get("consumes"), "/consumes"
    kinds = [kind for kind in consumes if isinstance(kind, str)] if isinstance(consumes, list) else []
    if kinds and json_media({kind: {} for kind in kinds}, "") is None:
        request.losses.append(Problem(at, "has no JSON: the body's schema is read as if it were"))


def _parameter(content: dict[str, Any], where: str, request: Request) -> Argument | None:
    name, said = content.get("name"), content.get("in")
    if not isinstance(name, str) or not isinstance(said, str):
        raise InvalidDocument.at(where, "has no name, or no place (in)")
    if said not in _PLACES:
        request.losses.append(Problem(f"{where}/in", f"{said!r} is no known place: the parameter is left out"))
        return None
    if said == "header" and name.lower() in NOT_ARGUMENTS:
        return None
    schema = {keyword: value for keyword, value in content.items() if keyword not in _NO_SCHEMA}
    if schema.get("type") == "file":
        schema["type"] = "string"
        request.losses.append(Problem(where, FILE_WORDS))
    made = request.schema(schema, where, content.get("description"))
    return Argument(name, _PLACES[said], made, said == "path" or content.get("required") is True, where)
