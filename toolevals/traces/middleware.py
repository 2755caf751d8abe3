"""Answers errors of `/v1/traces` and `/v1/logs` in the form that OTLP demands, a google.rpc.Status, from every view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from toolevals.traces.intake.encodings import JSON, PROTOBUF, failure

PREFIX: Final = "/v1/"
# gRPC's codes.
_CODES: Final[Mapping[int, int]] = {400: 3, 401: 16, 403: 7, 404: 5, 413: 3, 429: 8, 503: 14, 507: 8}
_INVALID_ARGUMENT, _INTERNAL = 3, 13
_KEPT: Final = ("Retry-After", "WWW-Authenticate", "Allow")


class StatusMiddleware:
    """Turns the answer to a request that was not taken into OTLP's, in the encoding of the request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not request.path_info.startswith(PREFIX) or response.status_code < HTTPStatus.BAD_REQUEST:
            return response
        content_type = JSON if request.content_type == JSON else PROTOBUF
        status = response.status_code
        code = _CODES.get(status, _INTERNAL if status >= HTTPStatus.INTERNAL_SERVER_ERROR else _INVALID_ARGUMENT)
        body = failure(content_type, code=code, message=_detail(response))
        made = HttpResponse(body, status=status, content_type=content_type)
        for name in _KEPT:
            if name in response.headers:
                made[name] = response.headers[name]
        return made


def _detail(response: HttpResponseBase) -> str:
    """Return the sentence of a problem; the words of the status where there is none."""
    document: Any = None
    if isinstance(response, HttpResponse):
        try:
            document = orjson.loads(response.content)
        except ValueError:
            document = None
    detail = document.get("detail") if isinstance(document, dict) else None
    return detail if isinstance(detail, str) else HTTPStatus(response.status_code).phrase
