"""Reads operations of OpenAPI 3.0 and later, and of Swagger 2.0, as tools.

A tool is called by its `operationId`, else by method and path (`get_pets_petId`). Parameters and body make one
arguments object. The first success response with JSON is the output. Safe methods are read-only, PUT and DELETE
idempotent, DELETE destructive (RFC 9110, section 9.2). Servers, credentials, and the headers that the specification
takes from parameters (Accept, Content-Type, Authorization) are not arguments.
Sources: OpenAPI 2.0, 3.0.4 and 3.1.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolevals.grading.reading.specs.drafts import Choice, Draft, Drafts, Losses, Names, Operation
from toolevals.grading.reading.specs.openapi_request import (
    Argument,
    Body,
    ParameterList,
    Request,
    body_of,
    json_media,
    merged,
    parameters_of,
    swagger_request,
    swagger_response,
)
from toolevals.grading.reading.specs.openapi_schema import Converted, SchemaReader
from toolevals.grading.values.canonical import exact
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to, resolved
from toolevals.json_types import JsonValue

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_ANNOTATIONS: Mapping[str, dict[str, bool]] = {
    **{method: {"read_only": True} for method in ("get", "head", "options", "trace")},
    "put": {"idempotent": True},
    "delete": {"destructive": True, "idempotent": True},
}
# What an operation says of itself that no tool spec can.
_LOST = ("callbacks", "deprecated")
_LONGEST_NAME = 200
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_SUCCESS = re.compile(r"2[0-9]{2}|2XX")
# All tools of a document together, as text; what a parameter costs before it is read.
MAX_CHARACTERS_IN_ALL = 50_000_000
_PARAMETER = 100


@dataclass(frozen=True, slots=True)
class _Listed:
    """An operation as it stands in a document, with the name of its tool and what became of the name."""

    content: dict[str, Any]
    where: str
    place: Operation
    shared: ParameterList
    name: Any
    losses: Losses

    @property
    def lists(self) -> tuple[ParameterList, ParameterList]:
        return self.shared, ParameterList(self.content.get("parameters", []), f"{self.where}/parameters")


def read_openapi(document: JsonValue, choice: Choice = Choice()) -> Drafts:  # noqa: B008 (it is a frozen value)
    """Read those of a document's operations that are chosen. Raises InvalidDocument where there are none to read."""
    old, swagger = _version(document)
    paths = document.get("paths", {})
    if not isinstance(paths, dict):
        raise InvalidDocument.at("/paths", "is not an object")
    requests, responses = SchemaReader(document, old, "request"), SchemaReader(document, old, "response")
    length = 0
    for listed in _operations(document, paths, Names()):
        if isinstance(listed, InvalidDocument):
            if choice.takes_all:
                yield listed
            continue
        if not choice.takes_all and not choice.takes(listed.name, _description(listed.content), listed.place):
            continue
        length += _PARAMETER * sum(len(each.content) for each in listed.lists if isinstance(each.content, list))
        if length > MAX_CHARACTERS_IN_ALL:
            words = f"the tools come to more than {MAX_CHARACTERS_IN_ALL:,} characters: choose some of the operations"
            yield InvalidDocument.at(listed.where, words)
            return
        try:
            draft = _draft(listed, requests, responses, swagger=swagger)
        except InvalidDocument as error:
            yield error
            continue
        length += len(exact(draft.native))
        yield draft


def lost_parts(document: object) -> Losses:
    """Return the parts of a document besides its operations that make no tools."""
    hooks = document.get("webhooks") if isinstance(document, dict) else None
    if not isinstance(hooks, dict):
        return []
    return [Problem(f"/webhooks{pointer_to([name])}", "is a webhook: agents do not call it") for name in hooks]


def _version(document: object) -> tuple[bool, bool]:
    """Return whether schemas are in the words before 3.1, and whether it is Swagger 2.0. Raises InvalidDocument."""
    if not isinstance(document, dict):
        raise InvalidDocument.at("", "is not an object")
    if "swagger" in document and "openapi" not in document:
        if document["swagger"] not in ("2.0", 2.0):
            raise InvalidDocument.at("/swagger", "is not version 2.0, nor does openapi say a version 3")
        return True, True
    version = document.get("openapi")
    if not isinstance(version, str) or not version.startswith("3."):
        raise InvalidDocument.at("/openapi", "is not a version 3 of OpenAPI, nor does swagger say 2.0")
    return version.startswith("3.0"), False


def _operations(document: dict[str, Any], paths: dict[str, Any], names: Names) -> Iterator[_Listed | InvalidDocument]:
    for path, listed in paths.items():
        if path.startswith("x-"):
            continue
        try:
            item, where = resolved(document, listed, f"/paths{pointer_to([path])}")
        except InvalidDocument as error:
            yield error
            continue
        if not isinstance(item, dict):
            yield InvalidDocument.at(where, "is not an object")
            continue
        shared = ParameterList(item.get("parameters", []), f"{where}/parameters")
        for method in METHODS:
            at = f"{where}/{method}"
            if isinstance(content := item.get(method), dict):
                losses: Losses = []
                place = _place(content, method, path)
                name = _name(content, at, place, names, losses)
                yield _Listed(content, at, place, shared, name, losses)
            elif method in item:
                yield InvalidDocument.at(at, "is not an object")


def _place(content: dict[str, Any], method: str, path: str) -> Operation:
    said, summary = content.get("tags"), content.get("summary")
    tags = tuple(tag for tag in said if isinstance(tag, str)) if isinstance(said, list) else ()
    return Operation(method, path, tags, summary if isinstance(summary, str) else "")


def _draft(listed: _Listed, requests: SchemaReader, responses: SchemaReader, *, swagger: bool) -> Draft:
    request = Request(requests)
    if swagger:
        parameters, given = swagger_request(listed.lists, listed.content, listed.where, request)
    else:
        parameters = parameters_of(listed.lists, request)
        given = body_of(listed.content.get("requestBody"), f"{listed.where}/requestBody", request)
    if isinstance(given, Argument):
        parameters.append(given)
    schema, origins, losses = merged(parameters, given if isinstance(given, Body) else None)
    losses += listed.losses
    definitions = requests.definitions_of(request.references)
    if definitions:
        schema["$defs"] = {requests.name_of(at): each.schema for at, each in definitions.items()}
        origins |= {f"/input_schema/$defs/{requests.name_of(at)}": at for at in definitions}
        losses += [loss for each in definitions.values() for loss in each.losses]
    native: dict[str, Any] = {
        "name": listed.name,
        "description": _description(listed.content),
        "input_schema": schema,
    }
    method, where = listed.place.method, listed.where
    if method in _ANNOTATIONS:
        native["annotations"] = dict(_ANNOTATIONS[method])
    losses += [
        Problem(f"{where}/{key}", "is not carried over") for key in _LOST if listed.content.get(key, False) is not False
    ]
    origins |= {"/name": f"{where}/operationId", "/input_schema": where}
    origins |= _add_output(native, listed, responses, losses, swagger=swagger)
    return Draft(where, native, request.losses + losses, origins, listed.place)


def _name(content: dict[str, Any], where: str, place: Operation, names: Names, losses: Losses) -> Any:
    said = content.get("operationId")
    if said is not None:
        return said
    stem = _NO_NAME.sub("_", f"{place.method}_{place.path}").strip("_")
    stem = re.sub("__+", "_", stem)[: _LONGEST_NAME - 10]
    name = names.take(stem)
    if name != stem:
        losses.append(Problem(where, f"is called {name}: another path gives the name {stem}"))
    return name


def _description(content: dict[str, Any]) -> str:
    parts = [text.strip() for key in ("summary", "description") if isinstance(text := content.get(key), str)]
    if len(parts) == 2 and parts[0] in parts[1]:
        return parts[1]
    return "\n\n".join(part for part in parts if part)


def _add_output(
    native: dict[str, Any], operation: _Listed, responses: SchemaReader, losses: Losses, *, swagger: bool
) -> dict[str, str]:
    """Add the output schema, and return where its parts come from; a schema that is too large or bad is a loss."""
    try:
        found = _response_schema(operation, responses, swagger=swagger)
        if found is None:
            return {}
        converted, at = found
        definitions = responses.definitions_of(converted.references)
    except InvalidDocument as error:
        losses += [Problem(each.pointer, f"the output schema is left out: {each.message}") for each in error.problems]
        return {}
    if not isinstance(converted.schema, dict):
        return {}
    schema, origins = converted.schema, {"/output_schema": at}
    if definitions:
        schema = {**schema, "$defs": {responses.name_of(where): each.schema for where, each in definitions.items()}}
        origins |= {f"/output_schema/$defs/{responses.name_of(where)}": where for where in definitions}
    native["output_schema"] = schema
    losses += converted.losses + [loss for each in definitions.values() for loss in each.losses]
    return origins


def _response_schema(operation: _Listed, responses: SchemaReader, *, swagger: bool) -> tuple[Converted, str] | None:
    listed = operation.content.get("responses")
    if not isinstance(listed, dict):
        return None
    for code in sorted(code for code in listed if _SUCCESS.fullmatch(code)):
        at = f"{operation.where}/responses{pointer_to([code])}"
        response, where = resolved(responses.document, listed[code], at)
        if not isinstance(response, dict):
            continue
        media = (
            swagger_response(response, where) if swagger else json_media(response.get("content"), f"{where}/content")
        )
        if media is not None and "schema" in media[0]:
            return responses.convert(media[0]["schema"], f"{media[1]}/schema"), f"{media[1]}/schema"
    return None
