"""Uploads that are sent again."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.parsers import FileUploadParser, JSONParser, MultiPartParser
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from toolevals.workspace.api.problems import Problems
from toolevals.workspace.clock import database_now
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.idempotency.models import KEPT, idempotency_keys_forget
from toolevals.workspace.models import IdempotencyKey, Upload
from toolevals.workspace.uploads.services import upload_store


class Uploads(APIView):
    """Answers with how often it has worked; "break" in the name of the file makes it fail."""

    parser_classes = (JSONParser, MultiPartParser, FileUploadParser)
    worked = 0

    @idempotent
    def post(self, request: Any) -> Response:
        file = request.FILES.get("file")
        content = file.read().decode() if file is not None else request.data
        if file is not None:
            upload_store(project=request._request.project, actor=request.user, file=file, name=file.name)
            if "break" in file.name:
                raise Problems(409, "Broken.")
        Uploads.worked += 1
        return Response({"worked": Uploads.worked, "content": content, "at": database_now()}, status=201)


@pytest.fixture
def post(project, owner):
    """Return a function that posts to the view as the owner."""
    Uploads.worked = 0

    def send(body: Any, *, key: str = "k1", user=owner, path: str = "/uploads/", **extra: Any) -> Response:
        extra.setdefault("format", "multipart")
        request = APIRequestFactory().post(path, body, headers={"Idempotency-Key": key} if key else {}, **extra)
        vars(request).update(project=project, user=user, token=SimpleNamespace(user=user))
        response = Uploads.as_view()(request)
        response.render()
        return response

    return send


def file(content: bytes = b"{}", name: str = "a.jsonl") -> dict[str, Any]:
    return {"file": SimpleUploadedFile(name, content), "note": "x"}


def test_the_first_answer_comes_again_and_nothing_is_done_twice(post):
    first, again = post(file()), post(file())
    assert (again.status_code, json.loads(again.content)) == (first.status_code, json.loads(first.content))
    assert again["Idempotent-Replay"] == "true"
    assert Uploads.worked == 1


def test_the_view_reads_the_file_from_its_beginning(post):
    assert post(file(b"content")).data["content"] == "content"


def test_without_a_key_everything_is_done_again(post):
    post(file(), key="")
    post(file(), key="")
    assert Uploads.worked == 2
    assert not IdempotencyKey.objects.exists()


@pytest.mark.parametrize(
    "another",
    [
        {"body": {"file": SimpleUploadedFile("a", b"other"), "note": "x"}},
        {"body": {"file": SimpleUploadedFile("a", b"{}"), "note": "y"}},
        {"body": {"file": SimpleUploadedFile("a", b"{}"), "note": "x"}, "path": "/uploads/?dry"},
    ],
)
def test_the_same_key_on_another_request_is_refused(post, another):
    post(file())
    body = another.pop("body")
    assert post(body, **another).status_code == 422
    assert Uploads.worked == 1


def test_json_and_raw_bodies_count_too(post):
    assert post({"a": [1, 2]}, format="json").status_code == 201
    assert post({"a": [1, 2]}, format="json").data["worked"] == 1
    assert post({"a": [2, 1]}, format="json").status_code == 422
    assert post_raw(post, b"{}").status_code == 201
    assert post_raw(post, b"{}")["Idempotent-Replay"] == "true"
    assert post_raw(post, b"[]").status_code == 422


def post_raw(post, body: bytes) -> Any:
    disposition = {"HTTP_CONTENT_DISPOSITION": "attachment; filename=a.jsonl"}
    return post(body, key="k2", format=None, content_type="application/x-ndjson", **disposition)


def test_a_key_without_an_answer_is_of_an_earlier_version_and_stands_in_nobodys_way(post):
    post(file())
    IdempotencyKey.objects.update(status=None, answer=None)
    assert post(file()).data["worked"] == 2


def test_an_error_is_not_kept_nor_what_was_done_before_it(post, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    assert post(file(name="break")).status_code == 409
    assert not IdempotencyKey.objects.exists()
    assert not Upload.objects.exists()
    assert not any(path.is_file() for path in tmp_path.rglob("*"))
    assert post(file()).status_code == 201
    assert Upload.objects.count() == 1


def test_keys_belong_to_a_person(post, reviewer):
    post(file())
    assert post(file(), user=reviewer).data["worked"] == 2


def test_a_key_has_a_length(post):
    assert post(file(), key="k" * 201).status_code == 422


def test_keys_are_forgotten_after_a_day(post):
    post(file())
    idempotency_keys_forget(database_now())
    assert IdempotencyKey.objects.count() == 1
    idempotency_keys_forget(database_now() + KEPT)
    assert not IdempotencyKey.objects.exists()
