"""Keeps uploads in S3-compatible storage: django-storages writes them, and readers fetch no more than they read."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.files import File
from storages.backends.s3 import S3Storage

from toolevals.workspace.uploads.s3_objects import (
    CONFIG,
    TRANSFER,
    object_open,
    objects_listed,
    s3_errors,
    unfinished_delete,
)


class S3Uploads(S3Storage):  # type: ignore[misc]
    """The storage where `TOOLEVALS_S3_BUCKET` is set."""

    def get_default_settings(self) -> dict[str, Any]:
        """Return those of django-storages, with our patience and our bound of memory."""
        return {**super().get_default_settings(), "client_config": CONFIG, "transfer_config": TRANSFER}

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
        return object_open(self.connection.meta.client, self.bucket_name, self._normalize_name(name))

    def stored(self) -> Iterator[tuple[str, float]]:
        """Yield the name of each file, and when it was written, in seconds since 1970."""
        for each in objects_listed(self.connection.meta.client, self.bucket_name, self._prefix):
            yield each["Key"].removeprefix(self._prefix), each["LastModified"].timestamp()

    def unfinished_delete(self, moment: float) -> int:
        """Delete the parts of uploads that began before a moment and never ended; return of how many."""
        return unfinished_delete(self.connection.meta.client, self.bucket_name, self._prefix, moment)

    @property
    def _prefix(self) -> str:
        return f"{self.location}/" if self.location else ""


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
