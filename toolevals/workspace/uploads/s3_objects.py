"""Reads and lists what lies in S3-compatible storage, and says what is wrong with it in a sentence.

Keys, region and endpoint are those that boto3 finds, in the usual AWS variables and files.
"""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from toolevals.workspace.outages import StorageError

# A request of a person waits for it: two attempts.
CONFIG = Config(connect_timeout=5, read_timeout=30, retries={"mode": "standard", "total_max_attempts": 2})
# Not a dozen parts in memory at once.
TRANSFER = TransferConfig(max_concurrency=2)
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
        key = self._which["Key"]
        try:
            with s3_errors(key):
                if self._body is None:
                    self._body = self._client.get_object(**self._which, Range=f"bytes={self._place}-")["Body"]
                data = self._body.read(len(buffer))
        except FileNotFoundError as error:
            raise StorageError(f"{key} was deleted from the S3 storage while it was read") from error
        if not data:
            raise StorageError(f"the S3 storage ended {key} after {self._place} of {self._size} bytes")
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


def object_open(client: Any, bucket: str, key: str) -> io.BufferedReader:
    """Open an object. Raises FileNotFoundError and StorageError."""
    return io.BufferedReader(ObjectReader(client, bucket, key), AT_ONCE)


def objects_listed(client: Any, bucket: str, prefix: str) -> Iterator[dict[str, Any]]:
    """Yield what S3 says of each object whose key begins so. Raises StorageError."""
    return _listed(client, "list_objects_v2", "Contents", bucket, prefix)


def unfinished_listed(client: Any, bucket: str, prefix: str) -> Iterator[dict[str, Any]]:
    """Yield what S3 says of each upload in parts that is under way or was never ended. Raises StorageError."""
    return _listed(client, "list_multipart_uploads", "Uploads", bucket, prefix)


def unfinished_delete(client: Any, bucket: str, prefix: str, moment: float) -> int:
    """Delete the parts of uploads that began before a moment and never ended; return of how many uploads."""
    old = [each for each in unfinished_listed(client, bucket, prefix) if each["Initiated"].timestamp() < moment]
    for each in old:
        with s3_errors(each["Key"]):
            client.abort_multipart_upload(Bucket=bucket, Key=each["Key"], UploadId=each["UploadId"])
    return len(old)


def _listed(client: Any, operation: str, what: str, bucket: str, prefix: str) -> Iterator[dict[str, Any]]:
    with s3_errors(bucket):
        for page in client.get_paginator(operation).paginate(Bucket=bucket, Prefix=prefix):
            yield from page.get(what, ())
