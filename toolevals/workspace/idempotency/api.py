"""Lets requests be sent again: with the same `Idempotency-Key` the first answer comes back and nothing is done.

The key, its answer and the work are one transaction: a process that dies in between leaves none of them. Why:
docs/decisions/0022.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from http import HTTPStatus
from typing import Any, cast

from django.core.files.uploadedfile import UploadedFile
from django.db import OperationalError, connection
from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.grading.values.canonical import canonical
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.models import IdempotencyKey
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.secrets.services import refusals_kept
from toolevals.workspace.uploads.services import stored_together

HEADER = "Idempotency-Key"
LONGEST_KEY = 200
# So long does a request wait on PostgreSQL for another one with its key; SQLite has one writer at a time anyway.
WAIT_SECONDS = 10
RETRY_SECONDS = 5
# PostgreSQL's code for a lock that was not to be had in time.
_LOCK_NOT_AVAILABLE = "55P03"

Method = Callable[..., Response]
PARAMETER = OpenApiParameter(
    HEADER,
    str,
    OpenApiParameter.HEADER,
    description="Any string of the sender's, such as a UUID. The same request with the same key is done once.",
)


def idempotent(method: Method) -> Method:
    """Decorate a writing method of an API view within a project: `def post(self, request, ...)`.

    The method runs in one transaction, which keeps its answer under the key. Same key, same request: the first answer
    again. Same key, another request: 422. First one still at work: this one waits, and gets 409 where that takes long.
    An error is not kept, so that the request can be repeated.
    """

    @extend_schema(parameters=[PARAMETER])
    @functools.wraps(method)
    def once(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        # All of the body, before other writers have to wait.
        with suppress(UnsupportedMediaType):
            request.data  # noqa: B018 - a property that reads
        asked = _asked(request)
        if asked is not None and (known := asked.find()) is not None:
            return _repeated(known, asked)
        return _do_once(asked, lambda: method(view, request, *args, **kwargs))

    return once


class _Asked:
    """A request with a key: whose it is, and what it holds."""

    def __init__(self, request: Request, key: str) -> None:
        inner = cast("ProjectRequest", request)
        self.whose = {"project": inner.project, "user": inner.user, "key": key}
        self.digest = _digest(request)

    def find(self) -> IdempotencyKey | None:
        """Return the answer that was kept, if there is one."""
        return IdempotencyKey.objects.filter(**self.whose).exclude(status=None).first()

    def claim(self) -> tuple[IdempotencyKey, bool]:
        """Return the key's row and whether it is new, within a transaction; wait for another one that has it."""
        rows = IdempotencyKey.objects.filter(**self.whose)
        # Of a version in which keys were kept before their work.
        rows.filter(status=None).delete()
        mine = IdempotencyKey(**self.whose, request_digest=self.digest)
        _wait_at_most(f"{WAIT_SECONDS}s")
        IdempotencyKey.objects.bulk_create([mine], ignore_conflicts=True)
        _wait_at_most("0")
        found = rows.get()
        return found, found.pk == mine.pk


def _asked(request: Request) -> _Asked | None:
    key = request.headers.get(HEADER, "")
    if len(key) > LONGEST_KEY:
        raise Problems(HTTPStatus.UNPROCESSABLE_ENTITY, f"The key is longer than {LONGEST_KEY} characters.")
    if not key.isprintable():
        raise Problems(HTTPStatus.UNPROCESSABLE_ENTITY, "The key holds a character that is not printable.")
    return _Asked(request, key) if key else None


def _do_once(asked: _Asked | None, work: Callable[[], Response]) -> Response:
    try:
        with refusals_kept(), stored_together():
            if asked is None:
                return work()
            known, is_new = asked.claim()
            if not is_new:
                return _repeated(known, asked)
            response = work()
            known.status, known.answer = response.status_code, json.loads(JSONRenderer().render(response.data))
            known.save(update_fields=["status", "answer"])
            return response
    except OperationalError as error:
        if asked is None or getattr(error.__cause__, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
            raise
        title = "The first request with this key is still at work. Send this one again later."
        raise Problems(HTTPStatus.CONFLICT, title, headers={"Retry-After": str(RETRY_SECONDS)}) from error


def _wait_at_most(interval: str) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [interval])


def _repeated(known: IdempotencyKey, asked: _Asked) -> Response:
    if known.request_digest != asked.digest:
        raise Problems(HTTPStatus.UNPROCESSABLE_ENTITY, "This key was used for another request.")
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
