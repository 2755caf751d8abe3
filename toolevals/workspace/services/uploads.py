"""Files handed in, kept until the job that reads them is done."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import IO, Any

from django.conf import settings
from django.core.files import File
from django.db import transaction

from toolevals.grading.problems import InvalidDocument, Problem
from toolevals.workspace.models import Project, Upload, User
from toolevals.workspace.services.audit import audit_record

KEPT = timedelta(days=7)


def upload_store(*, project: Project, actor: User | None, file: File[Any] | IO[bytes], name: str) -> Upload:
    """Keep a file as it is, for a job to read. Raises `InvalidDocument` if it is larger than `UPLOAD_MAX_BYTES`.

    `name` is what the sender called it: kept for people to read, never used as a path.
    """
    content: File[Any] = file if isinstance(file, File) else File(file)
    limit = settings.UPLOAD_MAX_BYTES
    if content.size > limit:
        raise InvalidDocument([Problem("", f"the file has {content.size:,} bytes; the limit is {limit:,}")])
    return file_store(project=project, actor=actor, content=content, name=name)


def file_store(*, project: Project, actor: User | None, content: File[Any], name: str) -> Upload:
    """Keep a file of any size: one that we wrote ourselves."""
    size = content.size
    upload = Upload(project=project, user=actor, name=name[:255], size=size)
    # Outside the transaction: copying a large file must not keep other writers waiting.
    upload.file.save(name, content, save=False)
    try:
        with transaction.atomic():
            upload.save()
            detail = {"name": upload.name, "size": size}
            audit_record(project=project, actor=actor, verb="upload_store", target=upload, detail=detail)
    except BaseException:
        upload.file.delete(save=False)
        raise
    return upload


def uploads_forget(now: datetime) -> int:
    """Delete the files that have been kept long enough for any job; return how many."""
    old = list(Upload.objects.filter(created_at__lt=now - KEPT)[:100])
    for upload in old:
        upload.file.delete(save=False)
        upload.delete()
    return len(old)
