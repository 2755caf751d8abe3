"""Backups to a bucket, of uploads that lie in another: read back, pruned, killed, damaged, restored."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from scripts.dev.environment import ROOT
from tests.servers.databases import FILE, sqlite_kept
from tests.servers.s3 import S3Server
from toolevals.cli.output import Exit
from toolevals.serving import backup_buckets
from toolevals.serving.backups import unfinished_parts

pytestmark = pytest.mark.servers
CLI = ["-m", "toolevals.cli.main"]
PASSPHRASE = "correct horse battery"
# No compression makes the large one smaller than a part: it is sent in several.
FILES = {"1/small": b"small", "1/large": os.urandom(12_000_000), "2/empty": b""}
CUT = """
import sys
from toolevals.serving.backup_buckets import BucketPlace
take = BucketPlace.take
def cut(self, file):
    file.write_bytes(file.read_bytes()[:-100])
    take(self, file)
BucketPlace.take = cut
from toolevals.cli.main import main
sys.exit(main(["backup", sys.argv[1]]))
"""


class Host:
    """A machine with a data folder, whose uploads lie in a bucket."""

    def __init__(self, server: S3Server, data: Path) -> None:
        self.server, self.data, self.uploads = server, data, server.bucket_create()
        self.environment = {
            **(os.environ | server.environment),
            "DATABASE_URL": "",
            "REDIS_URL": "",
            "DJANGO_SETTINGS_MODULE": "toolevals.settings",
            "PYTHONPATH": str(ROOT),
            "TOOLEVALS_BACKUP_PASSPHRASE": PASSPHRASE,
            "TOOLEVALS_DATA_DIR": str(data),
            "TOOLEVALS_S3_BUCKET": self.uploads,
            "TOOLEVALS_S3_PREFIX": "up",
        }

    def run(self, *words: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
        """Run Python with some words."""
        command = [sys.executable, *map(str, words)]
        here = self.environment | more
        return subprocess.run(command, cwd=ROOT, env=here, capture_output=True, text=True, check=False)

    def files(self) -> dict[str, bytes]:
        """Return what lies in its bucket."""
        client = self.server.client()
        keys = self.server.keys(self.uploads)
        return {key.removeprefix("up/"): client.get_object(Bucket=self.uploads, Key=key)["Body"].read() for key in keys}


@pytest.fixture
def host(s3_server: S3Server, tmp_path: Path) -> Host:
    """An installation with three uploads."""
    (tmp_path / "data").mkdir(mode=0o700)
    shutil.copy(sqlite_kept(), tmp_path / "data" / FILE)
    found = Host(s3_server, tmp_path / "data")
    for name, content in FILES.items():
        s3_server.client().put_object(Bucket=found.uploads, Key=f"up/{name}", Body=content)
    return found


def refused(host: Host, file: str, **more: str) -> str:
    """Restore a file that can't be; return the reason. Nothing is left."""
    folder = host.data.parent / "refused"
    done = host.run(*CLI, "restore-backup", file, "--data", folder, **more)
    assert done.returncode in (Exit.CONFIGURATION, Exit.DATA), done.stderr
    assert "Traceback" not in done.stderr
    assert not folder.exists()
    return done.stderr


def test_uploads_in_a_bucket_go_into_a_backup_and_from_it_into_a_bucket_or_a_folder(host: Host, tmp_path: Path) -> None:
    client, bucket = host.server.client(), host.server.bucket_create()
    client.put_object(Bucket=bucket, Key="nightly/toolevals-other.tar.gz", Body=b"another's")
    for _ in range(3):
        done = host.run(*CLI, "backup", f"s3://{bucket}/nightly/", "--encrypt", "--keep", "2")
        assert (done.returncode, "3 uploads" in done.stdout) == (Exit.OK, True), done.stderr
    keys = host.server.keys(bucket)
    assert (len(keys), keys[-1]) == (3, "nightly/toolevals-other.tar.gz")
    assert list((host.data / "outgoing").iterdir()) == []
    file = f"s3://{bucket}/{keys[1]}"
    assert file in done.stdout

    there = Host(host.server, tmp_path / "there")
    done = there.run(*CLI, "restore-backup", file)
    assert done.returncode == Exit.OK, done.stderr
    assert there.files() == FILES
    assert [path for path in (there.data / "uploads").rglob("*") if path.is_file()] == []
    folder = Host(host.server, tmp_path / "folder")
    assert folder.run(*CLI, "restore-backup", file, TOOLEVALS_S3_BUCKET="", TOOLEVALS_S3_PREFIX="").returncode == 0
    assert {name: (folder.data / "uploads" / name).read_bytes() for name in FILES} == FILES

    assert "not the one" in refused(host, file, TOOLEVALS_BACKUP_PASSPHRASE="another passphrase")
    whole = client.get_object(Bucket=bucket, Key=keys[1])["Body"].read()
    client.put_object(Bucket=bucket, Key="short", Body=whole[: len(whole) // 2])
    assert "not whole" in refused(host, f"s3://{bucket}/short")
    assert "No such file" in refused(host, f"s3://{bucket}/missing")
    assert "NoSuchBucket" in host.run(*CLI, "backup", "s3://missing/x").stderr


def test_a_backup_that_does_not_read_back_is_no_backup(host: Host) -> None:
    bucket = host.server.bucket_create()
    done = host.run("-c", CUT, f"s3://{bucket}/nightly")
    assert (done.returncode, "not whole" in done.stderr) == (Exit.CONFIGURATION, True), done.stderr
    assert host.server.keys(bucket) == []


def test_a_killed_backup_leaves_no_file_and_the_next_deletes_its_parts(host: Host) -> None:
    bucket = host.server.bucket_create()
    client = host.server.client()

    def unfinished() -> list[Any]:
        return list(client.list_multipart_uploads(Bucket=bucket).get("Uploads", ()))

    command = [sys.executable, *CLI, "backup", f"s3://{bucket}/nightly"]
    process = subprocess.Popen(command, cwd=ROOT, env=host.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not unfinished():
        assert process.poll() is None
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (process.returncode, host.server.keys(bucket)) == (-signal.SIGKILL, [])
    # The server says of every upload that it began in 2010: so the next backup deletes its parts.
    done = host.run(*CLI, "backup", f"s3://{bucket}/nightly")
    assert (done.returncode, unfinished()) == (Exit.OK, []), done.stderr
    assert len(host.server.keys(bucket)) == 1
    assert list((host.data / "outgoing").iterdir()) == []


def test_parts_of_a_day_ago_are_deleted_and_younger_ones_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    now, client = datetime.now(UTC), MagicMock()
    begun = {"old": now - timedelta(hours=25), "young": now - timedelta(hours=23)}
    uploads = [{"Key": name, "UploadId": name, "Initiated": moment} for name, moment in begun.items()]
    client.get_paginator.return_value.paginate.side_effect = [[{"Uploads": uploads}], [{"Uploads": uploads[1:]}]]
    monkeypatch.setattr(backup_buckets, "boto3_client", lambda *_, **__: client)
    assert unfinished_parts(backup_buckets.BucketPlace.of("s3://bucket/nightly")) == 1
    client.abort_multipart_upload.assert_called_once_with(Bucket="bucket", Key="old", UploadId="old")
