"""Uploads that may be sent again: with the same `Idempotency-Key`, the first answer comes back and nothing is done."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.grading.canonical import canonical
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.models import IdempotencyKey
from toolevals.workspace.requests import ProjectRequest

HEADER = "Idempotency-Key"
KEPT = timedelta(days=1)
# A request that has not answered after so long has died: its key may be used again.
GIVEN_UP_AFTER = timedelta(minutes=10)
LONGEST_KEY = 200

Method = Callable[..., Response]
PARAMETER = OpenApiParameter(
    HEADER,
    str,
    OpenApiParameter.HEADER,
    description="Any string of the sender's, such as a UUID. The same request with the same key is done once.",
)


def idempotent(method: Method) -> Method:
    """Decorate a writing method of an API view within a project: `def post(self, request, ...)`.

    Same key, same request: the first answer again. Same key, another request: 422. First one still at work: 409. An
    error is not kept, so that the request can be repeated.
    """

    @extend_schema(parameters=[PARAMETER])
    @functools.wraps(method)
    def once(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get(HEADER, "")
        if not key:
            return method(view, request, *args, **kwargs)
        known, is_new = _claim(request, key)
        if not is_new:
            return _repeated(known)
        try:
            response = method(view, request, *args, **kwargs)
        except BaseException:
            known.delete()
            raise
        known.status, known.answer = response.status_code, json.loads(JSONRenderer().render(response.data))
        known.save(update_fields=["status", "answer"])
        return response

    return once


def idempotency_keys_forget(now: datetime) -> None:
    """Delete the answers that are older than a day."""
    IdempotencyKey.objects.filter(created_at__lt=now - KEPT).delete()


def _claim(request: Request, key: str) -> tuple[IdempotencyKey, bool]:
    if len(key) > LONGEST_KEY:
        raise Problems(HTTPStatus.UNPROCESSABLE_ENTITY, f"The key is longer than {LONGEST_KEY} characters.")
    inner: ProjectRequest = request._request  # type: ignore[assignment]
    mine = IdempotencyKey.objects.filter(project=inner.project, user=inner.user, key=key)
    mine.filter(status=None, created_at__lt=timezone.now() - GIVEN_UP_AFTER).delete()
    digest = _digest(request)
    known, is_new = IdempotencyKey.objects.get_or_create(
        project=inner.project, user=inner.user, key=key, defaults={"request_digest": digest}
    )
    if known.request_digest != digest:
        raise Problems(HTTPStatus.UNPROCESSABLE_ENTITY, "This key was used for another request.")
    return known, is_new


def _repeated(known: IdempotencyKey) -> Response:
    if known.status is None:
        raise Problems(HTTPStatus.CONFLICT, "The first request with this key is still at work.")
    return Response(known.answer, status=known.status, headers={"Idempotent-Replay": "true"})


def _digest(request: Request) -> str:
    whole = [request.method, request.get_full_path(), list(_parts(request.data))]
    return hashlib.sha256(json.dumps(whole).encode()).hexdigest()


def _parts(body: Any) -> Iterator[tuple[str, str]]:
    """Yield what a body holds, without what differs between two sendings of the same form (its boundary)."""
    if isinstance(body, QueryDict):
        for name in sorted(body):
            for value in body.getlist(name):
                yield name, _file_digest(value) if isinstance(value, UploadedFile) else str(value)
    elif isinstance(body, dict) and any(isinstance(value, UploadedFile) for value in body.values()):
        for name, value in sorted(body.items()):
            yield name, _file_digest(value) if isinstance(value, UploadedFile) else canonical(value)
    else:
        yield "", canonical(body)


def _file_digest(file: UploadedFile[Any]) -> str:
    digest = hashlib.sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()
