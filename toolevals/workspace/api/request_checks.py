"""Refuses what an operation does not know: a field, a part of a form or a parameter that the OpenAPI document lacks.

What is left unread in silence is a misspelt filter, or a file that was sent to the wrong address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from rest_framework.authentication import SessionAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from toolevals.grading.values.problems import Problem, pointer_to
from toolevals.json_types import JsonMapping
from toolevals.workspace.access import READING


class AccessAuthentication(SessionAuthentication):
    """By token: nothing more to check. By session: the CSRF token too."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        token = getattr(request, "token", None)
        if token is not None:
            return token.user, token
        return super().authenticate(request)

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


_ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")
# What a browser's form holds beside its fields.
_OF_FORMS = frozenset({"csrfmiddlewaretoken"})
_JSON = "application/json"
# How a form names what is inside of a field: "choice.tags", "rows[0]".
_OF_PARTS = re.compile(r"[.\[]")
_FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
Path = tuple[str | int, ...]


class KnownNamesOnly(BasePermission):
    """Lets a request through to its view where the document names all that it holds. Raises `Problems` (422)."""

    def has_permission(self, request: Request, view: Any) -> bool:
        # The framework loads this module while it loads its views, on which that one stands.
        from toolevals.workspace.api.problems import Problems

        operation = _operation(request)
        if operation is None:
            return True
        # A view whose parameters are those of a page that it names.
        is_open = getattr(view, "takes_any_parameter", False)
        found = [] if is_open else list(_unknown_parameters(operation, request))
        if request.method not in READING:
            found += _unknown_fields(operation, request)
        if found:
            raise Problems(HTTPStatus.UNPROCESSABLE_ENTITY, "The request holds what is not known here.", found)
        return True


@dataclass(frozen=True, slots=True)
class _Operation:
    """The names that an operation takes: parameters of its address, and the schema of its body by media type."""

    parameters: frozenset[str]
    bodies: JsonMapping


@cache
def _operations() -> dict[tuple[str, str], _Operation]:
    from toolevals.workspace.api.document import document

    return {
        (path, method.upper()): _Operation(
            frozenset(each["name"] for each in said.get("parameters", ()) if each["in"] == "query"),
            {
                name: content.get("schema", {})
                for name, content in said.get("requestBody", {}).get("content", {}).items()
            },
        )
        for path, operations in document()["paths"].items()
        for method, said in operations.items()
    }


def _operation(request: Request) -> _Operation | None:
    """Return what the document says of the operation, None where it says nothing, as of itself."""
    match = request.resolver_match
    method = "GET" if request.method == "HEAD" else request.method or ""
    path = "/" + _ARGUMENT.sub(r"{\1}", match.route) if match is not None else ""
    return _operations().get((path, method))


def _unknown_parameters(operation: _Operation, request: Request) -> Iterator[Problem]:
    for name in request.query_params:
        if name not in operation.parameters:
            yield Problem("", f"The parameter {name!r} is not known here. {_known(operation.parameters)}")


def _unknown_fields(operation: _Operation, request: Request) -> Iterable[Problem]:
    body: Any = request.data
    if not operation.bodies and not isinstance(body, Mapping):
        return [Problem("", "This operation takes no body.")] if body else []
    if not operation.bodies:
        return [Problem(pointer_to([name]), "This operation takes no body.") for name in body if name not in _OF_FORMS]
    media_type = (request.content_type or _JSON).partition(";")[0].strip().lower()
    schema = operation.bodies.get(media_type)
    if schema is None:
        # A body with a media type that no parser takes was refused before: none was sent.
        schema = operation.bodies.get(_JSON, {})
    found = list(_unknown(schema, body, ()))
    return found or (_misplaced_files(_resolved(schema), body) if media_type in _FORMS else [])


def _misplaced_files(schema: JsonMapping, body: JsonMapping) -> Iterator[Problem]:
    """Yield the parts of a form that are files where the document says of none that it is one."""
    for name, held in body.items():
        if isinstance(held, UploadedFile) and schema.get("properties", {}).get(name, {}).get("format") != "binary":
            yield Problem(pointer_to([name]), f"The field {name!r} takes no file.")


def _unknown(schema: JsonMapping, value: Any, path: Path) -> Iterator[Problem]:
    """Yield the fields of a value that its schema does not name, where the schema names all there are."""
    schema = _resolved(schema)
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from _unknown(schema["items"], item, (*path, index))
    fields = schema.get("properties")
    if not isinstance(value, Mapping) or not fields or "additionalProperties" in schema:
        return
    for name, held in value.items():
        if name in fields:
            yield from _unknown(fields[name], held, (*path, name))
        elif path or (name not in _OF_FORMS and _OF_PARTS.split(name)[0] not in fields):
            yield Problem(pointer_to([*path, name]), f"This field is not known here. {_known(fields)}")


def _resolved(schema: JsonMapping) -> JsonMapping:
    """Return what a schema refers to; where it is one of several, nothing is known."""
    from toolevals.workspace.api.document import document

    while True:
        alone = schema.get("allOf", ())
        if len(alone) == 1 and "properties" not in schema:
            schema = alone[0]
        elif "$ref" in schema:
            schema = document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        else:
            return schema


def _known(names: Iterable[str]) -> str:
    listed = ", ".join(sorted(names))
    return f"Known are: {listed}." if listed else "It takes none."
