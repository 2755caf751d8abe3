"""What the OpenAPI document says about every address: who may ask, and what errors look like."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension

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


class AccessScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A token in the header, or the session of a signed-in browser."""

    target_class = "toolevals.workspace.api.authentication.AccessAuthentication"
    name = ["token", "session"]  # noqa: RUF012 - the framework's interface

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, str]]:
        return [
            {"type": "http", "scheme": "bearer", "description": "An API token of a project: te_..."},
            {"type": "apiKey", "in": "cookie", "name": "sessionid"},
        ]

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[Any]]]:
        return [{name: []} for name in self.name]


# What every address may answer, whatever it does: said once.
ERRORS = {
    "4XX": (
        "Refused",
        "400: cannot be read. 401: not signed in. 403: the role is too low. 404: no such thing here. 405: no such "
        "method. 406: not in this format. 409: at odds with how things stand. 410: gone. 411: no length. 413: too "
        "large. 415: of the wrong type. 422: can be read and is wrong. 429: too often.",
    ),
    "5XX": ("Failed", "500: a fault of the server. 503: busy or away, come again. 507: its disk is full."),
}


def describe_problems(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Say once what errors look like, and add to every operation that it may answer so."""
    components = result.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = PROBLEM
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    components["responses"] = {name: {"description": said, "content": content} for name, said in ERRORS.values()}
    for operations in result["paths"].values():
        for operation in operations.values():
            for status, error in ERRORS.items():
                operation["responses"].setdefault(status, {"$ref": f"#/components/responses/{error[0]}"})
    return result


def describe_files(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Say of a form's files that they are bytes: where answers are meant, a file is an address."""
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
