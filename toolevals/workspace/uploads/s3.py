"""Keeps uploads in S3-compatible storage: django-storages writes them, and readers fetch no more than they read.

Keys, region and endpoint are those that boto3 finds, in the usual AWS variables and files.
"""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.core.files import File
from storages.backends.s3 import S3Storage

from toolevals.workspace.outages import StorageError

# A request of a person waits for it: two attempts.
CONFIG = Config(connect_timeout=5, read_timeout=30, retries={"mode": "standard", "total_max_attempts": 2})
AT_ONCE = 1024 * 1024


@contextmanager
def s3_errors(name: str) -> Iterator[None]:
    """Raise FileNotFoundError for what is not there, and StorageError for every other error of S3."""
    try:
        yield
    except ClientError as error:
        said = error.response["Error"]
        if said["Code"] in ("404", "NoSuchKey"):
            raise FileNotFoundError(errno.ENOENT, "No such file in the storage", name) from error
        words = f"refuses {error.operation_name} of {name}: {said['Code']} {said.get('Message', '')}"
        raise StorageError(f"the S3 storage {words}".rstrip()) from error
    except (BotoCoreError, Boto3Error) as error:
        raise StorageError(f"the S3 storage does not answer about {name}: {error}") from error


class ObjectReader(io.RawIOBase):
    """One object, fetched from where it is read and no further than it is read."""

    def __init__(self, client: Any, bucket: str, key: str) -> None:
        self._client, self._which = client, {"Bucket": bucket, "Key": key}
        self._place, self._body = 0, cast("Any", None)
        with s3_errors(key):
            head = client.head_object(**self._which)
        # A file that is replaced meanwhile is not mixed with the one before.
        self._size, self._which["IfMatch"] = int(head["ContentLength"]), head["ETag"]

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        if (place := max(start + offset, 0)) != self._place:
            self._let_go()
            self._place = place
        return place

    def readinto(self, buffer: Any) -> int:
        if self._place >= self._size:
            return 0
        with s3_errors(self._which["Key"]):
            if self._body is None:
                self._body = self._client.get_object(**self._which, Range=f"bytes={self._place}-")["Body"]
            data = self._body.read(len(buffer))
        if not data:
            raise StorageError(f"the S3 storage ended {self._which['Key']} after {self._place} of {self._size} bytes")
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)

    def close(self) -> None:
        self._let_go()
        super().close()

    def _let_go(self) -> None:
        if self._body is not None:
            self._body.close()
            self._body = None


class S3Uploads(S3Storage):  # type: ignore[misc]
    """The storage where `TOOLEVALS_S3_BUCKET` is set."""

    def get_default_settings(self) -> dict[str, Any]:
        """Return those of django-storages, with our patience, and without a dozen parts in memory at once."""
        ours = {"client_config": CONFIG, "transfer_config": TransferConfig(max_concurrency=2)}
        return {**super().get_default_settings(), **ours}

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        return _Stored(self, name)

    def _save(self, name: str, content: File[bytes]) -> str:
        with s3_errors(name):
            saved: str = super()._save(name, content)
        # What arrived in a file goes away, as a folder's storage renames it.
        if hasattr(content, "temporary_file_path"):
            Path(content.temporary_file_path()).unlink(missing_ok=True)
        return saved

    def delete(self, name: str) -> None:
        """Delete a file, if it is there. Raises StorageError."""
        with s3_errors(name):
            super().delete(name)

    def size(self, name: str) -> int:
        """Return the number of bytes. Raises FileNotFoundError and StorageError."""
        with s3_errors(name):
            return int(super().size(name))

    def reader(self, name: str) -> io.BufferedReader:
        """Open a file. Raises FileNotFoundError and StorageError."""
        key = self._normalize_name(name)
        return io.BufferedReader(ObjectReader(self.connection.meta.client, self.bucket_name, key), AT_ONCE)

    def stored(self) -> Iterator[tuple[str, float]]:
        """Yield the name of each file, and when it was written, in seconds since 1970."""
        for each in self._listed("list_objects_v2", "Contents"):
            yield each["Key"].removeprefix(self._prefix), each["LastModified"].timestamp()

    def unfinished_delete(self, moment: float) -> int:
        """Delete the parts of uploads that began before a moment and never ended; return of how many."""
        found = [
            each for each in self._listed("list_multipart_uploads", "Uploads") if each["Initiated"].timestamp() < moment
        ]
        for each in found:
            with s3_errors(each["Key"]):
                self.connection.meta.client.abort_multipart_upload(
                    Bucket=self.bucket_name, Key=each["Key"], UploadId=each["UploadId"]
                )
        return len(found)

    @property
    def _prefix(self) -> str:
        return f"{self.location}/" if self.location else ""

    def _listed(self, operation: str, what: str) -> Iterator[dict[str, Any]]:
        pages = self.connection.meta.client.get_paginator(operation)
        with s3_errors(self.bucket_name):
            for page in pages.paginate(Bucket=self.bucket_name, Prefix=self._prefix):
                yield from page.get(what, ())


class _Stored(File[bytes]):
    """A file of the storage, which can be opened again once it is closed, as one on the disk can."""

    def __init__(self, storage: S3Uploads, name: str) -> None:
        super().__init__(storage.reader(name), name)
        self._storage = storage

    def open(self, mode: str | None = None, *more: Any, **given: Any) -> _Stored:
        """Go to the beginning, and fetch the file again where it was closed."""
        if self.closed:
            self.file = self._storage.reader(str(self.name))
        else:
            self.seek(0)
        return self
