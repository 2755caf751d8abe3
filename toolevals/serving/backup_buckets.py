"""Keeps backups in a bucket of S3-compatible storage: `s3://bucket/prefix`."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boto3 import client as boto3_client

from toolevals.workspace.uploads.s3_objects import (
    CONFIG,
    TRANSFER,
    object_open,
    objects_listed,
    s3_errors,
    unfinished_delete,
    unfinished_listed,
)

_NAME = re.compile(r"toolevals-[0-9T-]+\.tar\.gz(\.encrypted)?")


@dataclass(frozen=True)
class BucketPlace:
    """A folder in a bucket, or a file in it: what is asked of a `Path` can be asked of it."""

    bucket: str
    key: str

    @classmethod
    def of(cls, address: str) -> BucketPlace:
        """Read an address."""
        bucket, _, key = address.removeprefix("s3://").partition("/")
        return cls(bucket, key.strip("/"))

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"

    def __truediv__(self, name: str) -> BucketPlace:
        return BucketPlace(self.bucket, f"{self.key}/{name}".lstrip("/"))

    @property
    def parent(self) -> BucketPlace:
        """Return the folder that a file is in."""
        return BucketPlace(self.bucket, self.key.rpartition("/")[0])

    def open(self, mode: str = "rb") -> io.BufferedReader:
        """Open the file. Raises FileNotFoundError and StorageError."""
        return object_open(self._client, self.bucket, self.key)

    def size(self) -> int:
        """Return the bytes of the file."""
        with self.open() as file:
            return file.seek(0, io.SEEK_END)

    def take(self, file: Path) -> None:
        """Send a file here: nothing is seen of it until all of it has come. Raises StorageError."""
        with s3_errors(str(self)):
            self._client.upload_file(str(file), self.bucket, self.key, Config=TRANSFER)

    def delete(self) -> None:
        """Delete the file. Raises StorageError."""
        with s3_errors(str(self)):
            self._client.delete_object(Bucket=self.bucket, Key=self.key)

    def backups(self) -> list[BucketPlace]:
        """Return the backups that lie here, the oldest first."""
        found = objects_listed(self._client, self.bucket, self._begin)
        names = sorted(each["Key"].removeprefix(self._begin) for each in found)
        return [self / name for name in names if _NAME.fullmatch(name)]

    def unfinished(self, moment: float) -> int:
        """Delete the parts of backups that began before a moment and never ended; return how many others there are."""
        begin = f"{self._begin}toolevals-"
        unfinished_delete(self._client, self.bucket, begin, moment)
        return sum(1 for _ in unfinished_listed(self._client, self.bucket, begin))

    @property
    def _begin(self) -> str:
        return f"{self.key}/" if self.key else ""

    @property
    def _client(self) -> Any:
        return boto3_client("s3", config=CONFIG)
