"""Ask this installation's own REST interface, within the process, as the holder of the token that asks us.

Whatever the interface refuses is refused here: a tool has no rights of its own.
"""

from __future__ import annotations

import json
from functools import cache
from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.parse import quote, urlencode

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from toolevals.json_types import JsonMapping
from toolevals.workspace.models import ApiToken

# What a request within the process takes over from the one that came in. Cookies are not among it: the token decides.
_TAKEN_OVER = (
    "HTTP_AUTHORIZATION", "HTTP_HOST", "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "REMOTE_ADDR", "SCRIPT_NAME",
    "SERVER_NAME", "SERVER_PORT", "SERVER_PROTOCOL", "wsgi.errors", "wsgi.url_scheme",
)  # fmt: skip


class RefusedError(Exception):
    """The interface refused, and says why."""


class Rest:
    """One project's addresses of the REST interface, for the token of a request."""

    def __init__(self, request: HttpRequest, token: ApiToken) -> None:
        self._request = request
        self.project = token.project.slug

    def get(self, path: str, **query: object) -> Any:
        """Return what an address below the project answers. Raises RefusedError."""
        said = {name: str(value) for name, value in query.items() if value not in (None, "")}
        return self._ask("GET", path, query=urlencode(said))

    def post(self, path: str, body: JsonMapping) -> Any:
        """Return what an address below the project answers to a document. Raises RefusedError."""
        return self._ask("POST", path, body=json.dumps(body).encode())

    def page(self, name: str, *parts: object, **query: object) -> str:
        """Return the whole address of one of the project's pages, by its name."""
        said = urlencode({key: str(value) for key, value in query.items()})
        return self.whole(reverse(name, args=[self.project, *parts]) + (f"?{said}" if said else ""))

    def whole(self, path: str) -> str:
        """Return the whole address of a path of this installation."""
        return self._request.build_absolute_uri(path)

    def _ask(self, method: str, path: str, *, query: str = "", body: bytes = b"") -> Any:
        taken = {name: self._request.META[name] for name in _TAKEN_OVER if name in self._request.META}
        asked = {
            "REQUEST_METHOD": method,
            "PATH_INFO": f"/api/v1/projects/{self.project}/{path}",
            "QUERY_STRING": query,
            "CONTENT_TYPE": "application/json" if body else "",
            "CONTENT_LENGTH": str(len(body)) if body else "",
            "wsgi.input": BytesIO(body),
        }
        answer = _handler().get_response(WSGIRequest({**taken, **asked}))
        content = answer.content if isinstance(answer, HttpResponse) else b""
        if answer.status_code == HTTPStatus.NO_CONTENT:
            return None
        if answer.status_code >= HTTPStatus.BAD_REQUEST:
            raise RefusedError(_why(answer.status_code, content))
        return json.loads(content)


def part(text: str) -> str:
    """Return a text as one part of a path."""
    return quote(text, safe="")


@cache
def _handler() -> WSGIHandler:
    return WSGIHandler()


def _why(status: int, content: bytes) -> str:
    try:
        said = json.loads(content)
    except ValueError:
        said = {}
    if status == HTTPStatus.NOT_FOUND and not said.get("detail"):
        return "Not found: it is not in this project, this token may not see it, or the run is not graded yet."
    problems = [f"{each['pointer'] or '/'}: {each['message']}" for each in said.get("problems", ())]
    return "\n".join([str(said.get("detail") or said.get("title") or f"Refused with status {status}."), *problems])
