"""Bodies that a server hands on although they are not whole: whoever reads one is told, and gets nothing of it."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse

from toolevals.workspace.bodies import BodyCutShort, BodyMiddleware

FORM = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\nrows'


def read(body: bytes, length: int, kind: str = "application/jsonl") -> bytes:
    """Return what a view reads of a body that a server hands on with this length."""
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "CONTENT_TYPE": kind,
        "CONTENT_LENGTH": str(length),
        "wsgi.input": io.BytesIO(body),
    }
    answer: Any = BodyMiddleware(lambda request: HttpResponse(request.read()))(WSGIRequest(environ))
    return bytes(answer.content)


def test_a_whole_body_is_read():
    assert read(b"rows", 4) == b"rows"
    assert read(FORM + b"\r\n--b--\r\n", len(FORM) + 9, "multipart/form-data; boundary=b").endswith(b"--b--\r\n")


def test_a_body_shorter_than_its_length_is_refused_with_how_much_there_was():
    with pytest.raises(BodyCutShort, match="ended after 4 of 4,000 bytes"):
        read(b"rows", 4000)


def test_a_form_without_its_last_boundary_is_refused():
    with pytest.raises(BodyCutShort, match="before its last part was whole"):
        read(FORM, len(FORM), "multipart/form-data; boundary=b")
