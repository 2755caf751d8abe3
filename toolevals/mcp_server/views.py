"""Answer the Model Context Protocol over streamable HTTP: each request stands alone, each answer is JSON."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from toolevals.mcp_server.rest import Rest
from toolevals.mcp_server.server import answer
from toolevals.workspace.api.problems import problem
from toolevals.workspace.requests import SignedInRequest

# Of a request's headers, those that the protocol reads.
_READ = ("accept", "content-type", "host", "origin")
_READ_BEGINNING = ("mcp-", "last-event-id")


@csrf_exempt
def mcp(request: SignedInRequest) -> HttpResponse:
    """Answer one message. A browser's page of another site is refused."""
    assert request.token is not None
    if request.method != "POST":
        refused = problem(HTTPStatus.METHOD_NOT_ALLOWED, "Send messages by POST: there are no sessions and no streams.")
        refused["Allow"] = "POST"
        return refused
    if not _is_own_origin(request):
        return problem(HTTPStatus.FORBIDDEN, "The Origin of the request is another site.")
    headers = [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in _headers(request)]
    status, made, body = async_to_sync(answer)(Rest(request, request.token), headers, request.body)
    response = HttpResponse(body, status=status)
    del response["Content-Type"]
    for name, value in made:
        response[name.decode("latin-1")] = value.decode("latin-1")
    return response


def _headers(request: HttpRequest) -> list[tuple[str, str]]:
    kept = ((name, value) for name, value in request.headers.items())
    return [pair for pair in kept if pair[0].lower() in _READ or pair[0].lower().startswith(_READ_BEGINNING)]


def _is_own_origin(request: HttpRequest) -> bool:
    """Tell whether no browser asks, or a page of this installation does."""
    origin = request.headers.get("Origin", "")
    return not origin or urlsplit(origin).netloc == request.get_host()
