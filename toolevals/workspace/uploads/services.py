"""Keeps files handed in until the job that reads them is done, while the disk has room, and deletes stray ones."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Sum

from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.installation.reading import installation_setting
from toolevals.workspace.models import Project, Upload, User
from toolevals.workspace.outages import StorageError
from toolevals.workspace.uploads.folder import files_below


def free_bytes() -> int:
    """Return how many bytes can still be written on the disk of the uploads."""
    found = os.statvfs(Path(settings.MEDIA_ROOT))
    return found.f_bavail * found.f_frsize


def is_low() -> bool:
    """Return whether less is free than is kept for the database."""
    return bool(free_bytes() < settings.DISK_RESERVE_BYTES)


def require_room(size: int) -> None:
    """Raise OSError (ENOSPC), as writing would, unless `size` bytes fit and the reserve stays free."""
    if free_bytes() - size < settings.DISK_RESERVE_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(settings.MEDIA_ROOT))


logger = logging.getLogger(__name__)
KEPT = timedelta(days=7)
# The files stored in the current transaction; None outside of `stored_together`.
_stored: ContextVar[list[Upload] | None] = ContextVar("stored", default=None)


class FileTooLarge(InvalidDocument):
    """The file has more bytes than are taken."""


class QuotaExceeded(InvalidDocument):
    """The project's files would have more bytes than a project may keep."""


@contextmanager
def stored_together() -> Iterator[None]:
    """Give one transaction for files and the work on them: where that fails, no file is left behind.

    Files of a process that dies in it are taken away by `stray_files_sweep`.
    """
    stored: list[Upload] = []
    outer = _stored.set(stored)
    try:
        with transaction.atomic():
            yield
    except BaseException:
        for upload in stored:
            file_delete(upload)
        raise
    finally:
        _stored.reset(outer)


def upload_store(*, project: Project, actor: User | None, file: File[Any] | IO[bytes], name: str) -> Upload:
    """Keep a file as it is, for a job to read.

    Raises `FileTooLarge` if it is larger than `UPLOAD_MAX_BYTES`, `QuotaExceeded` where the project's files would then
    have more than `PROJECT_FILES_MAX_BYTES`, and OSError where the disk has no room for it.
    `name` is what the sender called it: kept for people to read, never used as a path.
    """
    content: File[Any] = file if isinstance(file, File) else File(file)
    limit = settings.UPLOAD_MAX_BYTES
    if content.size > limit:
        raise FileTooLarge([Problem("", f"the file has {content.size:,} bytes; the limit is {limit:,}")])
    require_room(content.size)
    _require_quota(project, content.size)
    return file_store(project=project, actor=actor, content=content, name=name)


def _require_quota(project: Project, size: int) -> None:
    """Refuse a file that a project has no room for. Files that arrive at one moment are not counted with each other."""
    most = installation_setting("PROJECT_FILES_MAX_BYTES")
    kept = Upload.objects.filter(project=project).aggregate(total=Sum("size"))["total"] or 0
    if kept + size > most:
        words = (
            f"the file has {size:,} bytes, and the project already keeps {kept:,} of {most:,}; "
            f"files are deleted after {KEPT.days} days"
        )
        raise QuotaExceeded([Problem("", words)])


def file_store(*, project: Project, actor: User | None, content: File[Any], name: str) -> Upload:
    """Keep a file of any size: one that we wrote ourselves.

    What was sent is only renamed, as it arrives on the disk of the uploads; other files are copied, and a large one
    should not be copied within a transaction, which keeps other writers waiting.
    """
    size = content.size
    upload = Upload(project=project, user=actor, name=name[:255], size=size)
    upload.file.save(name, content, save=False)
    try:
        with transaction.atomic():
            upload.save()
            detail = {"name": upload.name, "size": size}
            audit_record(project=project, actor=actor, verb="upload_store", target=upload, detail=detail)
    except BaseException:
        file_delete(upload)
        raise
    if (stored := _stored.get()) is not None:
        stored.append(upload)
    return upload


def file_delete(upload: Upload) -> None:
    """Delete the stored file, not its row. Where the storage is away it is stray once its row is gone, and swept."""
    try:
        upload.file.delete(save=False)
    except StorageError as error:
        logger.warning("A file is left for the sweeper: %s", error)


@transaction.atomic
def upload_discard(*, upload: Upload, actor: User | None) -> None:
    """Delete a file that no one has begun to read."""
    detail = {"name": upload.name, "size": upload.size}
    audit_record(project=upload.project, actor=actor, verb="upload_discard", target=upload, detail=detail)
    upload.delete()
    transaction.on_commit(lambda: file_delete(upload))


def uploads_forget(now: datetime) -> int:
    """Delete the files that have been kept long enough for any job; return how many."""
    old = list(Upload.objects.filter(created_at__lt=now - KEPT)[:100])
    for upload in old:
        file_delete(upload)
        upload.delete()
    return len(old)


# Without a change for so long, a file without a row belongs to no transaction and no sender at work.
STRAY_AFTER = timedelta(days=1)
ASKED_AT_ONCE = 500


def stray_files_sweep(now: datetime) -> int:
    """Delete stored files that have no row, and what is left of those that never arrived; return how many.

    What has changed within a day stays.
    """
    moment = (now - STRAY_AFTER).timestamp()
    uploads: Any = default_storage
    removed: int = uploads.unfinished_delete(moment)
    for path, changed in files_below(Path(settings.FILE_UPLOAD_TEMP_DIR)):
        if changed < moment:
            path.unlink(missing_ok=True)
            removed += 1
    old = (name for name, changed in uploads.stored() if changed < moment)
    while some := list(islice(old, ASKED_AT_ONCE)):
        known = set(Upload.objects.filter(file__in=some).values_list("file", flat=True))
        for name in set(some) - known:
            uploads.delete(name)
            removed += 1
    return removed
