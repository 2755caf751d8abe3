"""Uploads in S3: hosts without a disk in common, a server killed while it sends, and a storage that is away."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.exceptions import ImproperlyConfigured

from tests.fixtures.application import Applications
from tests.fixtures.prepared import prepared_copy
from tests.servers.s3 import S3Server
from tests.workspace.faults import FILE_STORED
from tests.workspace.served import PROJECT, Served
from toolevals.serving.application import Application
from toolevals.settings import uploads as uploads_settings
from toolevals.settings.environment import environment
from toolevals.workspace.file_responses import stored_response
from toolevals.workspace.models import Upload

pytestmark = pytest.mark.servers
LINE = (
    b'{"id": "e-%d", "input": {"messages": [{"role": "user", "content": "%s"}]},'
    b' "tools": [{"name": "order_find", "description": "Finds an order.", "parameters": {"type": "object"}}]}\n'
)
# Longer than S3 takes in one part, so it goes there in several.
FILE = b"".join(LINE % (number, b"Where is my order? " * 500) for number in range(1200))
LATER = "from datetime import timedelta; from toolevals.workspace.clock import database_now\n"
SWEPT = "from toolevals.workspace.uploads import services\nprint(services.{}(database_now() + timedelta(days=8)))"


@pytest.fixture(scope="module")
def bucket(s3_server: S3Server) -> str:
    """A bucket for this module."""
    return s3_server.bucket_create()


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, applications: Applications, s3_server: S3Server, bucket: str
) -> Iterator[Served]:
    """A web server whose uploads lie in the bucket, below a prefix."""
    folder: Path = tmp_path_factory.mktemp("served")
    prepared_copy(applications.prepared, folder / "data", sample=False)
    here = s3_server.environment | {"TOOLEVALS_S3_BUCKET": bucket, "TOOLEVALS_S3_PREFIX": "/evals/"}
    database = f"sqlite:///{folder / 'data' / 'toolevals.sqlite3'}"
    found = Served(folder, **here, DATABASE_URL=database, TOOLEVALS_SECRET_KEY="x" * 50, BATCH_MAX_ATTEMPTS="1")
    try:
        found.start()
        yield found
    finally:
        found.stop()


def sent(served: Served, file: bytes = FILE) -> tuple[int, Any]:
    """Send a file in chunks, whose number no one knows beforehand."""
    head = served.head("", Transfer_Encoding="chunked")
    parts = [file[start : start + 500_000] for start in range(0, len(file), 500_000)]
    body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in [*parts, b""])
    status, _, answer = served.send(head, body, alive=True)
    return status, answer


def got(served: Served, path: str) -> httpx.Response:
    """Ask the REST interface."""
    address = f"{served.application.url}/api/v1/projects/{PROJECT}/{path}"
    return httpx.get(address, headers={"Authorization": f"Bearer {served.token}"})


def ended(served: Served, job: dict[str, Any]) -> dict[str, Any]:
    """Wait for a job."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found: dict[str, Any] = got(served, f"jobs/{job['id']}/").json()
        if found["state"] not in ("pending", "running"):
            return found
        time.sleep(0.1)
    raise AssertionError(f"still at work: {found}")


def test_hosts_with_folders_of_their_own_work_on_what_lies_in_the_bucket(served, s3_server, bucket, tmp_path):
    # What is gone from the bucket before it is read.
    _, lost = sent(served, LINE % (9999, b"Is it here?"))
    [key] = s3_server.keys(bucket)
    s3_server.client().delete_object(Bucket=bucket, Key=key)
    status, job = sent(served)
    assert status == 202
    elsewhere = tmp_path / "elsewhere"
    here = served.application.environment | {"TOOLEVALS_DATA_DIR": str(elsewhere)}
    with Application(python=sys.executable, data=elsewhere, environment=here) as host:
        host.worker_start()
        done = ended(served, job)
        assert done["state"] == "succeeded", str(done)
        lines = got(served, f"imports/{job['id']}/lines/")
        assert (lines.status_code, len(lines.text.splitlines())) == (200, 1201)
        failed = ended(served, lost)
        assert (failed["state"], "No such file in the storage" in failed["reason"]) == ("failed", True), failed
    count = "from labeling.models import Example; print(Example.objects.count())"
    assert served.python.run(count).strip() == "1200"
    keys = s3_server.keys(bucket)
    assert len(keys) == 2
    assert all(key.startswith("evals/") for key in keys)
    for folder in (served.application.data, elsewhere):
        assert [path for path in (folder / "uploads").rglob("*") if path.is_file()] == []
    # Destroyed with its job, as from the trash; the rest after its days.
    served.python.run(
        "import time; from toolevals.workspace.models import Job\n"
        "from toolevals.workspace.trash.kinds import jobs_delete\n"
        "assert jobs_delete(Job.objects.all(), time.monotonic() + 60)"
    )
    assert s3_server.keys(bucket) == []


def test_a_server_killed_while_it_sends_leaves_nothing_after_the_sweep(served, s3_server, bucket):
    before = served.state()
    # One dies between file and row, one in the middle of the parts.
    served.armed.write_text(FILE_STORED)
    assert sent(served)[0] == 0
    assert not served.armed.exists()
    s3_server.client().create_multipart_upload(Bucket=bucket, Key="evals/1/unfinished")
    assert len(s3_server.keys(bucket)) == 1
    assert (sent(served, b"no JSON")[0]) == 202
    after = served.state()
    assert (after["uploads"], after["jobs"]) == (before["uploads"] + 1, before["jobs"] + 1)
    assert served.python.run(LATER + SWEPT.format("stray_files_sweep")).strip() >= "2"
    assert len(s3_server.keys(bucket)) == 1
    assert "Uploads" not in s3_server.client().list_multipart_uploads(Bucket=bucket)
    served.python.run(LATER + SWEPT.format("uploads_forget"))
    assert s3_server.keys(bucket) == []


def test_a_storage_that_is_away_or_refuses_is_said_and_leaves_no_row(served, s3_server, bucket):
    before = served.state()
    s3_server.client().delete_bucket(Bucket=bucket)
    try:
        status, answer = sent(served)
        assert (status, answer["detail"][:28]) == (503, "The storage of uploads does ")
    finally:
        s3_server.client().create_bucket(Bucket=bucket)
    s3_server.kill()
    try:
        assert sent(served)[0] == 503
        doctor = [sys.executable, "-m", "toolevals.cli.main", "doctor"]
        said = subprocess.run(doctor, env=served.application.environment, capture_output=True, text=True, check=False)
        assert "FAIL  uploads: " in said.stdout
    finally:
        s3_server.start()
        s3_server.client().create_bucket(Bucket=bucket)
    assert {**served.state(), "keys": 0} == {**before, "keys": 0}
    assert sent(served)[0] == 202


def test_a_bucket_without_its_packages_is_refused_by_name(monkeypatch):
    monkeypatch.setattr(uploads_settings, "find_spec", lambda _: None)
    with pytest.raises(ImproperlyConfigured, match=r"_S3_BUCKET needs more packages: pip install 'toolevals\[s3\]'"):
        uploads_settings.uploads_storage(environment({"TOOLEVALS_S3_BUCKET": "evals"}))
    with pytest.raises(ImproperlyConfigured, match="set both or none"):
        uploads_settings.uploads_storage(environment({"TOOLEVALS_S3_PREFIX": "evals"}))


def test_a_download_opens_its_file_before_it_answers():
    upload = Upload(name="gone.csv", size=1)
    upload.file.name = "gone"
    with pytest.raises(FileNotFoundError):
        stored_response(upload)
