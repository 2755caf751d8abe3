"""Gives each request an id, says it in the log and in the answer, and counts the request."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from time import perf_counter
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from toolevals.workspace.monitoring.json_log import log_about

HEADER: Final = "X-Request-Id"
_WELL_FORMED: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")


class RequestMiddleware:
    """Stands before all others, so that it sees every answer of the application."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # Loaded here, when the processes of the web server have been started: see there.
        from toolevals.workspace.monitoring.request_counts import request_note

        sent, began = request.headers.get(HEADER, ""), perf_counter()
        request_id = sent if _WELL_FORMED.fullmatch(sent) else str(uuid.uuid4())
        vars(request)["request_id"] = request_id
        with log_about(request_id=request_id):
            response = self.get_response(request)
        request_note(_route(request), response.status_code, perf_counter() - began)
        response.headers[HEADER] = request_id
        return response


def _route(request: HttpRequest) -> str:
    """Return the name of the address that was asked for; what is none of ours shares one name."""
    if (match := request.resolver_match) is not None:
        return match.view_name
    return "static" if request.path.startswith(settings.STATIC_URL) else "none"
