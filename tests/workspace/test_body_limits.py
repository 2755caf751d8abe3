"""A body over a limit is refused with 413 and the limit, and nothing is kept of it."""

from __future__ import annotations

import json
import os
import resource
from contextlib import closing
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from labeling.datasets.services import dataset_create
from tests.fixtures.kept_python import KeptPython
from tests.fixtures.prepared import ALONE, prepared_copy
from toolevals.workspace.models import Upload
from toolevals.workspace.projects.services import project_create

CODE = "def look(state):\n    return state\n"
LIMITED = """
import resource
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from labeling.datasets.services import dataset_create
from toolevals.workspace.models import Upload
from toolevals.workspace.projects.services import project_create
from toolevals.workspace.accounts.services import user_create
owner = user_create(actor=None, email="owner@example.test", name="Owner")
project = project_create(actor=owner, slug="shop", name="Shop")
dataset_create(project=project, actor=owner, slug="core", name="Core")
client = Client(raise_request_exception=False, headers={{"host": "localhost"}})
client.force_login(owner)
path = "/api/v1/projects/shop/datasets/core/imports/?source=jsonl"
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, resource.RLIM_INFINITY))
refused = client.post(path, b"x" * {size} * 2, content_type="application/jsonl")
print("SAID", refused.status_code, refused.json()["detail"])
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
files = [path for path in settings.MEDIA_ROOT.rglob("*") if path.is_file()]
print("LEFT", Upload.objects.count(), len(files))
print("THEN", client.post(path, b"x" * {size} * 2, content_type="application/jsonl").status_code)
"""


def post_json(client: Any, path: str, document: Any) -> Any:
    return client.post(path, json.dumps(document), content_type="application/json")


def test_a_simulators_files_go_in_by_rest_up_to_the_promised_size(client, owner, project):
    client.force_login(owner)
    content = {"files": {"simulator.py": CODE, "notes.txt": "x" * 19_000_000}}
    path = f"/api/v1/projects/{project.slug}/simulators/"
    answer = post_json(client, path, {"name": "Shop", "kind": "code", "content": content})
    # A job that tells which tools the code has.
    assert (answer.status_code, answer.json()["kind"]) == (202, "simulator"), answer.content[:300]


def test_a_document_over_the_limit_is_413(client, owner, project, settings):
    settings.DOCUMENT_MAX_BYTES = 1000
    client.force_login(owner)
    path = f"/api/v1/projects/{project.slug}/simulators/"
    answer = post_json(client, path, {"name": "x" * 1000})
    assert (answer.status_code, answer["Content-Type"]) == (413, "application/problem+json")
    assert "the limit is 1,000" in answer.json()["detail"]


@pytest.mark.parametrize("kind", ["multipart/form-data", "application/x-www-form-urlencoded"])
def test_a_form_over_the_limit_is_413_for_programs_and_people(client, owner, project, settings, kind):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    client.force_login(owner)
    fields = {"name": "x" * 2000}
    sent = {"data": fields} if kind == "multipart/form-data" else {"data": "name=" + "x" * 2000, "content_type": kind}
    api = client.post(f"/api/v1/projects/{project.slug}/simulators/", **sent)
    page = client.post(reverse("workspace:project-new"), **sent)
    assert (api.status_code, page.status_code) == (413, 413)
    assert "1,000 bytes" in api.json()["detail"]
    assert "1,000 bytes" in page.content.decode()


def test_a_file_over_the_limit_is_413_whether_its_request_is_or_not(client, owner, project, settings, monkeypatch):
    settings.UPLOAD_MAX_BYTES = 1000
    client.force_login(owner)
    path = f"/api/v1/projects/{project.slug}/datasets/none/imports/"
    monkeypatch.setattr("toolevals.workspace.bodies.FORM_BYTES", 100)
    long = client.post(path, {"file": SimpleUploadedFile("a.jsonl", b"x" * 3000)})
    assert (long.status_code, "the limit for a file is 1,000" in long.json()["detail"]) == (413, True)
    assert not Upload.objects.exists()


def test_a_file_a_little_over_the_limit_is_413(client, owner, project, settings):
    dataset_create(project=project, actor=owner, slug="core", name="Core")
    settings.UPLOAD_MAX_BYTES = 1000
    client.force_login(owner)
    path = f"/api/v1/projects/{project.slug}/datasets/core/imports/"
    answer = client.post(path, {"file": SimpleUploadedFile("a.jsonl", b"x" * 1200), "source": "jsonl"})
    assert answer.status_code == 413
    assert "the limit is 1,000" in answer.json()["problems"][0]["message"]
    assert not Upload.objects.exists()


@pytest.mark.servers
@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="this system has no limit for files")
def test_a_disk_that_is_full_while_a_file_arrives_refuses_it_and_keeps_nothing(tmp_path, applications):
    data = tmp_path / "data"
    prepared_copy(applications.prepared, data, sample=False)
    with closing(KeptPython(os.environ | ALONE | {"TOOLEVALS_DATA_DIR": str(data)})) as python:
        said = python.run(LIMITED.format(size=8_000_000))
    assert "SAID 507 The server’s disk is full." in said
    assert "LEFT 0 0" in said
    assert "THEN 202" in said


def test_an_upload_beyond_a_projects_quota_is_refused_and_other_projects_go_on(client, owner, project, settings):
    settings.PROJECT_FILES_MAX_BYTES = 1000
    client.force_login(owner)
    other = project_create(actor=owner, slug="other", name="Other")
    for each in (project, other):
        dataset_create(project=each, actor=owner, slug="core", name="Core")
    path = "/api/v1/projects/{}/datasets/core/imports/?source=jsonl"
    sent = {"data": b"x" * 600, "content_type": "application/jsonl"}
    assert client.post(path.format("shop"), **sent).status_code == 202
    refused = client.post(path.format("shop"), **sent)
    assert refused.status_code == 507
    assert "already keeps 600 of 1,000" in refused.json()["problems"][0]["message"]
    form = {"file": SimpleUploadedFile("more.jsonl", b"x" * 600), "source": "jsonl"}
    page = client.post(reverse("labeling:import", args=["shop", "core"]), form)
    assert "already keeps 600 of 1,000" in page.text
    assert Upload.objects.count() == 1
    assert client.post(path.format("other"), **sent).status_code == 202
