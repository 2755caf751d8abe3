"""Operations of OpenAPI 3.0 and later as tools.

A tool is called by its `operationId`, else by method and path (`get_pets_petId`). Parameters and JSON body make one
arguments object. The first success response with JSON is the output. Safe methods are read-only, PUT and DELETE
idempotent, DELETE destructive (RFC 9110, section 9.2). Servers, credentials, and the headers that the specification
takes from parameters (Accept, Content-Type, Authorization) are not arguments.
Sources: OpenAPI 3.0.4 and 3.1.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolevals.grading.canonical import exact
from toolevals.grading.problems import InvalidDocument, Problem, pointer_to
from toolevals.grading.references import resolved
from toolevals.grading.specs.drafts import Draft, Drafts, Losses, Names
from toolevals.grading.specs.openapi_arguments import Argument, Body, merged
from toolevals.grading.specs.openapi_request import ParameterList, Request, body_of, json_media, parameters_of
from toolevals.grading.specs.openapi_schema import Converted, SchemaReader

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_ANNOTATIONS: Mapping[str, dict[str, bool]] = {
    **{method: {"read_only": True} for method in ("get", "head", "options", "trace")},
    "put": {"idempotent": True},
    "delete": {"destructive": True, "idempotent": True},
}
_LONGEST_NAME = 200
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_SUCCESS = re.compile(r"2[0-9]{2}|2XX")
# All tools of a document together, as text; what a parameter costs before it is read.
MAX_CHARACTERS_IN_ALL = 50_000_000
_PARAMETER = 100


@dataclass(frozen=True, slots=True)
class _Operation:
    content: dict[str, Any]
    where: str
    method: str
    path: str
    shared: ParameterList

    @property
    def lists(self) -> tuple[ParameterList, ParameterList]:
        return self.shared, ParameterList(self.content.get("parameters", []), f"{self.where}/parameters")


def read_openapi(document: Any) -> Drafts:
    """Read a document's operations."""
    version = document.get("openapi") if isinstance(document, dict) else None
    if not isinstance(version, str) or not version.startswith("3."):
        raise InvalidDocument.at("/openapi", "is not a version 3 of OpenAPI")
    paths = document.get("paths", {})
    if not isinstance(paths, dict):
        raise InvalidDocument.at("/paths", "is not an object")
    old = version.startswith("3.0")
    requests, responses = SchemaReader(document, old, "request"), SchemaReader(document, old, "response")
    names, length = Names(), 0
    for operation in _operations(document, paths):
        if isinstance(operation, InvalidDocument):
            yield operation
            continue
        length += _PARAMETER * sum(len(each.content) for each in operation.lists if isinstance(each.content, list))
        if length > MAX_CHARACTERS_IN_ALL:
            yield InvalidDocument.at(
                operation.where, f"the tools come to more than {MAX_CHARACTERS_IN_ALL:,} characters: split the document"
            )
            return
        try:
            draft = _draft(operation, requests, responses, names)
        except InvalidDocument as error:
            yield error
            continue
        length += len(exact(draft.native))
        yield draft


def _operations(document: dict[str, Any], paths: dict[str, Any]) -> Iterator[_Operation | InvalidDocument]:
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
                yield _Operation(content, at, method, path, shared)
            elif method in item:
                yield InvalidDocument.at(at, "is not an object")


def _draft(operation: _Operation, requests: SchemaReader, responses: SchemaReader, names: Names) -> Draft:
    request = Request(requests)
    parameters = parameters_of(operation.lists, request)
    given = body_of(operation.content.get("requestBody"), f"{operation.where}/requestBody", request)
    if isinstance(given, Argument):
        parameters.append(given)
    schema, origins, losses = merged(parameters, given if isinstance(given, Body) else None)
    definitions = requests.definitions_of(request.references)
    if definitions:
        schema["$defs"] = {requests.name_of(at): each.schema for at, each in definitions.items()}
        origins |= {f"/input_schema/$defs/{requests.name_of(at)}": at for at in definitions}
        losses += [loss for each in definitions.values() for loss in each.losses]
    native: dict[str, Any] = {
        "name": _name(operation, names, losses),
        "description": _description(operation.content),
        "input_schema": schema,
    }
    if operation.method in _ANNOTATIONS:
        native["annotations"] = dict(_ANNOTATIONS[operation.method])
    if "callbacks" in operation.content:
        losses.append(Problem(f"{operation.where}/callbacks", "is not carried over"))
    origins |= {"/name": f"{operation.where}/operationId", "/input_schema": operation.where}
    origins |= _add_output(native, operation, responses, losses)
    return Draft(operation.where, native, request.losses + losses, origins)


def _name(operation: _Operation, names: Names, losses: Losses) -> Any:
    said = operation.content.get("operationId")
    if said is not None:
        return said
    stem = _NO_NAME.sub("_", f"{operation.method}_{operation.path}").strip("_")
    stem = re.sub("__+", "_", stem)[: _LONGEST_NAME - 10]
    name = names.take(stem)
    if name != stem:
        losses.append(Problem(operation.where, f"is called {name}: another path gives the name {stem}"))
    return name


def _description(content: dict[str, Any]) -> str:
    parts = [text.strip() for key in ("summary", "description") if isinstance(text := content.get(key), str)]
    if len(parts) == 2 and parts[0] in parts[1]:
        return parts[1]
    return "\n\n".join(part for part in parts if part)


def _add_output(
    native: dict[str, Any], operation: _Operation, responses: SchemaReader, losses: Losses
) -> dict[str, str]:
    """Add the output schema, and return where its parts come from; a schema that is too large or bad is a loss."""
    try:
        found = _response_schema(operation, responses)
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


def _response_schema(operation: _Operation, responses: SchemaReader) -> tuple[Converted, str] | None:
    listed = operation.content.get("responses")
    if not isinstance(listed, dict):
        return None
    for code in sorted(code for code in listed if _SUCCESS.fullmatch(code)):
        at = f"{operation.where}/responses{pointer_to([code])}"
        response, where = resolved(responses.document, listed[code], at)
        media = json_media(response.get("content"), f"{where}/content") if isinstance(response, dict) else None
        if media is not None and "schema" in media[0]:
            return responses.convert(media[0]["schema"], f"{media[1]}/schema"), f"{media[1]}/schema"
    return None
