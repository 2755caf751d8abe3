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


def describe_problems(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add to every operation that whatever is not listed is answered by a problem document."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    answer = {
        "description": "An error.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for operations in result["paths"].values():
        for operation in operations.values():
            operation["responses"].setdefault("default", answer)
    return result
