"""Show what the OpenAPI document says about every address: who may ask, and what errors look like."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema

PROBLEM = {
    "type": "object",
    "description": "An error (RFC 9457).",
    "required": ["type", "title", "status"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "problems": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "message"],
                "properties": {
                    "pointer": {"type": "string", "description": "A JSON pointer into what was sent."},
                    "message": {"type": "string"},
                },
            },
        },
    },
}


class Described(AutoSchema):
    """Describes what an operation deletes by its body, where it has one."""

    def _get_request_body(self, direction: Any = "request") -> Any:
        if self.method != "DELETE" or HAS_BODY not in (self.get_extensions() or {}):
            return super()._get_request_body(direction)  # type: ignore[no-untyped-call]
        # The framework takes no DELETE to have a body.
        self.method = "POST"
        try:
            return super()._get_request_body(direction)  # type: ignore[no-untyped-call]
        finally:
            self.method = "DELETE"


class AccessScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A token in the header, or the session of a signed-in browser."""

    target_class = "toolevals.workspace.api.request_checks.AccessAuthentication"
    name = ["token", "session"]  # noqa: RUF012 - the framework's interface

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, str]]:
        return [
            {"type": "http", "scheme": "bearer", "description": "An API token of a project: te_..."},
            {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME},
        ]

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[Any]]]:
        return [{name: []} for name in self.name]


# Why a request may be refused, or fail: the name of the answer in the document, and what it says.
ERRORS: dict[int, tuple[str, str]] = {
    400: ("Unreadable", "The request cannot be read. Where a value cannot be kept, a pointer says which."),
    401: ("NotSignedIn", "There is no token, or one that is unknown, expired or revoked."),
    403: ("NotAllowed", "Your role in the project does not allow it."),
    404: ("NotFound", "There is no such thing here, or the project is not yours."),
    406: ("NotAcceptable", "The answer cannot be had in a format that `Accept` names."),
    409: ("Conflict", "It conflicts with the present state, or the first request with this key is still at work."),
    410: ("Gone", "The file is not written yet, or no longer kept."),
    411: ("LengthRequired", "A chunked body is not taken here: send it with its length."),
    413: ("TooLarge", "The body is too large. The answer says the limit."),
    415: ("UnknownType", "The body is of another type than is taken here."),
    422: ("Invalid", "The request can be read, and is wrong: `problems` says where."),
    500: ("Failed", "A fault of the server."),
    503: ("Away", "The database is busy or away. `Retry-After` says when to retry."),
    507: ("Full", "The server's disk is full, or the project has no room."),
}
# Whatever an operation does.
ALWAYS = (400, 401, 406, 500, 503)
IN_PROJECT, IN_PAGES, WITH_QUERY = (403, 404), (404,), (422,)
# Whatever an address names may be missing.
NAMED = 404
WRITING, WITH_BODY = (403, 409, 422, 507), (411, 413, 415)
# What an operation says of itself where it deletes what its body names.
HAS_BODY = "x-has-body"


def errors_of(path: str, method: str, operation: dict[str, Any]) -> list[int]:
    """Return the statuses of the errors that an operation may answer, besides those that it names itself."""
    found = {*ALWAYS}
    if "{project}" in path:
        found.update(IN_PROJECT)
    if "{" in path:
        found.add(NAMED)
    if method != "get":
        found.update(WRITING)
    asked = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}
    if asked:
        found.update(WITH_QUERY)
    if asked & {"cursor", "before"}:
        found.update(IN_PAGES)
    if "requestBody" in operation:
        found.update(WITH_BODY)
    return sorted(found)


def describe_problems(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Say once what errors look like, and add to every operation each status with which it may answer so."""
    components = result.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = PROBLEM
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    components["responses"] = {name: {"description": said, "content": content} for name, said in ERRORS.values()}
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            responses = operation["responses"]
            named = [int(status) for status in responses if int(status) in ERRORS]
            for status in {*named, *errors_of(path, method, operation)}:
                responses[str(status)] = {"$ref": f"#/components/responses/{ERRORS[status][0]}"}
            operation["responses"] = dict(sorted(responses.items()))
    return result


def describe_files(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Say that a form's files are bytes: where answers are meant, a file is an address."""
    schemas = result["components"]["schemas"]
    for operations in result["paths"].values():
        for operation in operations.values():
            content = operation.get("requestBody", {}).get("content", {})
            reference = content.get("multipart/form-data", {}).get("schema", {}).get("$ref", "")
            properties = schemas.get(reference.rpartition("/")[2], {}).get("properties", {})
            for said in properties.values():
                if said.get("format") == "uri":
                    said["format"] = "binary"
    return result


def describe_nulls(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Say in the words of OpenAPI 3.1 where an answer is null: some parts are written in those of 3.0."""
    waiting: list[Any] = [result]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(item)
        if not isinstance(item, dict):
            continue
        waiting.extend(item.values())
        if item.get("nullable") is True and isinstance(item.get("type"), str):
            del item["nullable"]
            item["type"] = [item["type"], "null"]
        if isinstance(branches := item.get("oneOf"), list) and {} in branches:
            # What admits everything admits null as well.
            item["anyOf"] = item.pop("oneOf")
    return result


def describe_server(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Name the path below which the document's paths are, where there is one."""
    if settings.PATH_PREFIX:
        result["servers"] = [{"url": settings.PATH_PREFIX}]
    return result
